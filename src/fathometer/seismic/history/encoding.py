"""Encodings of snapshots: the wavefield history in fewer bytes, at the price of some error and time.

    float32 (or the wavefield's own type)   as they are: no encoding
    float16, int8    a scale for every 8^3 cells, at memory speed (native/core/blocks.hpp)
    zfp              fixed accuracy (Lindstrom 2014, IEEE TVCG 20(12)); library zfp
    wavelet          CDF 9/7 wavelets, bounded error of each cell (Li, Lindstrom & Clyne 2023, IPDPS); library SPERR

Tolerances of the last two are relative to the largest magnitude of a snapshot on a rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fathometer import _native
from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Index3
from fathometer.storage.scratch.stack import Bytes, padded

BLOCK = 8  # cells along each side, of what shares a scale
PIECE_PLANES = 32  # along x, of what a library encodes at a time
SAFE_POWER = 40  # numbers up to 2^40 and down to 2^-40 are encoded as they are
LENGTH = np.dtype(np.int64)
PLAIN = "float32"  # the name that stands for no encoding


class Encoding(Protocol):
    """Turns snapshots of one shape and type into records and back.

    Attributes:
        largest: bytes of a record, at most. fixed: all records have as many.
        beside: so slow that it pays to run beside the time steps.
    """

    largest: int
    fixed: bool
    beside: bool

    def encode(self, snapshot: np.ndarray, record: Bytes) -> int:
        """Write a snapshot (nx, ny, nz) into `record`, uint8 (`largest`,); the bytes used."""

    def decode(self, record: Bytes, snapshot: np.ndarray) -> None:
        """The reverse: from a record, uint8 (bytes used,), into `snapshot` (nx, ny, nz)."""


class Blocks:
    """int8 or float16 cells, with a scale for each block of 8^3."""

    fixed, beside = True, False

    def __init__(self, kind: str, shape: Index3) -> None:
        self._encode: Callable[..., None] = getattr(_native, f"encode_{kind}")
        self._decode: Callable[..., None] = getattr(_native, f"decode_{kind}")
        self._cell = np.dtype(np.int8 if kind == "int8" else np.uint16)
        self._shape = shape
        self._blocks = tuple(-(-n // BLOCK) for n in shape)
        self._scales_at = padded(math.prod(shape) * self._cell.itemsize)
        self.largest = self._scales_at + 4 * math.prod(self._blocks)

    def encode(self, snapshot: np.ndarray, record: Bytes) -> int:
        self._encode(snapshot, *self._parts(record))
        return self.largest

    def decode(self, record: Bytes, snapshot: np.ndarray) -> None:
        self._decode(*self._parts(record), snapshot)

    def _parts(self, record: Bytes) -> tuple[np.ndarray, np.ndarray]:
        cells = record[: math.prod(self._shape) * self._cell.itemsize].view(self._cell).reshape(self._shape)
        scales = record[self._scales_at : self.largest].view(np.float32).reshape(self._blocks)
        return cells, scales


class Pieces:
    """What a library encodes, some planes at a time: a power of two, the bound, the lengths of the pieces, the pieces.

    Libraries lose their bound for very small and very large numbers, so these are divided by the power of two.
    """

    fixed, beside = False, True

    def __init__(self, shape: Index3, dtype: np.dtype[Any], tolerance: float) -> None:
        self._tolerance, self._dtype = tolerance, dtype
        self._planes = [(lo, min(lo + PIECE_PLANES, shape[0])) for lo in range(0, shape[0], PIECE_PLANES)]
        self._head = LENGTH.itemsize * (2 + len(self._planes))
        self.largest = self._head + math.prod(shape) * dtype.itemsize

    def encode(self, snapshot: np.ndarray, record: Bytes) -> int:
        head, at = record[: self._head].view(LENGTH), self._head
        peak = float(max(snapshot.max(initial=0.0), -snapshot.min(initial=0.0)))
        _, power = math.frexp(peak)
        head[0] = power if abs(power) > SAFE_POWER else 0
        error = self._tolerance * math.ldexp(peak, -int(head[0]))
        head[1:2].view(np.float64)[0] = error
        for number, (lo, hi) in enumerate(self._planes, start=2):
            piece = np.squeeze(snapshot[lo:hi])
            if head[0]:
                piece = np.ldexp(piece, -int(head[0]))
            data = self._shrink(piece, error) if peak > 0 and piece.ndim else b""
            plain = peak > 0 and not 0 < len(data) < piece.nbytes
            if plain:  # what does not shrink is kept as it is
                data = piece.tobytes()
            record[at : at + len(data)] = np.frombuffer(data, np.uint8)
            head[number] = -len(data) if plain else len(data)
            at += len(data)
        return at

    def decode(self, record: Bytes, snapshot: np.ndarray) -> None:
        at, head = self._head, record[: self._head].view(LENGTH)
        error = float(head[1:2].view(np.float64)[0])
        for length, (lo, hi) in zip(head[2:], self._planes, strict=True):
            data = record[at : at + abs(length)]
            out = snapshot[lo:hi]
            if length == 0:
                out[...] = 0
            elif length < 0:
                out[...] = data.view(self._dtype).reshape(out.shape)
            else:
                out[...] = self._grow(data, np.squeeze(out).shape, error).reshape(out.shape)
            if head[0] and length:
                np.ldexp(out, int(head[0]), out=out)
            at += abs(length)

    def _shrink(self, piece: np.ndarray, error: float) -> bytes:
        raise NotImplementedError

    def _grow(self, data: Bytes, shape: tuple[int, ...], error: float) -> np.ndarray:
        raise NotImplementedError


class Filtered(Pieces):
    """zfp or SPERR with a bound on the error of every cell, through their HDF5 filters: a chunk of a file in memory."""

    def __init__(self, name: str, shape: Index3, dtype: np.dtype[Any], tolerance: float) -> None:
        try:
            import hdf5plugin
        except ImportError:
            raise InputError(
                f'encoding: "{name}" needs the Python package hdf5plugin: pip install "fathometer[formats]"'
            ) from None
        super().__init__(shape, dtype, tolerance)
        filters: dict[str, Callable[[float], Any]] = {
            "zfp": lambda error: hdf5plugin.Zfp(accuracy=error),
            # It counts axes from the fastest, unless told otherwise.
            "wavelet": lambda error: hdf5plugin.Sperr(absolute=error, swap=True),
        }
        self._filter = filters[name]

    def _shrink(self, piece: np.ndarray, error: float) -> bytes:
        with self._file() as file:
            dataset = self._dataset(file, piece.shape, error)
            dataset[...] = piece
            skipped, data = dataset.id.read_direct_chunk((0,) * piece.ndim)
            return b"" if skipped else bytes(data)

    def _grow(self, data: Bytes, shape: tuple[int, ...], error: float) -> np.ndarray:
        with self._file() as file:
            dataset = self._dataset(file, shape, error)
            dataset.id.write_direct_chunk((0,) * len(shape), data.tobytes())
            return np.asarray(dataset[...])

    def _file(self) -> Any:
        import h5py

        return h5py.File("snapshot", "w", driver="core", backing_store=False)

    def _dataset(self, file: Any, shape: tuple[int, ...], error: float) -> Any:
        return file.create_dataset("p", shape, self._dtype, chunks=shape, compression=self._filter(error))


_KINDS: Mapping[str, Callable[[Index3, np.dtype[Any], float], Encoding]] = MappingProxyType(
    {
        "float16": lambda shape, dtype, tolerance: Blocks("float16", shape),
        "int8": lambda shape, dtype, tolerance: Blocks("int8", shape),
        "zfp": partial(Filtered, "zfp"),
        "wavelet": partial(Filtered, "wavelet"),
    }
)


# Bytes of plain snapshots that a core encodes, or decodes, in a second: what is planned for.
SPEED = {"float16": 4e9, "int8": 6e9, "zfp": 5e8, "wavelet": 5e7}
# Bytes of a record over those of a plain snapshot, where that depends on the values: what is planned for.
EXPECTED = {"zfp": 0.15, "wavelet": 0.08}


def record_bytes(shape: Index3, dtype: np.dtype[Any]) -> dict[str, int]:
    """Bytes that a snapshot takes on a stack, by encoding; of zfp and wavelet what is expected."""
    plain = math.prod(shape) * dtype.itemsize
    fixed = {name: padded(Blocks(name, shape).largest) for name in ("float16", "int8")}
    return {PLAIN: padded(plain)} | fixed | {name: math.ceil(part * plain) for name, part in EXPECTED.items()}


def encoding_of(name: str, shape: Index3, dtype: np.dtype[Any], tolerance: float) -> Encoding | None:
    """The encoding of that name; None where snapshots are kept as they are. InputError where its library is missing."""
    return None if name == PLAIN else _KINDS[name](shape, dtype, tolerance)


def relative_errors(snapshot: NDArray[Any], decoded: NDArray[Any]) -> tuple[float, float]:
    """L2 error relative to the snapshot's norm, and largest error relative to its peak; 0 where it is all zero.

    snapshot, decoded: (nx, ny, nz).
    """
    peak = float(max(snapshot.max(initial=0.0), -snapshot.min(initial=0.0)))
    if peak == 0.0:
        return 0.0, 0.0
    norm = lost = largest = 0.0
    for plane, decoded_plane in zip(snapshot, decoded, strict=True):  # plane by plane: next to no memory
        scaled = plane.astype(np.float64) / peak  # squares of very small numbers are 0
        difference = decoded_plane / peak - scaled
        norm, lost = norm + float(np.vdot(scaled, scaled)), lost + float(np.vdot(difference, difference))
        largest = max(largest, float(np.abs(difference).max(initial=0.0)))
    return math.sqrt(lost / norm), largest
