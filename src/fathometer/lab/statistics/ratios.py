"""Ratios of two cases' values in the same rounds.

What disturbs a whole round disturbs both of its values, and leaves their ratio alone: the ratio of paired values varies
less than the two medians do. Medians and intervals are those of the logarithms, so that b over a is exactly 1 over a
over b.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fathometer.lab.statistics.interval import LEVEL, Estimate, interval

ByRound = Mapping[int, float]  # a case's values by the number of the round; rounds in which the run failed are missing


def ratios_by_round(numerator: ByRound, denominator: ByRound) -> dict[int, float]:
    """The ratio in each round that both have, in the order of the rounds. None at all where a value is not above zero:
    such figures have no ratios."""
    rounds = sorted(numerator.keys() & denominator.keys())
    if not all(numerator[n] > 0 and denominator[n] > 0 for n in rounds):
        return {}
    return {n: numerator[n] / denominator[n] for n in rounds}


def paired_ratios(numerator: ByRound, denominator: ByRound) -> list[float]:
    """The values of `ratios_by_round`."""
    return list(ratios_by_round(numerator, denominator).values())


def ratio(numerator: ByRound, denominator: ByRound, level: float = LEVEL) -> Estimate | None:
    """Median of the paired ratios and its interval; None where there is no ratio.

    Raises InputError as `interval`.
    """
    ratios = paired_ratios(numerator, denominator)
    return ratio_interval(ratios, level) if ratios else None


def ratio_interval(
    ratios: Sequence[float], level: float = LEVEL, interpolated: bool = True, sessions: Sequence[int] = ()
) -> Estimate:
    """`interval` of values above zero, by their logarithms."""
    return interval([math.log(value) for value in ratios], level, interpolated, sessions).mapped(math.exp)
