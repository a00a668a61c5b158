"""Boxes of a NetCDF file's variables, read by each rank for itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.volumes.boxes import extent, runs
from fathometer.storage.volumes.formats.netcdf_header import StoredVariable, header_of


class DatasetFile:
    """A NetCDF file of the classic kinds, open for one rank; a context manager, which closes.

    Attributes:
        path, header: its name and what is in it.

    Raises InputError: no such file, not NetCDF, damaged, truncated.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.header = path, header_of(path)
        with reading(path):
            self._handle = os.open(path, os.O_RDONLY)

    def variable(self, name: str, shape: Sequence[int] | None = None) -> StoredVariable:
        """A variable; InputError where there is none of this name, or it has not this shape."""
        found = self.header.variables.get(name)
        if found is None:
            there = self.header.variables
            raise InputError(
                f"{self.path}: has no variable {name} (there are: {', '.join(there)}){did_you_mean(name, there)}"
            )
        if shape is not None and found.shape != tuple(shape):
            raise InputError(f"{self.path}:{name}: has the shape {found.shape}, not {tuple(shape)}")
        return found

    def read(self, name: str, lo: Sequence[int] | None = None, hi: Sequence[int] | None = None) -> npt.NDArray[Any]:
        """The values of a box [lo, hi) of a variable, or of all of it, in its type and this machine's byte order.

        InputError: no such variable, a box that does not lie in it, a file that has become shorter.
        """
        stored = self.variable(name)
        low = (0,) * len(stored.shape) if lo is None else tuple(lo)
        high = stored.shape if hi is None else tuple(hi)
        inside = len(low) == len(high) == len(stored.shape) and all(
            0 <= a <= b <= n for a, b, n in zip(low, high, stored.shape, strict=True)
        )
        if not inside:
            raise InputError(f"{self.path}:{name}: no box from {low} to {high} in the shape {stored.shape}")
        block = np.empty(extent((low, high)), stored.dtype)
        if block.size:
            with reading(self.path), ledger.io(bytes=block.nbytes):
                if stored.stride:
                    for number, part in zip(range(low[0], high[0]), block, strict=True):
                        self._fill(part, stored.shape[1:], low[1:], stored.start + number * stored.stride)
                else:
                    self._fill(block, stored.shape, low, stored.start)
        return block.astype(stored.dtype.newbyteorder("="), copy=False)

    def around(self) -> Iterator[bytes]:
        """The bytes of the file that are no values, in their order: the header, and what lies between variables."""
        begin, size = 0, os.fstat(self._handle).st_size
        places = sorted((one.start, one.end) for one in self.header.variables.values())
        for start, end in (*places, (size, size)):
            gap = bytearray(max(0, start - begin))
            with reading(self.path), ledger.io(bytes=len(gap)):
                atomic.read_at(self._handle, memoryview(gap), begin)
            yield bytes(gap)
            begin = max(begin, end)

    def attribute(self, name: str, key: str) -> Any:
        """An attribute of a variable, None where it has none of this name."""
        return self.variable(name).attributes.get(key)

    def _fill(self, block: npt.NDArray[Any], shape: Sequence[int], lo: Sequence[int], start: int) -> None:
        """Read a box of an array that begins at a byte of the file, into a contiguous block."""
        item, data = block.dtype.itemsize, atomic.octets(block)
        pieces: Iterable[tuple[int, int, int]] = runs(shape, block.shape, lo) if shape else [(0, 0, 1)]
        for first, cell, count in pieces:
            piece = data[first * item : (first + count) * item]
            if atomic.read_at(self._handle, piece, start + cell * item) < len(piece):
                raise InputError(f"{self.path}: is truncated")

    def close(self) -> None:
        """Close the file."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
