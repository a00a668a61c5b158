"""Checksums of volumes that add up over their parts: each rank computes that of its own cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MODULUS = 1 << 64


def checksum(values: np.ndarray, shape: Sequence[int] | np.ndarray, lo: Sequence[int] | np.ndarray) -> int:
    """Of some cells from `lo` on of a volume of this shape: sum of bits x (2 place + 1) modulo 2^64, so that checksums
    of parts add up to that of the whole; another value in any one cell changes it."""
    bits = np.ascontiguousarray(values).view({4: np.uint32, 8: np.uint64}[values.dtype.itemsize]).astype(np.uint64)
    x, y, z = (np.arange(a, a + n, dtype=np.uint64) for a, n in zip(lo, values.shape, strict=True))
    _, ny, nz = (np.uint64(n) for n in shape)
    places = ((x[:, None] * ny + y)[:, :, None] * nz + z) * np.uint64(2) + np.uint64(1)
    return int((bits * places).sum(dtype=np.uint64))
