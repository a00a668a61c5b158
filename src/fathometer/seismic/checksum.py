"""Checksums of volumes that add up over their parts: each rank computes that of its own cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MODULUS = 1 << 64
AT_A_TIME = 1 << 20  # cells


def checksum(values: np.ndarray, shape: Sequence[int] | np.ndarray, lo: Sequence[int] | np.ndarray) -> int:
    """Of some cells from `lo` on of a volume of this shape: sum of bits x (2 place + 1) modulo 2^64, so that checksums
    of parts add up to that of the whole; another value in any one cell changes it."""
    x, y, z = (np.arange(a, a + n, dtype=np.uint64) for a, n in zip(lo, values.shape, strict=True))
    _, ny, nz = (np.uint64(n) for n in shape)
    kind = {4: np.uint32, 8: np.uint64}[values.dtype.itemsize]
    total = np.uint64(0)
    planes = max(1, AT_A_TIME // max(1, len(y) * len(z)))
    with np.errstate(over="ignore"):
        for first in range(0, len(x), planes):
            some = slice(first, first + planes)
            places = ((x[some, None] * ny + y)[:, :, None] * nz + z) * np.uint64(2) + np.uint64(1)
            places *= np.ascontiguousarray(values[some]).view(kind)
            total += places.sum(dtype=np.uint64)
    return int(total)
