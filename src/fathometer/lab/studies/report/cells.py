"""The cells of a study's tables, one at a time: a value, a ratio, an efficiency, a serial fraction, a setting.

A cell is a text, its interval and what is to be known of it; nothing in it depends on where it is shown. A difference
is called so only where the interval of the ratio, corrected for the number of ratios in the table, leaves 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from fathometer.base.errors import shortened
from fathometer.base.formatting import counted, percent, ratio_text, spread_text
from fathometer.lab.statistics.differences import Difference
from fathometer.lab.statistics.interval import Estimate
from fathometer.lab.statistics.ratios import ratios_by_round
from fathometer.lab.statistics.scaling import ScalingPoint, scaling
from fathometer.lab.studies.asked import SCALES
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.levels import Intervals, intervals_of
from fathometer.lab.studies.results import CaseRuns, FigureInfo, Results, is_exact
from fathometer.lab.studies.selection import Block, Chosen, Key, keys_of
from fathometer.lab.studies.study_file import AnswerTable

Kind = Literal["name", "value", "ratio", "reference", "setting", "missing", "failed"]

MOST_SIGNS = 40  # explained; further ones share a sign
LONGEST_REASON = 160  # letters of why a run failed, below a table
NONE = "–"
NO_DIFFERENCE = "≈"
SUPERLINEAR = "↑"
TOO_FEW = "?"
NOT_AGAIN, ONE_RUN, FEW = "*", "1×", "n="
NOT_AGAIN_TEXT = (
    "the best setting, by the runs by which it was chosen: the best of several noisy numbers looks better than it is, "
    "until the winner is measured again"
)


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what stands in it. interval: of its 95 %, "1.08 to 1.15"; or what there is in place of one.
        note: in words, below. signs: that the legend explains.
        estimate: the numbers, in the figure's unit. differs: whether a ratio leaves 1 beyond noise; None of others.
        unit: of text and interval.
    """

    text: str
    kind: Kind = "value"
    interval: str = ""
    note: str = ""
    signs: tuple[str, ...] = ()
    estimate: Estimate | None = None
    differs: bool | None = None
    unit: str = ""


@dataclass
class Legend:
    """Signs of cells and what each says; letters are given out in order: a, b, … z, aa."""

    texts: dict[str, str] = field(default_factory=dict)

    def letter(self, text: str) -> str:
        """The letter that says this."""
        known = {said: sign for sign, said in self.texts.items()}
        if text not in known and len(known) >= MOST_SIGNS:
            text = "see the study's rows (fathometer study export): there are more remarks than are listed here"
        if text not in known:
            first, second = divmod(len([sign for sign in self.texts if sign.isalpha()]), 26)
            known[text] = (chr(96 + first) if first else "") + chr(97 + second)
            self.texts[known[text]] = text
        return known[text]

    def sign(self, sign: str, text: str) -> str:
        """A sign of its own kind."""
        self.texts.setdefault(sign, text)
        return sign


def is_speed(figure: FigureInfo) -> bool:
    """Whether "times as fast" is meant: a time that is better when it is shorter, a rate when it is higher."""
    if figure.direction == "lower":
        return figure.unit == "seconds"
    return figure.direction == "higher" and "_per_" in figure.unit


def ratio_name(figure: FigureInfo) -> str:
    """What the ratio of a figure to another one is called."""
    return "speed-up" if is_speed(figure) else "relative"


def case_signs(case: CaseRuns, chosen: Chosen, figure: str, legend: Legend) -> tuple[str, ...]:
    """Signs of a case's marks and of its runs that failed."""
    signs = [legend.letter(mark) for mark in case.marks]
    runs = [run for run in case.runs if run.kind == chosen.kind]
    failed = [run for run in runs if run.failed]
    if failed and case.values(figure, chosen.kind):
        signs.append(
            legend.letter(f"{len(failed)} of {counted(len(runs), 'run')} failed: {_reason(failed[-1].failed)}")
        )
    return tuple(sorted(set(signs), key=lambda sign: (len(sign), sign)))


def value_cell(
    chosen: Chosen,
    figure: FigureInfo,
    results: Results,
    made: Intervals,
    legend: Legend,
    size: float | None = None,
) -> Cell:
    """The median of a figure with its interval, or why there is none; made: how intervals are; size: by which its unit
    is chosen."""
    case = chosen.case
    if case is None:
        return _without_case(chosen, legend)
    signs = case_signs(case, chosen, figure.name, legend)
    values = chosen.values(figure.name)
    if not values:
        return _without_value(case, chosen, results, legend, signs)
    estimate = made.of(values)
    number, ends, unit = spread_text(estimate.median, estimate.low, estimate.high, figure.unit, size)
    if chosen.setting and not chosen.again:
        signs += (legend.sign(NOT_AGAIN, NOT_AGAIN_TEXT),)
    cell = Cell(number, "value", ends, "", signs, estimate, unit=unit)
    return cell if is_exact(figure, list(values.values())) else _with_interval(cell, made.level, legend)


