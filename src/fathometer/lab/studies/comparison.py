"""Two builds compared, case by case: which figure got worse, which did not, and of which that is not decided.

Two sessions of one program differ by more than the rounds of each: another time, another state of the machine. So what
is compared is either

    in turns      both builds in the same rounds of one study ([gate] baseline): the ratio in each round, with the
                  interval of the signed-rank test; rounds in which either was disturbed are left out;
    sessions      studies made at different times: the median of each session is one value. How far sessions differ is
                  learned from those on both sides, and the interval is that of Student for two means of logarithms
                  with one variance. Two sessions alone, one on each side, have no interval.

A figure is worse where the whole interval is beyond the gate's tolerance, not worse where none of it is, and undecided
else. Either is a question about one end of the interval, so that it is made at SHOWN: each end holds with 95 %. For
"worse" it is corrected for the number of comparisons (Bonferroni), and so are differences in either direction at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from fathometer.base.errors import FathometerError, InputError, shortened
from fathometer.base.formatting import counted, ratio_text
from fathometer.base.meant import did_you_mean
from fathometer.lab.statistics.dependence import telling
from fathometer.lab.statistics.interval import LEVEL, Estimate
from fathometer.lab.statistics.signed_ranks import shift_of_ratios
from fathometer.lab.studies.asked import answer_of, merits
from fathometer.lab.studies.builds import BUILD, FEWEST_PAIRS, by_round, sound_rounds, with_baseline
from fathometer.lab.studies.results import MEASURED, CaseRuns, FigureInfo, Results, Run, is_exact
from fathometer.lab.studies.study_file import GateTable

SHOWN = 2 * LEVEL - 1  # level of intervals, of which each end holds with LEVEL
Verdict = Literal["worse", "not worse", "undecided"]
FEWEST_SESSIONS = 4  # on both sides together, of which a spread can be learned


class GateError(FathometerError):
    """A figure named in [gate] got worse."""

    exit_code = 3


class UndecidedError(FathometerError):
    """Of a figure named in [gate] it is not decided whether it got worse."""

    exit_code = 4


@dataclass(frozen=True)
class Compared:
    """A figure of a case in both builds.

    Attributes:
        first, second: values that count. shown: their medians; None where there are none.
        ratio: second over first, and its interval of the level SHOWN; None where it has none.
        verdict: whether it got worse by more than the tolerance: 0 but for figures of the gate (`gated`).
        better, differs: beyond doubt. why: what the verdict rests on, where that is not the interval.
    """

    case: CaseRuns
    figure: FigureInfo
    first: Sequence[float]
    second: Sequence[float]
    ratio: Estimate | None
    verdict: Verdict
    gated: bool
    better: bool = False
    differs: bool = False
    why: str = ""

    @property
    def text(self) -> str:
        """The ratio with its interval, where there are any."""
        if self.ratio is None:
            return "no ratio"
        number, ends = ratio_text(self.ratio.median, self.ratio.low, self.ratio.high)
        return f"{number} times ({ends})" if self.ratio.reaches(SHOWN) else f"{number} times"


@dataclass(frozen=True)
class Comparison:
    """Two builds compared.

    Attributes:
        cells: of the cases that both have, in the first one's order. comparisons: for how many intervals are corrected.
        only_first, only_second: cases that the other one does not have.
        in_turns: whether they ran in the same rounds. sessions: of the first and of the second. tolerance: of the gate.
    """

    cells: Sequence[Compared]
    comparisons: int
    in_turns: bool
    tolerance: float
    sessions: tuple[int, int] = (1, 1)
    only_first: Sequence[CaseRuns] = ()
    only_second: Sequence[CaseRuns] = ()

    def gated(self, verdict: Verdict) -> list[Compared]:
        """The figures of the gate with this verdict."""
        return [cell for cell in self.cells if cell.gated and cell.verdict == verdict]


@dataclass(frozen=True)
class _Pair:
    """A figure of a case before it is judged.

    why: its values decide nothing. lost: what is to be said of the second build's failures; chance: the probability
    that it has so many more by chance.
    """

    case: CaseRuns
    figure: FigureInfo
    first: Sequence[float]
    second: Sequence[float]
    why: str = ""
    lost: str = ""
    chance: float = 1.0
    ratios: Sequence[float] = ()
    sessions: Sequence[int] = ()


def compare_builds(results: Results) -> Comparison:
    """Compare the builds of a study with [gate] baseline, in turns. Raises InputError where it has none."""
    gate = answer_of(results).gate
    if gate.baseline is None:
        raise InputError(
            "compare: found one study, without [gate] baseline; allowed: one with it, or two or more studies"
        )
    for name in gate.figures:
        if name not in results.figures:  # of results that were changed since
            known = ", ".join(results.figures) or "none: there are no figures"
            known += did_you_mean(name, results.figures)
            raise InputError(f"gate: figures: found {shortened(name)}; allowed: {known}")
    pairs = []
    own = [case for case in results.cases.values() if BUILD not in case.case.settings]
    for case in own:
        base = results.cases.get(with_baseline(case.case).name)
        for name in _names(results.figures, gate):
            if base is not None:
                pairs.append(_in_turns(base, case, results.figures[name]))
    return _judged(pairs, gate, True)


def compare(earlier: Sequence[Results], latest: Results) -> Comparison:
    """Compare a study with earlier ones of the same design, whose [gate] counts, by sessions.

    Raises InputError where they do not have the same factors, or no case or no figure in common.
    """
    first = earlier[-1]
    for other in (*earlier[:-1], latest):
        _check(first, other)
    gate = answer_of(first).gate
    names = [
        name
        for name in _names(first.figures, gate)
        if all(_same_figure(first, other, name) for other in (*earlier[:-1], latest))
    ]
    if missing := [name for name in gate.figures if name not in names]:
        raise InputError(f"gate: figures: found {missing[0]}, which is not the same in all; allowed: figures of all")
    if not names:
        raise InputError("compare: found no figure in common; allowed: studies with the same figures")
    before = {name: case for results in earlier for name, case in results.cases.items()}
    before = {name: case for name, case in before.items() if BUILD not in case.case.settings}
    # A case that is gone has no figure of the gate any more.
    pairs = [
        _of_sessions(earlier, latest, name, first.figures[figure])
        for name in before
        for figure in names
        if name in latest.cases or figure in gate.figures
    ]
    sessions = (sum(_session_count(results) for results in earlier), _session_count(latest))
    only_first = [case for name, case in before.items() if name not in latest.cases]
    only_second = [
        case for name, case in latest.cases.items() if name not in before and BUILD not in case.case.settings
    ]
    return _judged(pairs, gate, False, sessions, only_first, only_second)


def require_gate(comparison: Comparison, undecided: Literal["pass", "fail"] | None = None) -> None:
    """Raises GateError where a figure of the gate got worse by more than its tolerance, or has no value any more, and
    UndecidedError where of one that is not decided.

    undecided: what that is taken for; "fail": GateError too.
    """
    for verdict, kind in (("worse", GateError), ("undecided", GateError if undecided == "fail" else UndecidedError)):
        found = comparison.gated(verdict)  # type: ignore[arg-type]
        if found and not (verdict == "undecided" and undecided == "pass"):
            others = f", and {len(found) - 1} more" if len(found) > 1 else ""
            raise kind(f"gate: {verdict_text(found[0], comparison.tolerance)}{others}")


def verdict_text(cell: Compared, tolerance: float) -> str:
    """What is decided of a figure of the gate, in words."""
    what = f"{cell.figure.name} of {cell.case.case}"
    if cell.why and cell.ratio is None:
        return f"{what} {'got worse' if cell.verdict == 'worse' else 'is undecided'}: {cell.why}"
    why = f" ({cell.why})" if cell.why else ""
    allowed = f"{100 * tolerance:g} %"
    if cell.verdict == "worse":
        return f"{what} got worse by more than {allowed}: {cell.text}{why}"
    if cell.verdict == "undecided":
        return f"{what} may be worse by more than {allowed}, or not: {cell.text}{why}"
    return f"{what} is not worse by more than {allowed}: {cell.text}{why}"


def _in_turns(base: CaseRuns, case: CaseRuns, figure: FigureInfo) -> _Pair:
    one, other = by_round(base.runs), by_round(case.runs)
    lost = _lost(list(one.values()), list(other.values()))
    both = [
        n
        for n in sorted(one.keys() & other.keys())
        if figure.name in one[n].figures and figure.name in other[n].figures
    ]
    rounds = [n for n in sound_rounds(one, other) if n in both]
    why = ""
    if len(rounds) < FEWEST_PAIRS:
        why = f"{counted(len(rounds), 'pair')} of runs; {FEWEST_PAIRS} are needed"
        if disturbed := len(both) - len(rounds):
            why = (
                f"of {counted(len(both), 'pair')} of runs {disturbed} disturbed, or of two sessions: nothing is decided"
            )
            rounds = both
    first, second = [one[n].figures[figure.name] for n in rounds], [other[n].figures[figure.name] for n in rounds]
    ratios = [b / a for a, b in zip(first, second, strict=True)] if rounds and min(*first, *second) > 0 else []
    if rounds and not ratios:
        why = "no ratio of values that are not above 0"
    sessions = telling([one[n].session for n in rounds])
    return _Pair(case, figure, first, second, why, *lost, ratios, sessions)


def _of_sessions(earlier: Sequence[Results], latest: Results, name: str, figure: FigureInfo) -> _Pair:
    """The medians of the undisturbed runs of each session, or all values of counts."""
    befores = [results.cases[name] for results in earlier if name in results.cases]
    if name not in latest.cases:
        return _Pair(befores[-1], figure, [], [], "not in the later study", "not in the later study", 0.0)
    case = latest.cases[name]
    every = [[value for one in some for value in one.values(figure.name).values()] for some in (befores, [case])]
    if is_exact(figure, *every):  # counts: neither sessions nor others have a part in them
        first, second = every
    else:
        first = [value for before in befores for value in _session_medians(before, figure.name)]
        second = _session_medians(case, figure.name)
    lost = _lost([run for before in befores for run in _rounds(before)], _rounds(case))
    why = ""
    for values, runs, which in (
        (first, [run for before in befores for run in _rounds(before)], "earlier"),
        (second, _rounds(case), "later"),
    ):
        if not values:
            disturbed = any(run.disturbed for run in runs if not run.failed)
            failed = "failed" if any(run.failed for run in runs) else "no value"
            why = f"{'all runs were disturbed' if disturbed else failed} in the {which} study"
    if first and second and min(*first, *second) <= 0:
        why = "no ratio of values that are not above 0"
    return _Pair(case, figure, first, second, why, *lost)


def _judged(
    pairs: Sequence[_Pair],
    gate: GateTable,
    in_turns: bool,
    sessions: tuple[int, int] = (1, 1),
    only_first: Sequence[CaseRuns] = (),
    only_second: Sequence[CaseRuns] = (),
) -> Comparison:
    count = sum(bool(pair.first and pair.second) for pair in pairs)
    cells = [_cell(pair, gate, max(1, count), in_turns) for pair in pairs]
    return Comparison(cells, count, in_turns, gate.tolerance, sessions, only_first, only_second)


def _cell(pair: _Pair, gate: GateTable, count: int, in_turns: bool) -> Compared:
    gated = pair.figure.name in gate.figures
    tolerance = gate.tolerance if gated else 0.0
    made, one_sided, level = _ratio(pair, SHOWN, in_turns), 1 - (1 - SHOWN) / count, 1 - (1 - LEVEL) / count
    corrected, two_sided = _ratio(pair, one_sided, in_turns), _ratio(pair, level, in_turns)
    exact = made is not None and made.coverage == 1.0
    why = "" if exact else pair.why
    if made is not None and not made.reaches(SHOWN) and not why:
        why = _too_few(pair, in_turns)
    verdict: Verdict = "undecided"
    better = differs = False
    if made is not None and corrected is not None and two_sided is not None and made.reaches(SHOWN) and not why:
        differs = two_sided.reaches(level) and not two_sided.holds(1.0)
        better = differs and _beyond(two_sided.mapped(lambda value: 1 / value), pair.figure, 0.0)
        worse = corrected if gated else two_sided
        if worse.reaches(one_sided if gated else level) and _beyond(worse, pair.figure, tolerance):
            verdict = "worse"
        elif _within(made, pair.figure, tolerance):
            verdict = "not worse"
        elif gated and _beyond(made, pair.figure, tolerance):
            why = f"to tell it of one of {count} comparisons needs more {'pairs' if in_turns else 'sessions'}"
    elif exact_zero(pair):
        why = f"{pair.first[0]:g} before, {pair.second[0]:g} now"
        worse_by = (pair.second[0] - pair.first[0]) * (-1 if pair.figure.direction == "higher" else 1)
        verdict = "worse" if worse_by > tolerance * abs(pair.first[0]) else "not worse"
        differs, better = worse_by != 0, worse_by < 0
    if pair.lost:
        why = pair.lost
        if pair.chance <= 1.0 - level:
            verdict = "worse"
        elif verdict == "not worse":
            verdict = "undecided"
    return Compared(
        case=pair.case,
        figure=pair.figure,
        first=pair.first,
        second=pair.second,
        ratio=made,
        verdict=verdict,
        gated=gated,
        better=better,
        differs=differs,
        why=why,
    )


def exact_zero(pair: _Pair) -> bool:
    """Whether both are counts that are the same every time, which have no ratio."""
    first, second = pair.first, pair.second
    return bool(first and second) and min(*first, *second) <= 0 and is_exact(pair.figure, first, second)


def _too_few(pair: _Pair, in_turns: bool) -> str:
    """Why there is no interval."""
    if in_turns:
        return f"{len(set(pair.sessions))} sessions differ too much for so few"
    known = counted(len(pair.first) + len(pair.second), "session")
    return f"{known} of both do not tell how far sessions differ; {FEWEST_SESSIONS} are needed"


def _ratio(pair: _Pair, level: float, in_turns: bool) -> Estimate | None:
    """Second over first with its interval. Counts that are the same every time have no chance in them."""
    first, second = pair.first, pair.second
    if not first or not second or min(*first, *second) <= 0:
        return None
    if is_exact(pair.figure, first, second):
        exact = second[0] / first[0]
        return Estimate(exact, exact, exact, 1.0, min(len(first), len(second)))
    if in_turns:
        return shift_of_ratios(pair.ratios, level, pair.sessions)
    return ratio_of_sessions(first, second, level)


def ratio_of_sessions(first: Sequence[float], second: Sequence[float], level: float = LEVEL) -> Estimate:
    """The ratio of the geometric means of values above 0, one of each session, second over first, and its interval.

    Sessions of both have the same variance of logarithms, that of a normal law. With fewer than FEWEST_SESSIONS there
    is no interval: its coverage is 0.
    """
    from scipy.special import stdtrit

    one, other = ([math.log(value) for value in values] for values in (first, second))
    middle = fmean(other) - fmean(one)
    freedom, count = len(one) + len(other) - 2, min(len(one), len(other))
    if freedom + 2 < FEWEST_SESSIONS:
        return Estimate(math.exp(middle), math.exp(middle), math.exp(middle), 0.0, count)
    squares = sum((value - fmean(values)) ** 2 for values in (one, other) for value in values)
    spread = math.sqrt(squares / freedom * (1 / len(one) + 1 / len(other)))
    half = float(stdtrit(freedom, (1 + level) / 2)) * spread
    return Estimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half), level, count)


def _lost(before: Sequence[Run], now: Sequence[Run]) -> tuple[str, float]:
    """What is to be said where runs failed more often than before, and the probability that so many more are chance
    (Fisher's exact test, one-sided); "" where they did not."""
    failed, failed_before = ([run for run in runs if run.failed] for runs in (now, before))
    if failed and len(failed) == len(now) and len(failed_before) < len(before):
        return _text_of_lost(failed, now, failed_before), 0.0
    if not failed or len(failed) * len(before) <= len(failed_before) * len(now):
        return "", 1.0
    every, bad = len(now) + len(before), len(failed) + len(failed_before)
    worse = sum(
        math.comb(len(now), k) * math.comb(len(before), bad - k) for k in range(len(failed), min(bad, len(now)) + 1)
    )
    return _text_of_lost(failed, now, failed_before), worse / math.comb(every, bad)


def _text_of_lost(failed: Sequence[Run], now: Sequence[Run], failed_before: Sequence[Run]) -> str:
    reason = shortened(failed[-1].failed.splitlines()[0], 80)
    return f"{len(failed)} of {counted(len(now), 'run')} failed, of the earlier build {len(failed_before)}: {reason}"


def _rounds(case: CaseRuns) -> list[Run]:
    return [run for run in case.runs if run.kind == MEASURED]


def _session_medians(case: CaseRuns, figure: str) -> list[float]:
    found: dict[int, list[float]] = {}
    for run in _rounds(case):
        if not run.failed and not run.disturbed and figure in run.figures:
            found.setdefault(run.session, []).append(run.figures[figure])
    return [median(found[session]) for session in sorted(found)]


def _session_count(results: Results) -> int:
    return len(set(results.sessions().values())) or 1


def _names(figures: Mapping[str, FigureInfo], gate: GateTable) -> list[str]:
    return list(dict.fromkeys([*merits(figures), *gate.figures]))


def _check(first: Results, second: Results) -> None:
    if set(first.factors) != set(second.factors):
        one, other = (", ".join(results.factors) or "none" for results in (first, second))
        raise InputError(
            f"compare: found the factors {shortened(one)} and {shortened(other)}; allowed: studies of one design"
        )
    if not set(first.cases) & set(second.cases):
        raise InputError("compare: found no case in common; allowed: studies of one design")


def _same_figure(first: Results, second: Results, name: str) -> bool:
    one, other = first.figures.get(name), second.figures.get(name)
    return one is not None and other is not None and (one.unit, one.direction) == (other.unit, other.direction)


def _beyond(ratio: Estimate, figure: FigureInfo, tolerance: float) -> bool:
    """Whether the whole interval is worse by more than the tolerance: a share of the first's value."""
    if figure.direction == "lower":
        return ratio.low > 1.0 + tolerance
    return figure.direction == "higher" and ratio.high < 1.0 - tolerance


def _within(ratio: Estimate, figure: FigureInfo, tolerance: float) -> bool:
    """Whether none of the interval is worse by more than the tolerance."""
    if figure.direction == "lower":
        return ratio.high <= 1.0 + tolerance
    return figure.direction != "higher" or ratio.low >= 1.0 - tolerance
