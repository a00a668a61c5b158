"""When a study has enough rounds: as soon as each figure's interval is as narrow as asked.

Rounds that end when an interval is narrow end too early where it is narrow by accident, and an interval that is made as
if the number of rounds had been fixed covers less than it says: at the level of 95 %, looked at after each pair of
rounds, down to 85 % (docs/guide/study-statistics.md). Therefore, where the number is not fixed, intervals are made at
LEVEL_LOOKED_AT instead, both those that are looked at and those that are reported; these cover at least 93 %, mostly
more than 97 %, for all but two equal modes far apart. Most of that is needed by laws with two modes, where the median
of a few values looks sharp as long as they come from one of them. The level is the one that the whole range of seven
values reaches, so that eight quiet rounds, the first even number, are enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fathometer.base.errors import InputError
from fathometer.lab.statistics.interval import LEVEL, Estimate, interval

LEVEL_LOOKED_AT = 63 / 64

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class StoppingRule:
    """How many rounds.

    Attributes:
        least, most: rounds; the number is fixed where they are the same.
        width: of an interval that is narrow: its whole width over its median.
    """

    least: int
    most: int
    width: float = 0.05

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InputError(
                f"rounds: found {self.least} to {self.most}; allowed: 1 or more, the least not above the most"
            )
        if not self.width > 0:
            raise InputError(f"width of an interval: found {self.width}; allowed: above 0")

    @property
    def level(self) -> float:
        """At which intervals and differences are to be made, so that they hold at 95 % under this rule."""
        return LEVEL if self.least == self.most else LEVEL_LOOKED_AT

    def interval(self, values: Sequence[float]) -> Estimate:
        """Median and interval of a figure under this rule."""
        return interval(values, self.level)

    def wide(self, figures: Mapping[K, Sequence[float]]) -> list[K]:
        """Those whose interval is not narrow yet; without any, the rounds end. Figures without values, of cases that
        always failed, are not waited for."""
        return [name for name, values in figures.items() if values and not self._narrow(self.interval(values))]

    def _narrow(self, estimate: Estimate) -> bool:
        return estimate.coverage >= self.level and estimate.relative_width <= self.width
