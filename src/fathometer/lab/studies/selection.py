"""The cells of a table or plot: cases with the same values of some factors, and which of them each cell reports.

A cell has one case, but for factors of `best_over`: of their settings it reports the best, by the runs that were made
of it after it had been chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fathometer.lab.recipes.expression import Value
from fathometer.lab.statistics.winners import winner
from fathometer.lab.studies.asked import Answer, cases_of, merits, names_of, varied
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.levels import seed_of
from fathometer.lab.studies.results import MEASURED, CaseRuns, FigureInfo, Results, RunKind
from fathometer.lab.studies.study_file import AnswerTable

Key = tuple[tuple[str, Value], ...]  # names and values of factors, in their order


@dataclass(frozen=True)
class Chosen:
    """The case that a cell reports.

    Attributes:
        case: None where the design has none there, or where none of the candidates has a value to choose by.
        kind: of the runs that are reported.
        setting: its values of the factors of best_over; empty where there is no choice.
        candidates: all cases of the cell. again: whether the chosen one was measured again.
        others_won: how often another setting would have won (`Winner.others`); None where there is no choice.
    """

    case: CaseRuns | None
    candidates: Sequence[CaseRuns]
    kind: RunKind = MEASURED
    setting: Mapping[str, Value] = field(default_factory=dict)
    again: bool = False
    others_won: float | None = None

    def values(self, figure: str) -> dict[int, float]:
        """Values of a figure by round."""
        return self.case.values(figure, self.kind) if self.case is not None else {}


@dataclass(frozen=True)
class Block:
    """A table's cells for one combination of the nested factors.

    Attributes:
        nested: that combination. rows, columns: values of the factors of rows and of `by`; columns is [()] without.
        cells: by the names and values of all three, in this order.
        deciding: the figure by which settings are chosen.
    """

    nested: Key
    rows: Sequence[Key]
    columns: Sequence[Key]
    cells: Mapping[Key, Chosen]
    deciding: FigureInfo | None

    def cell(self, row: Key, column: Key = ()) -> Chosen:
        """The cell there; one without a case where the design has none."""
        return self.cells.get((*self.nested, *row, *column), Chosen(None, ()))


@dataclass(frozen=True)
class Place:
    """Where the cells of a table for one combination of the nested factors are: see `Block`."""

    nested: Key
    rows: Sequence[Key]
    columns: Sequence[Key]


def places(results: Results, answer: Answer, table: AnswerTable) -> tuple[list[Place], dict[Key, list[CaseRuns]]]:
    """Where the cells of a table are, and the cases of each. Factors that vary and that no key of the table names, are
    further rows."""
    nested = [name for name in answer.nested if name not in (*names_of(table.rows), table.by, *table.best_over)]
    by = (table.by,) if table.by else ()
    rows = names_of(table.rows)
    named = {*nested, *rows, *by, *table.best_over}
    rows += tuple(name for name in varied(results, table.design) if name not in named)
    groups: dict[Key, list[CaseRuns]] = {}
    for name in cases_of(results, table.design):
        case = results.cases[name]
        groups.setdefault(_key(case, (*nested, *rows, *by)), []).append(case)
    order = _order(results)
    outer = sorted({key[: len(nested)] for key in groups}, key=order)
    made = []
    for first in outer:
        inner = [key[len(nested) :] for key in groups if key[: len(nested)] == first]
        row_keys = sorted({key[: len(rows)] for key in inner}, key=order)
        columns = sorted({key[len(rows) :] for key in inner}, key=order)
        made.append(Place(first, row_keys, columns))
    return made, groups


def blocks(results: Results, answer: Answer, table: AnswerTable) -> list[Block]:
    """The cells of a table."""
    figures = list(table.columns) or merits(results.figures)
    deciding = next(
        (info for name in figures if (info := results.figures.get(name)) and info.direction != "none"), None
    )
    found, groups = places(results, answer, table)
    cells = {key: choose(cases, deciding, table.best_over, seed_of(results)) for key, cases in groups.items()}
    return [Block(place.nested, place.rows, place.columns, cells, deciding) for place in found]


def choose(candidates: Sequence[CaseRuns], figure: FigureInfo | None, best_over: Sequence[str], seed: int) -> Chosen:
    """The case that a cell reports: its only one, or of several settings the best by the median of a figure.

    Where that was measured again as a winner, those runs are reported: the median of the rounds by which it was chosen
    looks better than it is. seed: of how often others would have won.
    """
    if not best_over:
        return Chosen(candidates[0] if candidates else None, candidates)
    if figure is None or figure.direction == "none":
        return Chosen(None, candidates)
    settings = {case.case.name: case.values(figure.name) for case in candidates}
    if not any(settings.values()):
        return Chosen(candidates[0] if len(candidates) == 1 else None, candidates)
    won = winner(settings, figure.direction, seed)
    best = next(case for case in candidates if case.case.name == won.setting)
    again = bool(best.values(figure.name, "winner"))
    return Chosen(
        best,
        candidates,
        "winner" if again else MEASURED,
        {name: best.case.settings[name] for name in best_over},
        again or len(candidates) == 1,
        won.others if len(candidates) > 1 else None,
    )


def winners(results: Results, answer: Answer) -> list[str]:
    """Names of the cases that tables with best_over have chosen by the rounds so far, each once: those to be measured
    again. With them cells that had no choice are run again, so that ratios to them are of the same fresh rounds."""
    names: dict[str, None] = {}
    for table in answer.tables:
        if table.best_over:
            for block in blocks(results, answer, table):
                cells = block.cells.values()
                if any(cell.case is not None and len(cell.candidates) > 1 for cell in cells):
                    names |= {cell.case.case.name: None for cell in cells if cell.case is not None}
    return list(names)


def keys_of(made: Sequence[Block]) -> list[Key]:
    """The keys of all cells of a table, also of those that the design does not have."""
    return [(*block.nested, *row, *column) for block in made for row in block.rows for column in block.columns]


def label(key: Key) -> str:
    """Names and values of factors in a sentence: 2 ranks × 1 thread; history memory."""
    counts = [(name, value) for name, value in key if _counts(name, value)]
    others = [f"{name} {text_of(value)}" for name, value in key if not _counts(name, value)]
    product = " × ".join(_count(name, int(value)) for name, value in counts)
    return ", ".join([product] * bool(counts) + others) or "the only case"


def _counts(name: str, value: Value) -> bool:
    return name.endswith("s") and isinstance(value, int) and not isinstance(value, bool)


def _count(name: str, number: int) -> str:
    word = name.replace("_", " ")
    return f"{number} {word.removesuffix('es' if word.endswith('sses') else 's') if number == 1 else word}"


def _key(case: CaseRuns, names: Sequence[str]) -> Key:
    return tuple((name, case.case.settings[name]) for name in names)


def _order(results: Results) -> Callable[[Key], tuple[int, ...]]:
    """By the places that values have in the study file."""
    places = {name: {repr(value): n for n, value in enumerate(values)} for name, values in results.factors.items()}

    def order(key: Key) -> tuple[int, ...]:
        return tuple(places[name].get(repr(value), len(places[name])) for name, value in key)

    return order
