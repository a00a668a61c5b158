"""Reads Tecplot files as they are written here (layout.py): of ordered zones, all variables at nodes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Index3
from fathometer.storage.reading import decoding, reading
from fathometer.storage.tecplot.layout import END_OF_HEAD, MAGIC, TYPES, ZONE

LONGEST_TEXT = 1 << 24  # characters


@dataclass(frozen=True)
class FoundZone:
    """A zone: its name, time (s) and nodes along i, j and k."""

    name: str
    time: float
    nodes: Index3


class TecplotFile:
    """A file whose head has been read.

    Attributes:
        title, variables, zones: what the head says. head_bytes: of it.

    Raises InputError for a file that is none of these, and for one that ends early.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path), decoding(path, "is no Tecplot file of ordered zones"), path.open("rb") as file:
            if file.read(8) != MAGIC:
                raise ValueError("begins in another way")
            order, kind = self._integers(file, 2)
            if (order, kind) != (1, 0):
                raise ValueError("byte order or kind")
            self.title = self._text(file).rstrip(" ")
            (count,) = self._integers(file, 1)
            self.variables = tuple(self._text(file) for _ in range(count))
            self.zones: list[FoundZone] = []
            while (mark := self._float(file)) == ZONE:
                self.zones.append(self._zone(file))
            if mark != END_OF_HEAD:
                raise ValueError("mark")
            self._starts: list[tuple[int, np.dtype[np.generic]]] = []
            at = self.head_bytes = file.tell()
            for zone in self.zones:
                file.seek(at)
                if self._float(file) != ZONE:
                    raise ValueError("mark of a zone")
                kinds = set(self._integers(file, count))
                found = [name for name, number in TYPES.items() if {number} == kinds]
                if not found or self._integers(file, 3) != (0, 0, -1):
                    raise ValueError("types or sharing")
                dtype = np.dtype(found[0]).newbyteorder("<")
                begin = file.tell() + 16 * count
                self._starts.append((begin, dtype))
                at = begin + count * int(np.prod(zone.nodes, dtype=np.int64)) * dtype.itemsize
            if path.stat().st_size < at:
                raise InputError(f"{path}: found {path.stat().st_size} bytes; needed: {at}, as its head says")

    def read(self, zone: int, variable: str) -> npt.NDArray[np.float64]:
        """The values of a variable in a zone, [k, j, i]."""
        number, (start, dtype) = self.variables.index(variable), self._starts[zone]
        nodes = self.zones[zone].nodes
        count = int(np.prod(nodes, dtype=np.int64))
        with reading(self.path):
            values = np.fromfile(self.path, dtype, count, offset=start + number * count * dtype.itemsize)
        return np.asarray(values.reshape(nodes[::-1]), np.float64)

    def section(self, zone: int, variable: str, j: int) -> npt.NDArray[np.float64]:
        """The values of a variable at one j, [k, i]: nothing else is read."""
        number, (start, dtype) = self.variables.index(variable), self._starts[zone]
        ni, nj, nk = self.zones[zone].nodes
        rows = np.empty((nk, ni), dtype)
        with reading(self.path), self.path.open("rb") as file:
            for k in range(nk):
                file.seek(start + (((number * nk + k) * nj) + j) * ni * dtype.itemsize)
                rows[k] = np.fromfile(file, dtype, ni)
        return np.asarray(rows, np.float64)

    @staticmethod
    def _integers(file: BinaryIO, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", file.read(4 * count))

    @staticmethod
    def _float(file: BinaryIO) -> float:
        (value,) = struct.unpack("<f", file.read(4))
        return float(value)

    def _text(self, file: BinaryIO) -> str:
        codes = []
        while code := self._integers(file, 1)[0]:
            codes.append(code)
            if len(codes) > LONGEST_TEXT:
                raise ValueError("a text without end")
        return bytes(codes).decode("ascii")

    def _zone(self, file: BinaryIO) -> FoundZone:
        name = self._text(file)
        self._integers(file, 2)
        (time,) = struct.unpack("<d", file.read(8))
        _, kind, *located, i, j, k, more = self._integers(file, 9)
        if kind != 0 or any(located) or more or min(i, j, k) < 1:
            raise ValueError("kind of a zone")
        return FoundZone(name, float(time), (i, j, k))
