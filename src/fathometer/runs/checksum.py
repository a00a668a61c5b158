"""Additive checksums of volumes: the sum of those of the parts is that of the whole; and of the bytes around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fathometer import _native
from fathometer.storage.fingerprint import hash_of_all

MODULUS = 1 << 64


def checksum(values: np.ndarray, shape: Sequence[int] | np.ndarray, lo: Sequence[int] | np.ndarray) -> int:
    """Checksum of a part of a volume: the sum modulo 2^64 over its cells of a mix of bits and index.

    In the mix (the finalizer of splitmix64) each bit depends on all others, so that changes, of one cell or of many, go
    unseen with a probability of 2^-64. A cell whose bits are all 0 adds 0. Checksums of parts add up, modulo 2^64, to
    that of the volume.

    Args:
        values: the part, of up to three axes, contiguous along the last, float32 or float64. shape: of the volume.
        lo: index of the part's first cell.
    """
    bits = values.view({4: np.uint32, 8: np.uint64}[values.dtype.itemsize])
    more = 3 - values.ndim
    whole, first = ([before] * more + [int(n) for n in given] for before, given in ((1, shape), (0, lo)))
    return int(_native.checksum(bits[(None,) * more], whole, first))


def checksum_of_bytes(data: Iterable[bytes | memoryview]) -> int:
    """A checksum of some bytes, one after the other, as a number like those of volumes: it adds up with zeros."""
    return int(hash_of_all(data)[:16], 16)
