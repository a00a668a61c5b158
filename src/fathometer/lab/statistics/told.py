"""What may be told of a few rounds: ends of an interval that reaches its level, and which setting is the fastest.

The setting with the least median is the fastest only where it differs from all others. The ratios are paired by rounds
and tested by Holm's procedure, at a level corrected for all pairs, since the one with the least median was chosen by
the same values. Those that do not differ from it are as good, as far as so many rounds can tell.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Generic, TypeVar

from fathometer.lab.statistics.differences import differences, level_of_best, rounds_needed
from fathometer.lab.statistics.interval import LEVEL, Estimate
from fathometer.lab.statistics.ratios import ByRound, paired_ratios
from fathometer.lab.statistics.winners import winner

K = TypeVar("K", bound=Hashable)


def ends(estimate: Estimate, level: float = LEVEL) -> tuple[float | None, float | None]:
    """The interval, none where so few values cannot reach the level: below six at 95 %."""
    return (estimate.low, estimate.high) if estimate.reaches(level) else (None, None)


@dataclass(frozen=True)
class Leader(Generic[K]):
    """The setting with the least median among others.

    Attributes:
        setting: that one. as_good: the others that do not differ from it, by their medians; it is the fastest where
            there are none.
        others: how often another one would have the least median, were all measured again (`winner`).
        rounds: that it has. rounds_needed: with fewer, no setting could differ from another.
    """

    setting: K
    as_good: tuple[K, ...]
    others: float
    rounds: int
    rounds_needed: int

    @property
    def fastest(self) -> bool:
        """Whether it differs from all others."""
        return not self.as_good


def leader(settings: Mapping[K, ByRound], seed: int, level: float = LEVEL) -> Leader[K]:
    """The setting with the least values, above zero, and those that are as good.

    level: the probability that the fastest one is among them. Raises InputError where no setting has values.
    """
    best = winner(settings, "lower", seed)
    others = {name: values for name, values in settings.items() if name != best.setting and values}
    ratios = {name: paired_ratios(values, settings[best.setting]) for name, values in others.items()}
    pairs = len(others) * (len(others) + 1) // 2
    found = differences({name: values for name, values in ratios.items() if values}, level_of_best(level, len(others)))
    same = [name for name in others if not (name in found and found[name].differs and found[name].corrected.low > 1)]
    return Leader(
        best.setting,
        tuple(sorted(same, key=lambda name: median(others[name].values()))),
        best.others,
        len(settings[best.setting]),
        rounds_needed(pairs, level),
    )
