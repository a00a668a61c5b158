"""Random numbers by place: a hash of a seed and the number of a cell, so that they do not depend on who asks for which.

Steele, Lea & Flood (2014, OOPSLA): the finaliser of SplitMix64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniform(seed: int, numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """A number from -1 to 1 for each of `numbers`, integers from 0."""
    start = _mixed(np.array(seed % 2**64, np.uint64) + GOLDEN)
    mixed = _mixed((np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN + start)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


def _mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
