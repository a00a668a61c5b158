"""A comparison of two builds in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from fathometer.base.formatting import counted, listed, ratio_text, value_text
from fathometer.lab.statistics.interval import LEVEL
from fathometer.lab.studies.asked import Answer
from fathometer.lab.studies.builds import BASELINE, BUILD
from fathometer.lab.studies.comparison import SHOWN, Compared, Comparison, Verdict, compare_builds, verdict_text
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.report.answer import answer_sentence
from fathometer.lab.studies.report.cells import NO_DIFFERENCE, NONE, Cell, Legend
from fathometer.lab.studies.report.tables import Head, View, views
from fathometer.lab.studies.results import CaseRuns, Results
from fathometer.lab.studies.selection import label

MOST_NAMED = 6
ENDS = f"Each end of an interval holds with {100 * LEVEL:g} %."
VERDICTS: Sequence[Verdict] = ("worse", "undecided", "not worse")
WORSE, BETTER, ALLOWED, OTHER, UNDECIDED = "▼", "▲", "✓", "≠", "?"
IN_TURNS = (BASELINE, f"this {BUILD}")  # what the two are called where a study has both


def sentences(comparison: Comparison) -> list[str]:
    """What the gate says; what else got worse and better beyond doubt; what only one study has."""
    told = []
    gated = [cell for cell in comparison.cells if cell.gated]
    if gated:
        named = ", ".join(f"{len(comparison.gated(verdict))} {verdict}" for verdict in VERDICTS)
        allowed = f"{100 * comparison.tolerance:g} %"
        told.append(f"Gate: of {counted(len(gated), 'figure')} {named}, with a tolerance of {allowed}.")
        told += [
            _sentence(cell, comparison.tolerance)
            for cell in (comparison.gated("worse") + comparison.gated("undecided"))[:MOST_NAMED]
        ]
    others = [cell for cell in comparison.cells if not cell.gated]
    worse = [cell for cell in others if cell.verdict == "worse"]
    better = [cell for cell in comparison.cells if cell.better]
    if worse:
        told.append(f"Worse beyond doubt: {listed([_named(cell) for cell in worse], MOST_NAMED)}.")
    if better:
        told.append(f"Better beyond doubt: {listed([_named(cell) for cell in better], MOST_NAMED)}.")
    if comparison.comparisons and not any(cell.differs or cell.verdict == "worse" for cell in comparison.cells):
        told.append(f"No difference beyond noise in {counted(comparison.comparisons, 'comparison')}.")
    for cases, which in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if cases:
            names = [label(tuple(case.case.settings.items())) for case in cases]
            told.append(f"Only the {which} study has {listed(names, MOST_NAMED)}.")
    return told


def _basis(comparison: Comparison) -> list[str]:
    """What the intervals rest on."""
    if comparison.in_turns:
        return [f"Both builds ran in turns; rounds in which one was disturbed do not count. {ENDS}"]
    first, second = comparison.sessions
    return [
        f"{counted(first, 'session')} compared with {counted(second, 'session')}: a session's median is one value, "
        f"since sessions differ by more than their rounds do. Both builds in turns ([gate] baseline) tell more. {ENDS}"
    ]


def answered(results: Results, answer: Answer) -> tuple[str, list[View], Legend]:
    """What a study answers: in sentences, in tables, and the legend of these; with [gate] baseline what the gate says
    comes first. Raises InputError as `answer_of`."""
    shown, legend = views(results, answer)
    text = answer_sentence(results, answer)
    if answer.gate.baseline is None:
        return text, shown, legend
    comparison = compare_builds(results)
    return " ".join([*sentences(comparison), text]), [view(comparison, legend=legend)[0], *shown], legend


def view(
    comparison: Comparison, names: tuple[str, str] = IN_TURNS, legend: Legend | None = None
) -> tuple[View, Legend]:
    """A row for each case and figure: both medians, the ratio and its interval. names: of the two."""
    legend = Legend() if legend is None else legend
    factors = list(comparison.cells[0].case.case.settings) if comparison.cells else []
    heads = [Head(name, number=False) for name in factors]
    heads += [Head("figure", number=False), Head(names[0]), Head(names[1]), Head("ratio", "second over first")]
    rows = []
    for cell in comparison.cells:
        row = [Cell(text_of(value), "name") for value in cell.case.case.settings.values()]
        row.append(Cell(cell.figure.name, "name"))
        row += [_value(cell, values) for values in (cell.first, cell.second)]
        row.append(_ratio(cell, comparison, legend))
        rows.append(row)
    title = f"{names[1]} compared with {names[0]}"
    return View(
        f"{title[:1].upper()}{title[1:]}" if names == IN_TURNS else title, heads, rows, _basis(comparison)
    ), legend


def _value(cell: Compared, values: Sequence[float]) -> Cell:
    if not values:
        return Cell(NONE, "missing", note="no value")
    return Cell(value_text(median(values), cell.figure.unit), "value")


def _ratio(cell: Compared, comparison: Comparison, legend: Legend) -> Cell:
    why = (legend.letter(cell.why),) if cell.why else ()
    if cell.ratio is None:
        return Cell(NONE, "missing", signs=why)
    text, ends = ratio_text(cell.ratio.median, cell.ratio.low, cell.ratio.high)
    ends = ends if cell.ratio.reaches(SHOWN) else ""
    corrected = f", corrected for {comparison.comparisons} comparisons" if comparison.comparisons > 1 else ""
    by = f"by more than {100 * comparison.tolerance:g} %"
    if cell.verdict == "worse":
        sign = legend.sign(WORSE, f"worse beyond doubt{corrected}; a figure of the gate {by}")
    elif cell.better:
        sign = legend.sign(BETTER, f"better beyond doubt{corrected}")
    elif cell.gated:
        told = {"not worse": (ALLOWED, f"not worse {by}"), "undecided": (UNDECIDED, f"not decided whether worse {by}")}
        sign = legend.sign(*told[cell.verdict])
    elif cell.differs:
        sign = legend.sign(OTHER, f"different beyond doubt{corrected}")
    else:
        sign = legend.sign(NO_DIFFERENCE, "no difference beyond noise")
    return Cell(text, "ratio", ends, "", (sign, *why), cell.ratio, cell.differs)


def _sentence(cell: Compared, tolerance: float) -> str:
    text = verdict_text(cell, tolerance)
    return f"{text[:1].upper()}{text[1:]}."


def _named(cell: Compared) -> str:
    return f"{cell.figure.name} of {_case(cell.case)} {cell.text}"


def _case(case: CaseRuns) -> str:
    return label(tuple(case.case.settings.items()))
