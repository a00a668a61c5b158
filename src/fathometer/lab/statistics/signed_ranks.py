"""How much larger one of two is, from ratios of pairs that were made in turns.

Where the order within each pair is drawn, the logarithm of the ratio of two equal programs is as likely above zero as
below by the same amount, whatever disturbs them. So the signed-rank test is exact (Wilcoxon 1945, Biometrics Bulletin
1), and its interval, that of Tukey from the averages of all pairs of values, is a fifth narrower than that of the sign
test for normal noise (Hollander, Wolfe & Chicken 2014, Nonparametric Statistical Methods, 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

from fathometer.base.errors import InputError
from fathometer.lab.statistics.dependence import FEWEST_DEPENDENT
from fathometer.lab.statistics.interval import LEVEL, Estimate
from fathometer.lab.statistics.ratios import ratio_interval


def shift_of_ratios(ratios: Sequence[float], level: float = LEVEL, sessions: Sequence[int] = ()) -> Estimate:
    """The pseudomedian of ratios above zero, in the order in which they were made, and its interval of the level.

    From FEWEST_DEPENDENT ratios on, or where they are of several sessions, median and interval are those of
    `ratio_interval`, which allows for ratios that depend on each other. The smallest and the largest ratio where so few
    cannot reach the level; `coverage` tells.
    Raises InputError as `interval`.
    """
    n = len(ratios)
    if n == 0 or n >= FEWEST_DEPENDENT or len(set(sessions)) > 1 or not 0 < level < 1:
        return ratio_interval(ratios, level, sessions=sessions)
    if wrong := [value for value in ratios if not (math.isfinite(value) and value > 0)]:
        raise InputError(f"ratios of pairs: found {wrong[0]}; allowed: finite numbers above 0")
    logarithms = np.log(np.asarray(ratios, float))
    rows, columns = np.triu_indices(n)
    averages = np.sort((logarithms[rows] + logarithms[columns]) / 2)
    skipped, coverage = _ends(n, level)
    ends = np.exp([np.median(averages), averages[skipped], averages[-1 - skipped]])
    middle, low, high = (float(value) for value in ends)
    return Estimate(middle, low, high, coverage, n)


@lru_cache(maxsize=256)
def _ends(n: int, level: float) -> tuple[int, float]:
    """How many of the n (n + 1) / 2 sorted averages are left out at each end, and the coverage then."""
    counts = [1] + [0] * (n * (n + 1) // 2)  # of the 2^n signs, how many have each sum of the positive ranks
    for rank in range(1, n + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    coverages = [1 - below / (1 << (n - 1)) for below in accumulate(counts[: len(counts) // 2])]
    skipped = max((place for place, coverage in enumerate(coverages) if coverage >= level), default=0)
    return skipped, max(0.0, coverages[skipped]) if coverages else 0.0
