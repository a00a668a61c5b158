"""Practices that the data of a study support: which value of a factor to take, how many nodes still pay."""

from __future__ import annotations

from collections.abc import Iterator

from fathometer.base.formatting import listed
from fathometer.lab.studies.asked import SCALES, Answer, cases_of, varied
from fathometer.lab.studies.levels import intervals_of
from fathometer.lab.studies.report.answer import factor_effects
from fathometer.lab.studies.report.cells import Legend, Ratios, is_speed
from fathometer.lab.studies.report.needed import rounds_needed_in
from fathometer.lab.studies.results import FigureInfo, Results
from fathometer.lab.studies.selection import Block, Key, blocks, label
from fathometer.lab.studies.study_file import AnswerTable

PAYS = 0.7  # efficiency


def practices(results: Results, answer: Answer) -> list[str]:
    """Sentences, from the first figure with a direction of the first table of each design: what each factor does that
    is a choice, on average over all else and for each value of factors that are none; and for which sizes of the
    machine the whole interval of the efficiency is above or below PAYS."""
    needed, made = rounds_needed_in(results, answer), intervals_of(results)
    told: dict[str, None] = {}
    known: set[tuple[str | None, str]] = set()  # designs and factors of which something was told
    for table in answer.tables:
        found = blocks(results, answer, table)
        figure = found[0].deciding if found else None
        if figure is None:
            continue
        no_choice = (*SCALES, *answer.nested, *table.apart)
        names = [
            name
            for name in varied(results, table.design)
            if name not in no_choice and (table.design, name) not in known
        ]
        known |= {(table.design, name) for name in names}
        # All at once, so that they are corrected for as many comparisons as those of the answer's sentence.
        every = table.model_copy(update={"best_over": tuple(names)})
        for among in _apart(results, table) if names else ():
            before = ", ".join(filter(None, [figure.name, table.design, label(among) if among else ""]))
            told |= dict.fromkeys(
                f"{before[:1].upper()}{before[1:]}: {sentence}."
                for sentence in factor_effects(results, every, figure, made, needed, among)
            )
        told |= dict.fromkeys(_sizes(results, table, figure, found, needed))
    return list(told)


def _apart(results: Results, table: AnswerTable) -> list[Key]:
    """Each combination of the values of factors that are no choice; one of none where there are none."""
    cases = [results.cases[name].case.settings for name in cases_of(results, table.design)]
    return list(dict.fromkeys(tuple((name, settings[name]) for name in table.apart) for settings in cases)) or [()]


def _sizes(results: Results, table: AnswerTable, figure: FigureInfo, found: list[Block], needed: int) -> Iterator[str]:
    """Of tables that compare sizes of the machine: up to which each node or rank keeps most of its speed."""
    if table.scaling != "strong" or not is_speed(figure) or not set(table.relative_to) & set(SCALES):
        return
    ratios = Ratios(results, table, [figure], found, Legend(), needed)
    level = ratios.intervals.level
    for block in found:
        for column in block.columns:
            pay, do_not = [], []
            for row in block.rows:
                whole = (*block.nested, *row, *column)
                size, cell = ratios.size(whole), ratios.efficiency_cell(whole, figure)
                if size is None or size <= 1 or cell.estimate is None or not cell.estimate.reaches(level):
                    continue
                text = f"{label(row)} (an efficiency of {cell.text}, {cell.interval})"
                if cell.estimate.low >= PAYS:
                    pay.append(text)
                elif cell.estimate.high < PAYS:
                    do_not.append(text)
            where = f" with {label((*block.nested, *column))}" if (*block.nested, *column) else ""
            for texts, how in ((pay, "at least"), (do_not, "less than")):
                if texts:
                    yield f"By {figure.name}{where}, each keeps {how} {PAYS} of its speed on {listed(texts)}."
