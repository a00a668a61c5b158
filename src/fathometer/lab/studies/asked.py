"""Which tables, plots and gates a study asks for: its definition read, checked against its factors and figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from fathometer.base.errors import InputError, naming, shortened
from fathometer.base.meant import did_you_mean
from fathometer.config.problems import first_problem
from fathometer.config.table import Table
from fathometer.lab.studies.builds import BUILD
from fathometer.lab.studies.mixes import ALONE
from fathometer.lab.studies.results import FigureInfo, Results
from fathometer.lab.studies.study_file import AnswerTable, GateTable, LandscapeTable, PlotTable

Asked = TypeVar("Asked", bound=Table)
LOGARITHMIC = ("scaling", "curves")  # kinds of plots with logarithmic axes
# Factors of how much of a machine a case uses.
SCALES = ("nodes", "ranks", "threads", "jobs", "cpus", "cores", "processes")


@dataclass(frozen=True)
class Answer:
    """What a study is to show.

    Attributes:
        tables, plots: of the study file; where it has none, one table of all cases and one plot of it.
        gate, landscapes: of the study file. nested: factors for each of whose values there is a table of its own.
    """

    tables: Sequence[AnswerTable]
    plots: Sequence[PlotTable]
    gate: GateTable
    landscapes: Sequence[LandscapeTable]
    nested: Sequence[str]


def answer_of(results: Results) -> Answer:
    """What the study of these results is to show.

    Raises InputError as `check`, and where its definition is damaged.
    """
    definition = results.definition
    tables = _read(AnswerTable, definition, "table")
    plots = _read(PlotTable, definition, "plot")
    gates = _read(GateTable, {"gate": [definition.get("gate") or {}]}, "gate")
    nested = tuple(str(name) for name in definition.get("nested") or ())
    if not tables:
        tables = [AnswerTable(rows=tuple(name for name in results.factors if name not in nested))]
    if not plots and (figures := merits(results.figures)):
        rows = [name for name in names_of(tables[0].rows) if name in varied(results, None)]
        if rows:
            plots = [_default_plot(rows, tables[0], tables[0].columns[0] if tables[0].columns else figures[0], results)]
    answer = Answer(tables, plots, gates[0], _read(LandscapeTable, definition, "landscape"), nested)
    check(answer, results.factors, list(results.designs), results.figures)
    return answer


def check(
    answer: Answer, factors: Mapping[str, Sequence[Any]], designs: Collection[str], figures: Mapping[str, FigureInfo]
) -> None:
    """Raises InputError with the place of the first name that the study does not have.

    figures: where there are none, as before the first run of a program that tells its figures itself, names of figures
    are not checked.
    """
    for name in answer.nested:
        _known("nested", "factor", [name], factors)
    for number, table in enumerate(answer.tables, 1):
        where = f"[[table]] {number}"
        rows = names_of(table.rows)
        groups = {"rows": rows, "by": [table.by] if table.by else [], "best_over": table.best_over}
        with naming(where):
            for key, names in groups.items():
                _known(key, "factor", names, factors)
            _once(groups | {"nested": answer.nested})
            _known("relative_to", "factor", list(table.relative_to), factors)
            for name, value in table.relative_to.items():
                if name in table.best_over:
                    raise InputError(f"relative_to: found {name}, a factor of best_over; allowed: another factor")
                if value not in factors[name]:
                    raise InputError(
                        f"relative_to.{name}: found {shortened(value, 40)}; allowed: {_listed(factors[name])}"
                        f"{did_you_mean(value, map(str, factors[name]))}"
                    )
            _known("columns", "figure", table.columns if figures else (), figures)
            _known("design", "design", [table.design] if table.design else [], designs)
    for number, plot in enumerate(answer.plots, 1):
        with naming(f"[[plot]] {number}"):
            groups = {"x": [plot.x], "y": [plot.y] if plot.y else [], "lines": [plot.lines] if plot.lines else []}
            groups |= {"best_over": list(plot.best_over)}
            for key, names in groups.items():
                _known(key, "factor", names, factors)
            _once(groups | {"nested": answer.nested})
            _known("figure", "figure", [plot.figure] if figures else (), figures)
            _known("design", "design", [plot.design] if plot.design else [], designs)
            if (plot.kind == "heat map") != (plot.y is not None):
                raise InputError(f'y: found {plot.y or "none"} with kind = "{plot.kind}"; needed: with "heat map" only')
            if plot.kind in LOGARITHMIC and not all(_positive(value) for value in factors[plot.x]):
                found = _listed(factors[plot.x])
                raise InputError(f'x: found {plot.x} = {found}; allowed with kind = "{plot.kind}": numbers above 0')
    with naming("[gate]"):
        _known("figures", "figure", answer.gate.figures if figures else (), figures)
        for name in answer.gate.figures if figures else ():
            if figures[name].direction == "none":
                raise InputError(f"figures: found {name}, of which neither higher nor lower is better; allowed: others")


def merits(figures: Mapping[str, FigureInfo]) -> list[str]:
    """The figures that are compared, in order; all figures where none is a merit."""
    return [name for name, info in figures.items() if info.role == "merit"] or list(figures)


def names_of(text: str | Sequence[str]) -> tuple[str, ...]:
    """Names in a string with commas between, or in a list."""
    return tuple(name for part in text.split(",") if (name := part.strip())) if isinstance(text, str) else tuple(text)


def varied(results: Results, design: str | None) -> list[str]:
    """The factors that have more than one value in the cases of a design; None: in all cases."""
    cases = [results.cases[name].case.settings for name in cases_of(results, design)]
    return [name for name in results.factors if len({repr(settings.get(name)) for settings in cases}) > 1]


def cases_of(results: Results, design: str | None) -> list[str]:
    """Names of the cases of a design, in order; None: all but those that are run for comparison: a job alone, and the
    baseline of a gate."""
    if design:
        return [name for name in results.designs[design] if name in results.cases]
    return [name for name, case in results.cases.items() if not {ALONE, BUILD} & case.case.settings.keys()]


def _default_plot(rows: Sequence[str], table: AnswerTable, figure: str, results: Results) -> PlotTable:
    lines = rows[0] if len(rows) > 1 else table.by
    scales = [name for name in rows if name in SCALES and len(results.factors[name]) > 2]
    if scales and all(_positive(value) for value in results.factors[scales[0]]):
        others = [name for name in rows if name != scales[0]]
        line = others[0] if others else table.by
        return PlotTable(kind="scaling", x=scales[0], lines=line, figure=figure, best_over=table.best_over)
    return PlotTable(kind="bars", x=rows[-1], lines=lines, figure=figure, best_over=table.best_over)


def _read(kind: type[Asked], definition: Mapping[str, Any], key: str) -> list[Asked]:
    values = definition.get(key) or []
    read = []
    for number, value in enumerate(values, 1):
        try:
            read.append(kind.model_validate(value))
        except ValidationError as error:
            raise InputError(f"[{key}] {number}: {first_problem(error, value, kind)}") from None
    return read


def _known(key: str, what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{key}: unknown {what} {shortened(name, 60)}; known: {_listed(list(known))}")


def _once(groups: Mapping[str, Collection[str]]) -> None:
    places: dict[str, str] = {}
    for key, names in groups.items():
        for name in names:
            if name in places:
                both = f"{places[name]} and {key}" if places[name] != key else f"{key} twice"
                raise InputError(f"{key}: found {name} in {both}; allowed: each factor in one place")
            places[name] = key


def _listed(values: Sequence[Any]) -> str:
    return shortened(", ".join(map(str, values)) or "none", 300)


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
