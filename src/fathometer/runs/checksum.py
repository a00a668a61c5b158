"""Checksums of volumes that add up over their parts: each rank computes that of its own cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fathometer import _native

MODULUS = 1 << 64


def checksum(values: np.ndarray, shape: Sequence[int] | np.ndarray, lo: Sequence[int] | np.ndarray) -> int:
    """Of some cells from `lo` on of a volume of this shape: sum of bits x (2 place + 1) modulo 2^64, so that checksums
    of parts add up to that of the whole; another value in any one cell changes it."""
    bits = values.view({4: np.uint32, 8: np.uint64}[values.dtype.itemsize])
    return int(_native.checksum(bits, [int(n) for n in shape], [int(n) for n in lo]))
