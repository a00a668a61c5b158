"""Values at two levels: a program that runs at two speeds, and has no typical one between them.

The values are cut into a lower and an upper part where the sum of squares within both is least (the natural break of
Fisher 1958, Journal of the American Statistical Association 53). They are two levels where the distance of the means is
many times the spread of the parts (Ashman's D: Ashman, Bird & Zepf 1994, The Astronomical Journal 108) and the parts
hold at least a fifth of the values each. MOST_NATURAL is what one or two in a hundred samples of ten values of a
normal, log-normal or exponential law exceed (docs/guide/study-statistics.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

FEWEST = 10  # values
FEWEST_OF_LEVEL, LEAST_SHARE = 3, 0.2
MOST_NATURAL = 7.0
LEAST_APART = 0.01  # of the lower level, below which nobody minds


@dataclass(frozen=True)
class TwoLevels:
    """The means of the lower and the upper values, and the share of the upper ones."""

    low: float
    high: float
    upper_share: float


def two_levels(values: Sequence[float]) -> TwoLevels | None:
    """The two levels at which values above zero are; None where they are not, or too few to tell."""
    n = len(values)
    if n < FEWEST or min(values) <= 0:
        return None
    ordered = sorted(values)
    least = max(FEWEST_OF_LEVEL, math.ceil(LEAST_SHARE * n))
    _, cut = min((_within(ordered[:k]) + _within(ordered[k:]), k) for k in range(least, n - least + 1))
    low, high = ordered[:cut], ordered[cut:]
    apart, spread = fmean(high) - fmean(low), math.sqrt((variance(low) + variance(high)) / 2)
    if apart <= max(MOST_NATURAL * spread, LEAST_APART * fmean(low)):
        return None
    return TwoLevels(fmean(low), fmean(high), len(high) / n)


def _within(values: Sequence[float]) -> float:
    return (len(values) - 1) * variance(values)
