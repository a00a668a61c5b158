"""Practices that the data of a study support: which value of a factor to take, how many nodes still pay."""

from __future__ import annotations

from collections.abc import Iterator

from fathometer.lab.studies.asked import SCALES, Answer, varied
from fathometer.lab.studies.levels import intervals_of
from fathometer.lab.studies.report.answer import factor_effects
from fathometer.lab.studies.report.cells import Legend, Ratios, is_speed
from fathometer.lab.studies.report.needed import rounds_needed_in
from fathometer.lab.studies.results import FigureInfo, Results
from fathometer.lab.studies.selection import Block, blocks, label
from fathometer.lab.studies.study_file import AnswerTable

PAYS = 0.7  # efficiency from which on more nodes or ranks are called worth it


def practices(results: Results, answer: Answer) -> list[str]:
    """Sentences, from the first figure with a direction of the first table of each design: what each factor does that
    is a choice, on average over all else; and up to which size an efficiency is at least PAYS."""
    needed, made = rounds_needed_in(results, answer), intervals_of(results)
    told: dict[str, None] = {}
    known: set[tuple[str | None, str]] = set()  # designs and factors of which something was told
    for table in answer.tables:
        found = blocks(results, answer, table)
        figure = found[0].deciding if found else None
        if figure is None:
            continue
        for name in varied(results, table.design):
            if name in (*SCALES, *answer.nested, *table.apart) or (table.design, name) in known:
                continue
            known.add((table.design, name))
            alone = table.model_copy(update={"best_over": (name,)})
            told |= dict.fromkeys(
                f"{figure.name[:1].upper()}{figure.name[1:]}: {sentence}."
                for sentence in factor_effects(results, alone, figure, made, needed)
            )
        told |= dict.fromkeys(_sizes(results, table, figure, found, needed))
    return list(told)


def _sizes(results: Results, table: AnswerTable, figure: FigureInfo, found: list[Block], needed: int) -> Iterator[str]:
    """Of tables that compare sizes of the machine: up to which each node or rank keeps most of its speed."""
    if table.scaling != "strong" or not is_speed(figure) or not set(table.relative_to) & set(SCALES):
        return
    ratios = Ratios(results, table, [figure], found, Legend(), needed)
    for block in found:
        for column in block.columns:
            known = {}
            for row in block.rows:
                whole = (*block.nested, *row, *column)
                size, cell = ratios.size(whole), ratios.efficiency_cell(whole, figure)
                if size is not None and size > 1 and cell.estimate is not None:
                    known[size] = (row, cell)
            if not known:
                continue
            pays = [size for size, (_, cell) in known.items() if cell.estimate and cell.estimate.median >= PAYS]
            size = max(pays, default=min(known))
            row, cell = known[size]
            ends = f" ({cell.interval})" if cell.interval else ""
            where = f" with {label((*block.nested, *column))}" if (*block.nested, *column) else ""
            verb = "pay" if pays else "do not pay"
            yield f"By {figure.name}, {label(row)} {verb}{where}: an efficiency of {cell.text}{ends}."
