"""A comparison of two studies in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from fathometer.lab.statistics.interval import LEVEL
from fathometer.lab.studies.comparison import Compared, Comparison
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.report.cells import NO_DIFFERENCE, NONE, Cell, Legend
from fathometer.lab.studies.report.quantities import counted, listed, ratio_text, value_text
from fathometer.lab.studies.report.selection import label
from fathometer.lab.studies.report.tables import Head, View
from fathometer.lab.studies.results import CaseRuns

MOST_NAMED = 6
WORSE, BETTER, SLIGHTLY, OTHER = "▼", "▲", "▽", "≠"


def sentences(comparison: Comparison) -> list[str]:
    """What got worse and better beyond doubt, what only one study has."""
    told = []
    worse = [cell for cell in comparison.cells if cell.differs and cell.worse]
    better = [cell for cell in comparison.cells if cell.differs and _improved(cell)]
    if worse:
        told.append(f"Worse beyond doubt: {listed([_named(cell) for cell in worse], MOST_NAMED)}.")
    if better:
        told.append(f"Better beyond doubt: {listed([_named(cell) for cell in better], MOST_NAMED)}.")
    if not worse and not better:
        told.append(f"No difference beyond noise in {counted(comparison.comparisons, 'comparison')}.")
    gated = [cell for cell in comparison.cells if cell.gated]
    if gated:
        broken = len(comparison.regressions)
        told.append(f"Gate: {broken or 'none'} of {counted(len(gated), 'figure')} got worse by more than is allowed.")
        if lost := comparison.lost:
            names = [f"{cell.figure.name} of {_case(cell.case)}" for cell in lost]
            told.append(f"Gate: no value any more of {listed(names, MOST_NAMED)}.")
    for cases, which in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if cases:
            names = [label(tuple(case.case.settings.items())) for case in cases]
            told.append(f"Only the {which} study has {listed(names, MOST_NAMED)}.")
    return told


def view(comparison: Comparison, names: tuple[str, str]) -> tuple[View, Legend]:
    """A row for each case and figure: both medians, the ratio and its interval. names: of the two studies."""
    legend = Legend()
    factors = list(comparison.cells[0].case.case.settings) if comparison.cells else []
    heads = [Head(name, number=False) for name in factors]
    heads += [Head("figure", number=False), Head(names[0]), Head(names[1]), Head("ratio", "second over first")]
    rows = []
    for cell in comparison.cells:
        row = [Cell(text_of(value), "name") for value in cell.case.case.settings.values()]
        row.append(Cell(cell.figure.name, "name"))
        row += [_value(cell, values) for values in (cell.first, cell.second)]
        row.append(_ratio(cell, comparison.comparisons, legend))
        rows.append(row)
    return View(f"{names[1]} compared with {names[0]}", heads, rows), legend


def _value(cell: Compared, values: Sequence[float]) -> Cell:
    if not values:
        return Cell(NONE, "missing", note="no value")
    return Cell(value_text(median(values), cell.figure.unit), "value")


def _ratio(cell: Compared, comparisons: int, legend: Legend) -> Cell:
    if cell.ratio is None:
        return Cell(NONE, "missing", note=cell.why)
    text, ends = ratio_text(cell.ratio.median, cell.ratio.low, cell.ratio.high)
    signs: tuple[str, ...]
    if not cell.differs:
        corrected = f", corrected for {comparisons} comparisons," if comparisons > 1 else ""
        signs = (legend.sign(NO_DIFFERENCE, f"no difference beyond noise: the interval{corrected} holds 1"),)
    elif cell.worse:
        signs = (legend.sign(WORSE, "worse beyond doubt"),)
    elif cell.figure.direction == "none":
        signs = (legend.sign(OTHER, "different beyond doubt"),)
    elif _improved(cell):
        signs = (legend.sign(BETTER, "better beyond doubt"),)
    else:
        signs = (legend.sign(SLIGHTLY, "worse, by less than the gate's tolerance or not surely by more"),)
    if cell.ratio.coverage < LEVEL - 1e-9:
        signs += (legend.letter("too few values for an interval of 95 %"),)
    return Cell(text, "ratio", ends, "", signs, cell.ratio, cell.differs)


def _improved(cell: Compared) -> bool:
    if cell.corrected is None or cell.figure.direction == "none":
        return False
    return cell.corrected.high < 1 if cell.figure.direction == "lower" else cell.corrected.low > 1


def _named(cell: Compared) -> str:
    assert cell.ratio is not None, "it differs"
    text, ends = ratio_text(cell.ratio.median, cell.ratio.low, cell.ratio.high)
    return f"{cell.figure.name} of {_case(cell.case)} {text} ({ends}) times"


def _case(case: CaseRuns) -> str:
    return label(tuple(case.case.settings.items()))
