"""The best of several settings, and how sure it is.

The best of many noisy medians looks better than it is, because the one that is chosen is among the lucky ones. What is
reported of a winner is therefore measured again, with fresh rounds that know nothing of the choice; here it is chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.lab.statistics.ratios import ByRound

RESAMPLES = 1000
MOST_NUMBERS = 4_000_000  # of the table in resamples that are made at a time: 32 MB

Numbers = NDArray[np.float64]

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Winner(Generic[K]):
    """The best setting of a cell.

    Attributes:
        setting: with the best median. median: of the rounds by which it was chosen: looks better than it is.
        shares: how often each setting would have won, were the study made again; settings that never would are left
            out. The sum is 1.
    """

    setting: K
    median: float
    shares: Mapping[K, float]

    @property
    def others(self) -> float:
        """How often another setting would have won."""
        return 1.0 - self.shares.get(self.setting, 0.0)


def winner(settings: Mapping[K, ByRound], better: Literal["higher", "lower"], seed: int) -> Winner[K]:
    """The setting with the best median; of equal ones the first.

    A setting competes if it has values of at least half of the rounds, so that one that mostly fails does not win by a
    single lucky run; where none has, those with the most values. Shares are those of a bootstrap of whole rounds (Efron
    1979, Annals of Statistics 7), RESAMPLES of them: what disturbs a round disturbs all settings in it. Raises
    InputError where no setting has values.
    """
    rounds = sorted({number for values in settings.values() for number in values})
    most_values = max(map(len, settings.values()), default=0)
    if not most_values:
        raise InputError("best setting: found none with values; allowed: one or more")
    needed = min(most_values, (len(rounds) + 1) // 2)
    names = [name for name, values in settings.items() if len(values) >= needed]
    sign = 1.0 if better == "lower" else -1.0
    # rounds × settings, the lower the better; NaN where a run failed.
    table = np.array([[sign * settings[name].get(number, np.nan) for name in names] for number in rounds])
    best = names[int(np.argmin(_medians(table)))]
    wins = np.zeros(len(names), np.int64)
    source = np.random.default_rng(seed)
    most = max(1, MOST_NUMBERS // table.size)  # resamples at a time
    for first in range(0, RESAMPLES, most):
        drawn = source.integers(len(rounds), size=(min(most, RESAMPLES - first), len(rounds)))
        wins += np.bincount(np.argmin(_medians(table[drawn]), axis=-1), minlength=len(names))
    shares = {name: float(count) / RESAMPLES for name, count in zip(names, wins, strict=True) if count}
    return Winner(best, median(settings[best].values()), shares)


def _medians(table: Numbers) -> Numbers:
    """Of each column without its NaN, over the last axis but one; infinite where there is nothing else."""
    ordered = np.sort(table, axis=-2)  # NaN last
    counts = np.count_nonzero(~np.isnan(table), axis=-2, keepdims=True)
    lower, upper = (
        np.take_along_axis(ordered, places, axis=-2)
        for places in (np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, table.shape[-2] - 1))
    )
    medians: Numbers = np.where(counts > 0, (lower + upper) / 2, np.inf)[..., 0, :]
    return medians
