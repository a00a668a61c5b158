"""Two studies of one design compared, cell by cell: what differs, and what got worse beyond doubt.

The rounds of one study have nothing to do with those of the other, so that ratios are not paired. Of the logarithms of
both the shift is estimated: the median of all differences between a value of the second and one of the first (Hodges &
Lehmann 1963, Annals of Mathematical Statistics 34), with the interval that the Wilcoxon-Mann-Whitney test leaves
(Moses' interval: Hollander, Wolfe & Chicken 2014, Nonparametric Statistical Methods, 4.3). It is exact for any law that
both share up to a factor. What is taken for the number of comparisons is that of all cells and figures that both have
(Bonferroni), as intervals are what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fathometer.base.errors import FathometerError, InputError, shortened
from fathometer.lab.statistics.interval import LEVEL, Estimate
from fathometer.lab.studies.report.asked import answer_of, merits
from fathometer.lab.studies.results import CaseRuns, FigureInfo, Results

MOST_EXACT = 64  # values of each: beyond, the test's distribution is taken for normal


class GateError(FathometerError):
    """A figure named in [gate] got worse beyond doubt."""

    exit_code = 3


@dataclass(frozen=True)
class Compared:
    """A figure of a case in both studies.

    Attributes:
        ratio: second over first, and its interval of the level; None where one has no values or they are not above 0.
        corrected: its interval at the level that is corrected for all comparisons; differs: whether that leaves 1.
        worse: whether it is worse by more than the tolerance, with the whole corrected interval.
        gated: whether the figure is one of the gate's.
    """

    case: CaseRuns
    figure: FigureInfo
    first: Sequence[float]
    second: Sequence[float]
    ratio: Estimate | None
    corrected: Estimate | None
    differs: bool
    worse: bool
    gated: bool
    why: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two studies compared.

    Attributes:
        cells: of the cases that both have, in the first one's order. comparisons: for how many intervals are corrected.
        only_first, only_second: cases that the other one does not have.
    """

    cells: Sequence[Compared]
    comparisons: int
    only_first: Sequence[CaseRuns]
    only_second: Sequence[CaseRuns]

    @property
    def regressions(self) -> list[Compared]:
        """What got worse of the figures of the gate."""
        return [cell for cell in self.cells if cell.gated and cell.worse]

    @property
    def lost(self) -> list[Compared]:
        """Figures of the gate that the first study has and the second one does not: its runs failed, or are not made
        yet."""
        return [cell for cell in self.cells if cell.gated and cell.first and not cell.second]


def compare(first: Results, second: Results) -> Comparison:
    """Compare the second study with the first, whose [gate] counts.

    Raises InputError where they do not have the same factors, or no case or no figure in common.
    """
    _check(first, second)
    gate = answer_of(first).gate
    names = [name for name in merits(first.figures) if _same_figure(first, second, name)]
    names += [name for name in gate.figures if name not in names and _same_figure(first, second, name)]
    if missing := [name for name in gate.figures if name not in names]:
        raise InputError(f"gate: figures: found {missing[0]}, which is not the same in both; allowed: figures of both")
    if not names:
        raise InputError("compare: found no figure in common; allowed: studies with the same figures")
    common = [name for name in first.cases if name in second.cases]
    pairs = [
        (case, figure, _values(first, case, figure), _values(second, case, figure))
        for case in common
        for figure in names
    ]
    count = sum(bool(one and other) for _, _, one, other in pairs)
    level = 1.0 - (1.0 - LEVEL) / max(1, count)
    cells = []
    for case, name, one, other in pairs:
        info = first.figures[name]
        gated = name in gate.figures
        ratio = ratio_of_medians(one, other)
        corrected = ratio_of_medians(one, other, level)
        differs = corrected is not None and corrected.coverage >= level and not corrected.holds(1.0)
        worse = differs and corrected is not None and _worse(corrected, info, gate.tolerance if gated else 0.0)
        why = "" if ratio else _why(first, second, case, one, other)
        cells.append(Compared(first.cases[case], info, one, other, ratio, corrected, differs, worse, gated, why))
    return Comparison(
        cells,
        count,
        [case for name, case in first.cases.items() if name not in second.cases],
        [case for name, case in second.cases.items() if name not in first.cases],
    )


