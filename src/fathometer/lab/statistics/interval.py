"""The median of values and its confidence interval, by order statistics.

The k-th smallest to the k-th largest of n values hold the median of their law with the probability

    C(k) = 1 - 2 P(Binomial(n, 1/2) < k),

whatever the law is (Conover 1999, Practical Nonparametric Statistics). From FEWEST_INTERPOLATED values on, the interval
is interpolated between the k with C(k) >= level > C(k + 1) and the next one, so that it covers the level and not up to
some percent more (Hettmansperger & Sheather 1986, Statistics & Probability Letters 4; Nyblom 1992, the same 14). With
fewer values the steps of C are so large that laws with two modes would be covered less than the level, some of them by
several percent: there the interval is the exact one.

All this is for independent values. From FEWEST_DEPENDENT values on, the interval allows for those that depend on the
ones before, and always for those that are alike because they are of one session (dependence.py): it takes the order
statistics at (n + 1) / 2 -+ t sqrt(n f) / 2, with the inflation f of their variance and the quantile t of Student's
law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

from fathometer.base.errors import InputError
from fathometer.lab.statistics.dependence import Dependence, dependence

LEVEL = 0.95
FEWEST_INTERPOLATED = 20  # values


@dataclass(frozen=True)
class Estimate:
    """A median and the interval that holds the true one.

    Attributes:
        median, low, high: in the unit of the values. count: of values.
        coverage: the probability that the interval holds the true median, for a number of values that was known
            beforehand; less than the level that was asked for where so few values cannot reach it.
        inflation: of the median's variance, for which the interval allows; 1 where values are taken for independent.
    """

    median: float
    low: float
    high: float
    coverage: float
    count: int
    inflation: float = 1.0

    @property
    def relative_width(self) -> float:
        """The whole width of the interval over its median; infinite about a median of zero."""
        if self.low == self.high:
            return 0.0
        return (self.high - self.low) / abs(self.median) if self.median else math.inf

    def reaches(self, level: float = LEVEL) -> bool:
        """Whether it is an interval of the level: where so few values cannot make one, its ends are not to be shown."""
        return self.coverage >= level - 1e-9

    def holds(self, value: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= value <= self.high

    def mapped(self, function: Callable[[float], float]) -> Estimate:
        """The estimate of a monotone function of the values; of a falling one, the ends change places."""
        ends = sorted((function(self.low), function(self.high)))
        return replace(self, median=function(self.median), low=ends[0], high=ends[1])


@dataclass(frozen=True)
class Ranks:
    """Which order statistics make an interval: the k-th from each end, and for `weight` of the way the next one.

    coverage: as of Estimate.
    """

    k: int
    weight: float
    coverage: float

    def ends(self, ordered: Sequence[float]) -> tuple[float, float]:
        """The interval of values in rising order."""
        low, high = ordered[self.k - 1], ordered[-self.k]
        if self.weight:
            low += self.weight * (ordered[self.k] - low)
            high += self.weight * (ordered[-self.k - 1] - high)
        return low, high


def interval(
    values: Sequence[float], level: float = LEVEL, interpolated: bool = True, sessions: Sequence[int] = ()
) -> Estimate:
    """Median of values, in the order in which they were made, and its interval of the level.

    interpolated: False where the level must be kept for any law, as in tests of differences. sessions: of each value;
    none where all are of one.
    Raises InputError for no values, for one that is not finite, and for a level that is not between 0 and 1.
    """
    if not values:
        raise InputError("interval of a median: found no values; allowed: one or more")
    if wrong := [value for value in values if not math.isfinite(value)]:
        raise InputError(f"interval of a median: found the value {wrong[0]}; allowed: finite numbers")
    ordered, n, known = sorted(values), len(values), dependence(values, sessions)
    chosen = ranks(n, level, interpolated) if known.inflation == 1 else _ranks(n, known, level, interpolated)
    return Estimate(median(ordered), *chosen.ends(ordered), chosen.coverage, n, known.inflation)


@lru_cache(maxsize=1024)
def ranks(n: int, level: float = LEVEL, interpolated: bool = True) -> Ranks:
    """The order statistics of an interval of n values; the smallest and the largest where n is too small for the level
    (below 6 for 95 %). Raises InputError as `interval`."""
    if not 0 < level < 1:
        raise InputError(f"level of an interval: found {level}; allowed: above 0 and below 1")
    # Sums of binomial coefficients as integers: exact for any n.
    below, term, k, coverage = 1, 1, 1, _coverage(1, n)
    while k < n // 2:
        term = term * (n - k + 1) // k
        below += term
        following = _coverage(below, n)
        if following < level:
            if not interpolated or n < FEWEST_INTERPOLATED or coverage < level:
                return Ranks(k, 0.0, coverage)
            part = (coverage - level) / (coverage - following)
            return Ranks(k, (n - k) * part / (k + (n - 2 * k) * part), level)
        k, coverage = k + 1, following
    return Ranks(k, 0.0, coverage)


def tail(n: int, known: Dependence, rarer: int) -> float:
    """Probability that so few of n values, or fewer, are on the rarer side of the median, whichever that is."""
    from scipy.special import stdtr

    if known.inflation == 1:
        return min(1.0, sum(math.comb(n, k) for k in range(rarer + 1)) / (1 << (n - 1)))
    return float(min(1.0, 2 * stdtr(known.freedom, -((n - 1) - 2 * rarer) / math.sqrt(n * known.inflation))))


def _ranks(n: int, known: Dependence, level: float, interpolated: bool) -> Ranks:
    """`ranks` of values that depend on each other."""
    if not 0 < level < 1:
        raise InputError(f"level of an interval: found {level}; allowed: above 0 and below 1")
    place = (n + 1) / 2 - known.quantile(level) * math.sqrt(n) / 2
    if place < 1:
        return Ranks(1, 0.0, 1.0 - tail(n, known, 0))
    k = math.floor(place)
    return Ranks(k, place - k if interpolated else 0.0, level)


def _coverage(below: int, n: int) -> float:
    """C(k) from the number of the 2^n equally likely outcomes with fewer than k successes."""
    return max(0.0, 1.0 - below / (1 << (n - 1)))
