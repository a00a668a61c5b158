"""Large arrays, laid out for the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer import _native
from fathometer.parallel.decomposition import Decomposition, Index3

CACHE_LINE = 64  # bytes
CACHE_SETS = 64  # of the first-level data cache: a page has as many lines
PAGE, HUGE_PAGE = 4096, 1 << 21  # bytes; arrays of a huge page and more lie on such (native/core/memory.cpp)


def allocate(shape: Index3, dtype: np.dtype[Any], stagger: int = 0) -> np.ndarray:
    """Zeroed array of `shape` on huge pages, first touched by the threads that will sweep over it.

    `stagger`: a number that differs between the arrays that a kernel reads and writes together.
    """
    make: Any = _native.zerosFloat32 if dtype == np.float32 else _native.zerosFloat64
    return np.asarray(make(shape, stagger))


def held_bytes(bytes: int) -> int:
    """Memory that `allocate` takes for an array of so many bytes: whole pages."""
    page = HUGE_PAGE if bytes >= HUGE_PAGE else PAGE
    return (bytes // page + 1) * page


def padded(n: int, itemsize: int) -> int:
    """n rounded up to whole cache lines."""
    line = CACHE_LINE // itemsize
    return -(-n // line) * line


def field_layout(block: Decomposition, depth: int, dtype: np.dtype[Any]) -> tuple[Index3, Index3]:
    """First owned index and shape of a field array: halos on all sides, rows and owned cells on whole cache lines.

    Rows and planes are padded until those that a stencil reaches at once lie in different sets of the first cache.
    """
    nx, ny, nz = block.local_shape
    across = 0 if block.shape[1] == 1 else depth
    line = CACHE_LINE // dtype.itemsize
    above = padded(depth, dtype.itemsize)
    rows, lines = ny + 2 * across, padded(above + nz + depth, dtype.itemsize) // line
    if rows > 1:
        lines = least_crowded(lines, 1, 2 * depth + 1)
    rows = least_crowded(rows, lines, 2 * depth + 1)
    return (depth, across, above), (nx + 2 * depth, rows, lines * line)


def least_crowded(count: int, lines: int, streams: int) -> int:
    """`count`, or a little more, so that `streams` addresses `count * lines` cache lines apart share few sets."""

    def crowd(n: int) -> int:
        places = [i * n * lines % CACHE_SETS for i in range(streams)]
        return max(places.count(place) for place in places)

    return min(range(count, count + 8), key=lambda n: (crowd(n), n))