def setting_cell(chosen: Chosen) -> Cell:
    """The setting of a cell with a choice, and how often another one was better."""
    if not chosen.setting:
        return Cell(NONE, "missing", note="no setting has a value")
    text = ", ".join(text_of(value) for value in chosen.setting.values())
    if chosen.others_won is None:
        return Cell(text, "setting")
    return Cell(text, "setting", note=f"another better in {percent(chosen.others_won)}")


@dataclass
class Ratios:
    """Ratios of the cells of a table to those that its `relative_to` names.

    Attributes:
        figures: of the table. made: all its blocks. needed: rounds, see needed.py.
    """

    results: Results
    table: AnswerTable
    figures: Sequence[FigureInfo]
    made: Sequence[Block]
    legend: Legend
    needed: int

    @cached_property
    def intervals(self) -> Intervals:
        """How they are made."""
        return intervals_of(self.results)

    @cached_property
    def found(self) -> dict[tuple[Key, str], Difference]:
        """What is known of each comparison of the table, by cell and figure."""
        if not self.table.relative_to:
            return {}
        comparisons = {}
        for figure in self.figures:
            for key in keys_of(self.made):
                if self.reference(key) != key and (ratios := ratios_by_round(*self._both(key, figure))):
                    comparisons[key, figure.name] = ratios
        return self.intervals.differences(comparisons)

    def reference(self, whole: Key) -> Key:
        """The cell that this one is compared with: the same, but for the factors of relative_to."""
        return tuple((name, self.table.relative_to.get(name, value)) for name, value in whole)

    def estimate(self, whole: Key, figure: FigureInfo) -> Estimate | None:
        """The ratio within rounds, above 1 where a figure of speed is better; None where there is none."""
        return self.intervals.ratio(*self._both(whole, figure))

    def ratio_cell(self, whole: Key, figure: FigureInfo) -> Cell:
        """The ratio with its interval, or why there is none."""
        estimate = self.estimate(whole, figure)
        if estimate is None:
            return self._missing(whole, figure)
        if self.reference(whole) == whole:
            return Cell("1", "reference")
        text, ends = ratio_text(estimate.median, estimate.low, estimate.high)
        if is_exact(figure, *(list(values.values()) for values in self._both(whole, figure))):
            return Cell(text, "ratio", ends, "", (), estimate, estimate.median != 1)
        difference = self.found[whole, figure.name]
        signs = () if difference.differs else (self._same(difference),)
        cell = Cell(text, "ratio", ends, "", signs, estimate, difference.differs)
        return _with_interval(cell, self.intervals.level, self.legend)

    def efficiency_cell(self, whole: Key, figure: FigureInfo) -> Cell:
        """The speed-up over that of perfect scaling, with its interval; marked where it is beyond doubt above 1."""
        point = self._point(whole, figure)
        if isinstance(point, Cell):
            return point
        weak = self.table.scaling == "weak"
        found = point.speed_up if weak else point.efficiency
        text, ends = ratio_text(found.median, found.low, found.high)
        signs: tuple[str, ...] = ()
        if found.reaches(self.intervals.level) and (found.low > 1 if weak else point.super_linear):
            signs = (
                self.legend.sign(SUPERLINEAR, "faster than in proportion (super-linear), with its whole interval"),
            )
        return _with_interval(Cell(text, "ratio", ends, "", signs, found), self.intervals.level, self.legend)

    def serial_cell(self, whole: Key, figure: FigureInfo) -> Cell:
        """The serial fraction of Karp and Flatt, with its interval."""
        if self.reference(whole) == whole and self.estimate(whole, figure) is not None:
            return Cell(NONE, "reference", note="reference")
        point = self._point(whole, figure)
        if isinstance(point, Cell):
            return point
        found = point.serial_fraction
        if found is None:
            return Cell(NONE, "missing", note="as large as the reference")
        text, ends = ratio_text(found.median, found.low, found.high)
        return _with_interval(Cell(text, "ratio", ends, "", (), found), self.intervals.level, self.legend)

    def size(self, whole: Key) -> Fraction | None:
        """How many times as much of the machine as the reference a cell uses; None where that is no number."""
        own, base = dict(whole), dict(self.reference(whole))
        names = [name for name in SCALES if name in self.table.relative_to]
        if "ranks" in names and "nodes" in names:  # ranks are those of all nodes
            names.remove("nodes")
        size = Fraction(1)
        for name in names:
            number, reference = own.get(name), base.get(name)
            if not (_positive(number) and _positive(reference)):
                return None
            size *= Fraction(number) / Fraction(reference)  # type: ignore[arg-type]
        return size if names else None

    def _point(self, whole: Key, figure: FigureInfo) -> ScalingPoint | Cell:
        """The point of a scaling, or the cell that says why there is none."""
        estimate, size = self.estimate(whole, figure), self.size(whole)
        if estimate is None:
            return self._missing(whole, figure)
        if self.reference(whole) == whole:
            return Cell("1", "reference")
        if size is None or size < 1:
            return Cell(NONE, "missing", note="smaller than the reference" if size else "no number of processors")
        return scaling({size.numerator: estimate}, size.denominator)[0]

    def _both(self, whole: Key, figure: FigureInfo) -> tuple[dict[int, float], dict[int, float]]:
        """Values of the two by round, of which the first over the second is the ratio.

        Runs of one kind: rounds with rounds, and winners with winners where both were measured again.
        """
        own, other = self._chosen(whole), self._chosen(self.reference(whole))
        values, base = own.values(figure.name), other.values(figure.name)
        if own.kind != other.kind and own.case is not None and other.case is not None:
            values, base = own.case.values(figure.name), other.case.values(figure.name)
        return (base, values) if is_speed(figure) and figure.direction == "lower" else (values, base)

    def _chosen(self, whole: Key) -> Chosen:
        return self.made[0].cells.get(whole, Chosen(None, ()))

    def _missing(self, whole: Key, figure: FigureInfo) -> Cell:
        own, other = self._chosen(whole), self._chosen(self.reference(whole))
        if not own.values(figure.name):
            return Cell(NONE, "missing", note="no value")
        if not other.candidates:
            return Cell(NONE, "missing", note="reference not in the design")
        if not other.values(figure.name):
            return Cell(NONE, "missing", note="reference has no value")
        if min(*own.values(figure.name).values(), *other.values(figure.name).values()) <= 0:
            return Cell(NONE, "missing", note="no ratio of values that are not above 0")
        return Cell(NONE, "missing", note="no round in common")

    def _same(self, difference: Difference) -> str:
        count = len(self.found)
        corrected = f", corrected for {count} comparisons," if count > 1 else ""
        if difference.could_differ:
            return self.legend.sign(NO_DIFFERENCE, f"no difference beyond noise: the interval{corrected} holds 1")
        if difference.corrected.count >= difference.rounds_needed:
            text = "sessions, or rounds that depend on each other, differ too much to tell a difference"
            return self.legend.sign(TOO_FEW, text)
        text = f"too few rounds to tell a difference{corrected.rstrip(',')}: {self.needed} are needed"
        return self.legend.sign(TOO_FEW, text)


