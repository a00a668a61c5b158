"""Drift over the rounds of a study: whether the machine became slower or faster meanwhile.

Each value is taken relative to its case's median, and of each round the median over its cases. Whether these rise or
fall with the number of the round is the Mann-Kendall test (Mann 1945, Econometrica 13; Kendall's tau); by how much, the
slope of Theil and Sen (Sen 1968, Journal of the American Statistical Association 63) over the whole study. Drift is
told, never removed from the values: the order of the rounds keeps it out of ratios (studies/order.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from fathometer.lab.statistics.interval import LEVEL
from fathometer.lab.statistics.ratios import ByRound

MOST_P_VALUE = 0.05
FEWEST_ROUNDS = 5  # with fewer the test cannot reach MOST_P_VALUE: 2 / 4! > 0.05


@dataclass(frozen=True)
class Drift:
    """A trend over a study.

    Attributes:
        change: of the values from the first round to the last, relative: 0.2 for a rise by 20 %.
        low, high: its 95 % interval. p_value: of the test. rounds: that were tested.
    """

    change: float
    low: float
    high: float
    p_value: float
    rounds: int

    @property
    def significant(self) -> bool:
        """Whether it is more than chance, at 5 %."""
        return self.p_value <= MOST_P_VALUE


def drift(cases: Iterable[ByRound]) -> Drift | None:
    """The drift of a figure of all cases; None with fewer than FEWEST_ROUNDS rounds.

    Cases with a value that is not above zero are left out.
    """
    from scipy.stats import kendalltau, theilslopes

    relative: dict[int, list[float]] = {}
    for values in cases:
        if all(value > 0 for value in values.values()):
            for number, value in values.items():
                relative.setdefault(number, []).append(math.log(value / median(values.values())))
    if len(relative) < FEWEST_ROUNDS:
        return None
    numbers = sorted(relative)
    levels = [median(relative[number]) for number in numbers]
    if max(levels) == min(levels):
        return Drift(0.0, 0.0, 0.0, 1.0, len(numbers))
    slope, _, low, high = theilslopes(levels, numbers, LEVEL)
    span = numbers[-1] - numbers[0]
    change, low, high = (math.expm1(span * float(value)) for value in (slope, low, high))
    return Drift(change, low, high, float(kendalltau(numbers, levels).pvalue), len(numbers))
