"""Sample formats of SEG-Y, and conversion of IBM floats and 24-bit integers, signed and unsigned."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.traces.headers import Order

IBM, INT24, UINT24 = 1, 7, 15

# By code: NumPy type of one sample as stored in the file, and a description.
SAMPLE_FORMATS = MappingProxyType(
    {
        1: ("u4", "4-byte IBM float"),
        2: ("i4", "4-byte integer"),
        3: ("i2", "2-byte integer"),
        5: ("f4", "4-byte IEEE float"),
        6: ("f8", "8-byte IEEE float"),
        7: ("V3", "3-byte integer"),
        8: ("i1", "1-byte integer"),
        9: ("i8", "8-byte integer"),
        10: ("u4", "4-byte unsigned integer"),
        11: ("u2", "2-byte unsigned integer"),
        12: ("u8", "8-byte unsigned integer"),
        15: ("V3", "3-byte unsigned integer"),
        16: ("u1", "1-byte unsigned integer"),
    }
)


def sample_type(code: int, order: Order) -> np.dtype[Any]:
    """NumPy type of one sample as stored in the file, by format code and byte order."""
    return np.dtype(SAMPLE_FORMATS[code][0]).newbyteorder(order)


def decode_samples(raw: NDArray[np.uint8], code: int, order: Order) -> NDArray[Any]:
    """Samples (traces, samples) as real numbers in native byte order, from stored bytes (traces, bytes of samples)."""
    raw, stored = np.ascontiguousarray(raw), sample_type(code, order)
    if code == IBM:
        return from_ibm(raw.view(stored).astype(np.uint32))
    if code in (INT24, UINT24):
        return from_int24(raw, order, signed=code == INT24)
    values = raw.view(stored)
    return values.astype(values.dtype.newbyteorder("="))


def from_ibm(words: NDArray[np.uint32]) -> NDArray[np.float32]:
    """float32 of IBM System/360 floats: sign, 7 bits of exponent to the base 16 (excess 64), 24 bits of fraction.

    Exact within the range of float32; infinity beyond it.
    """
    fraction = (words & 0x00FFFFFF).astype(np.float32)
    exponent = 4 * (((words >> 24) & 0x7F).astype(np.int32) - 64) - 24
    magnitude = np.ldexp(fraction, exponent)
    return np.where(words >> 31, -magnitude, magnitude)


def from_int24(raw: NDArray[np.uint8], order: Order, signed: bool) -> NDArray[np.int32]:
    """int32 (traces, samples) of 3-byte integers, two's complement or unsigned, bytes (traces, 3 * samples)."""
    samples = raw.shape[1] // 3
    wide = np.zeros((len(raw), samples, 4), np.uint8)
    # Into the upper three bytes, little-endian, so that the shift of a signed word extends the sign.
    wide[:, :, 1:] = raw.reshape(len(raw), samples, 3)[:, :, :: 1 if order == "<" else -1]
    words = wide.view("<i4" if signed else "<u4")[:, :, 0]
    return np.asarray((words >> 8).astype(np.int32))