def _with_interval(cell: Cell, level: float, legend: Legend) -> Cell:
    """The cell, whose interval is told to be none where there are too few values for one."""
    estimate = cell.estimate
    if estimate is None or estimate.reaches(level):
        return cell
    if estimate.count == 1:
        return replace(cell, interval="", signs=(*cell.signs, legend.sign(ONE_RUN, "of one run")))
    if TOO_FEW in cell.signs:
        return replace(cell, interval="")
    text = f"of {estimate.count} values: too few for an interval of 95 %"
    if estimate.inflation > 1:
        text = f"of {estimate.count} values, of sessions or rounds that depend on each other: too few for an interval"
    return replace(cell, interval="", signs=(*cell.signs, legend.sign(f"{FEW}{estimate.count}", text)))


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _without_case(chosen: Chosen, legend: Legend) -> Cell:
    if not chosen.candidates:
        return Cell(NONE, "missing", note="not in the design")
    failed = [run for case in chosen.candidates for run in case.failures]
    if failed:
        reason = _reason(failed[-1].failed)
        return Cell(
            "failed", "failed", signs=(legend.letter(f"no setting has a value; the last run failed: {reason}"),)
        )
    return Cell(NONE, "missing", note="no setting has a value")


def _without_value(case: CaseRuns, chosen: Chosen, results: Results, legend: Legend, signs: tuple[str, ...]) -> Cell:
    runs = [run for run in case.runs if run.kind == chosen.kind]
    failed = [run for run in runs if run.failed]
    if failed:
        every = "the only run" if len(runs) == 1 else f"{len(failed)} of {counted(len(runs), 'run')}"
        sign = legend.letter(f"failed, {every}: {_reason(failed[-1].failed)}")
        return Cell("failed", "failed", signs=tuple(dict.fromkeys((*signs, sign))))
    if runs:
        return Cell(NONE, "missing", note="no such figure", signs=signs)
    return Cell(NONE, "missing", note="not run" if results.ended else "not run yet", signs=signs)


def _reason(text: str) -> str:
    """The first line of why a run failed."""
    first = next((line for line in text.splitlines() if line.strip()), text)
    return shortened(first, LONGEST_REASON)
