"""How many steps a run takes to its output times, and at how many times it writes results."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def counts_to(times: Sequence[float], step: float, most: int | None) -> tuple[int, int]:
    """Steps of at most `step` from 0 to the last of some output times, each met exactly, and `most` at most; times at
    which results are written: the beginning, those that the run comes to, and its end.

    >>> counts_to([1.0, 2.0], 0.4, None), counts_to([1.0, 2.0], 0.4, 4)
    ((6, 3), (4, 3))
    """
    ends = itertools.pairwise([0.0, *times])
    to_each = list(itertools.accumulate(math.ceil((b - a) / step * (1 - 1e-9)) for a, b in ends))
    steps = min(to_each[-1], most or to_each[-1])
    return steps, 1 + len({steps, *(count for count in to_each if count <= steps)})
