"""Large arrays, laid out for the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer import _native
from fathometer.parallel.decomposition import Index3

CACHE_LINE = 64  # bytes
CACHE_SETS = 64  # of the first-level data cache: a page has as many lines


def allocate(shape: Index3, dtype: np.dtype[Any], stagger: int = 0) -> np.ndarray:
    """Zeroed array of `shape` on huge pages, first touched by the threads that will sweep over it.

    `stagger`: a number that differs between the arrays that a kernel reads and writes together.
    """
    make: Any = _native.zerosFloat32 if dtype == np.float32 else _native.zerosFloat64
    return np.asarray(make(shape, stagger))


def padded(n: int, itemsize: int) -> int:
    """n rounded up to whole cache lines."""
    line = CACHE_LINE // itemsize
    return -(-n // line) * line
