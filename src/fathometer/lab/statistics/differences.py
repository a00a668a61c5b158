"""Which cases differ: ratios whose interval leaves 1, at a level corrected for how many are looked at.

The test is the sign test of the paired ratios, which is exact for any law of independent ratios: the order-statistic
interval of the level 1 - a leaves 1 if and only if the test's p-value is at most a. Many ratios that depend on those of
the rounds before are allowed for as in intervals (dependence.py). Among many comparisons, Holm's procedure keeps the
probability that any difference is false below 1 - level, whatever depends on what (Holm 1979, Scandinavian Journal of
Statistics 6): the smallest p-value is compared with (1 - level) / m, the next one with (1 - level) / (m - 1), …, until
one is above.

n ratios cannot have a p-value below 2^(1-n), so a table of many comparisons needs some rounds before it can tell
anything: `rounds_needed`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fathometer.base.errors import InputError
from fathometer.lab.statistics.dependence import INDEPENDENT, Dependence, dependence
from fathometer.lab.statistics.interval import LEVEL, Estimate, tail
from fathometer.lab.statistics.ratios import ratio_interval

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Difference:
    """A comparison among others.

    Attributes:
        differs: whether the cases differ, beyond what chance would show in a table of such size.
        corrected: the ratio and the interval that had to leave 1. p_value: of the sign test, not corrected.
        rounds_needed: with fewer, no comparison of the table could be told to differ.
        could_differ: whether there were values enough to tell a difference, had there been one: ratios that depend on
            each other may leave no interval whatever their number.
    """

    differs: bool
    corrected: Estimate
    p_value: float
    rounds_needed: int
    could_differ: bool


def differences(
    ratios: Mapping[K, Sequence[float]], level: float = LEVEL, sessions: Mapping[K, Sequence[int]] | None = None
) -> dict[K, Difference]:
    """What is known of each comparison of a table, from its paired ratios (`paired_ratios`), one or more each.

    level: the probability that no difference of the table is false; StoppingRule.level with a stopping rule.
    sessions: of each ratio, where they are of several.
    Raises InputError for a comparison without ratios and as `interval`.
    """
    count = len(ratios)
    of = {name: sessions[name] if sessions else () for name in ratios}
    known = {name: dependence(values, of[name]) for name, values in ratios.items() if values}
    p_values = {name: _p_value(values, known.get(name, INDEPENDENT)) for name, values in ratios.items()}
    found: dict[K, Difference] = {}
    refused, allowed = False, 1 - level
    for place, name in enumerate(sorted(ratios, key=lambda name: p_values[name])):
        if not refused:  # those after the first that is refused keep its level: their intervals then hold 1 too
            allowed = (1 - level) / (count - place)
            refused = p_values[name] > allowed
        corrected = ratio_interval(ratios[name], 1 - allowed, interpolated=False, sessions=of[name])
        could_differ = tail(len(ratios[name]), known[name], 0) <= (1 - level) / count
        found[name] = Difference(not refused, corrected, p_values[name], rounds_needed(count, level), could_differ)
    return {name: found[name] for name in ratios}


def sign_test(ratios: Sequence[float], sessions: Sequence[int] = ()) -> float:
    """Two-sided p-value of ratios whose median is 1. A ratio of exactly 1 counts for the side that is rarer, as the
    closed interval does. ratios: in the order in which they were made. sessions: of each."""
    return _p_value(ratios, dependence(ratios, sessions))


def level_of_best(level: float, others: int) -> float:
    """The level at which the best of several is compared with so many others: which one that is, is seen only
    afterwards, so that it is corrected for all pairs, n (n - 1) / 2, of which n - 1 are compared."""
    return 1.0 - (1.0 - level) * 2.0 / (others + 1)


def _p_value(ratios: Sequence[float], known: Dependence) -> float:
    n = len(ratios)
    if not n:
        raise InputError("differences: found a comparison without ratios; allowed: one or more")
    rarer = n - max(sum(value > 1 for value in ratios), sum(value < 1 for value in ratios))
    return tail(n, known, rarer)


def rounds_needed(comparisons: int, level: float = LEVEL) -> int:
    """The fewest rounds with which one of so many comparisons can be told to differ: 2^(1-n) <= (1 - level) / m."""
    return 1 + math.ceil(math.log2(max(1, comparisons) / (1 - level)))
