"""Exact sums of contributions in memory, beside those on disk, which then need not be read again for the result.

For runs of one rank whose tasks are done by a device, and leave the host's memory free. The files stay what a run is
resumed from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fathometer.parallel.decomposition import Index3
from fathometer.runs.exact_sum import LIMBS, LOWEST, Limbs, add, raise_top, top_of, with_top
from fathometer.runs.journal import Contribution


class HeldSums:
    """The sums of some tasks' contributions to volumes.

    Args:
        names: of the volumes. shape: cells of each.

    Attributes:
        tasks: whose contributions are summed.
    """

    def __init__(self, names: Sequence[str], shape: Index3) -> None:
        self.tasks: set[int] = set()
        self._limbs = {name: np.zeros((LIMBS, *shape), np.int64) for name in names}
        self._tops = dict.fromkeys(names, LOWEST)

    def add(self, contribution: Contribution, volumes: Mapping[str, np.ndarray]) -> None:
        """Add what has been written for a task: its whole window of each volume, float32 or float64."""
        x, y, z = (slice(lo, hi) for lo, hi in zip(contribution.lo, contribution.hi, strict=True))
        for name, limbs in self._limbs.items():
            before, top = self._tops[name], max(self._tops[name], top_of(contribution.parts[name].peak))
            if self.tasks:  # else zeros, which are not to be touched
                raise_top(limbs, before, top)
            self._tops[name] = top
            add(limbs[:, x, y, z], top, volumes[name])
        self.tasks.add(contribution.task)

    def limbs(self, name: str, top: int, lo: Sequence[int], hi: Sequence[int]) -> Limbs:
        """The sum of a volume in a box, half-open, with a top that is no lower than that of any term; not to be
        changed."""
        x, y, z = (slice(a, b) for a, b in zip(lo, hi, strict=True))
        return with_top(self._limbs[name][:, x, y, z], self._tops[name], top)