def require_gate(comparison: Comparison) -> None:
    """Raises GateError where a figure of the gate got worse by more than its tolerance, or has no value any more."""
    if lost := comparison.lost:
        others = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise GateError(f"gate: {lost[0].figure.name} of {lost[0].case.case}: {lost[0].why}{others}")
    if broken := comparison.regressions:
        cell = broken[0]
        assert cell.ratio is not None, "it differs"
        others = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        raise GateError(
            f"gate: {cell.figure.name} of {cell.case.case} got worse: {cell.ratio.median:.4g} times "
            f"({cell.ratio.low:.4g} to {cell.ratio.high:.4g}){others}"
        )


def ratio_of_medians(first: Sequence[float], second: Sequence[float], level: float = LEVEL) -> Estimate | None:
    """The ratio of independent values, second over first, and its interval; None without values above 0 in both.

    The smallest and the largest ratio where so few values cannot reach the level; `coverage` tells.
    """
    if not first or not second or min(*first, *second) <= 0:
        return None
    shifts = sorted(math.log(b) - math.log(a) for a in first for b in second)
    skipped, coverage = _ends(len(first), len(second), level)
    middle = len(shifts) // 2
    median = shifts[middle] if len(shifts) % 2 else (shifts[middle - 1] + shifts[middle]) / 2
    low, high = shifts[skipped], shifts[-1 - skipped]
    return Estimate(math.exp(median), math.exp(low), math.exp(high), coverage, min(len(first), len(second)))


@lru_cache(maxsize=256)
def _ends(m: int, n: int, level: float) -> tuple[int, float]:
    """How many of the m n sorted differences are left out at each end, and the coverage then: 1 - 2 P(U <= skipped)."""
    if max(m, n) > MOST_EXACT:
        from statistics import NormalDist

        spread = math.sqrt(m * n * (m + n + 1) / 12)
        skipped = max(0, math.floor(m * n / 2 - NormalDist().inv_cdf((1 + level) / 2) * spread))
        return skipped, level
    # As integers: exact, however small the level's complement is.
    counts = _mann_whitney(m, n)
    total = math.comb(m + n, m)
    below, skipped, coverage = counts[0], 0, 1.0 - 2.0 * (counts[0] / total)
    for k in range(1, m * n // 2):
        below += counts[k]
        following = 1.0 - 2.0 * (below / total)
        if following < level:
            break
        skipped, coverage = k, following
    return skipped, max(0.0, coverage)


def _mann_whitney(m: int, n: int) -> list[int]:
    """Of the C(m + n, m) orders of m and n values, how many have each U from 0 to m n: the coefficients of the Gaussian
    binomial (Mann & Whitney 1947, Annals of Mathematical Statistics 18)."""
    size = m * n + 1
    counts = [1] + [0] * (size - 1)
    for i in range(1, m + 1):
        for u in range(size - 1, n + i - 1, -1):  # times 1 - q^(n + i)
            counts[u] -= counts[u - n - i]
        for u in range(i, size):  # over 1 - q^i
            counts[u] += counts[u - i]
    return counts


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


def _values(results: Results, case: str, figure: str) -> list[float]:
    return list(results.cases[case].values(figure).values())


def _worse(ratio: Estimate, info: FigureInfo, tolerance: float) -> bool:
    """Whether the whole interval is worse by more than the tolerance: a share of the first's value."""
    if info.direction == "lower":
        return ratio.low > 1.0 + tolerance
    return info.direction == "higher" and ratio.high < 1.0 - tolerance


def _why(first: Results, second: Results, case: str, one: Sequence[float], other: Sequence[float]) -> str:
    for results, values, which in ((first, one, "first"), (second, other, "second")):
        if not values:
            failed = results.cases[case].failures
            return f"failed in the {which} study" if failed else f"no value in the {which} study"
    return "no ratio of values that are not above 0"
