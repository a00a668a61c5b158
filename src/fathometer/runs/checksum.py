"""Additive checksums of volumes: the sum of those of the parts is that of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fathometer import _native

MODULUS = 1 << 64


def checksum(values: np.ndarray, shape: Sequence[int] | np.ndarray, lo: Sequence[int] | np.ndarray) -> int:
    """Checksum of a part of a volume: the sum of bits x (2 index + 1) modulo 2^64 over its cells.

    A change of a single cell always changes it. Checksums of parts add up, modulo 2^64, to that of the volume.

    Args:
        values: the part, (nx, ny, nz), float32 or float64. shape: of the volume. lo: index of the part's first cell.
    """
    bits = values.view({4: np.uint32, 8: np.uint64}[values.dtype.itemsize])
    return int(_native.checksum(bits, [int(n) for n in shape], [int(n) for n in lo]))
