"""The header of a NetCDF file of the classic kinds, CDF-1, 2 and 5, read without a library.

So that files of every kind are read on every machine, each rank its own bytes, and a damaged header ends in one line.
File Format Specification, https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fathometer.base.errors import InputError
from fathometer.storage.reading import readable, reading

DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12  # tags of lists
TYPES = {1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8", 7: "u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
MOST_DIMENSIONS = 1024
# NC_FILL_SHORT, ..., NC_FILL_DOUBLE, by type: what the libraries put where nothing was written, as every tool knows.
DEFAULT_FILLS = {
    "i2": -32767.0,
    "u2": 65535.0,
    "i4": -2147483647.0,
    "u4": 4294967295.0,
    "i8": -9223372036854775806.0,
    "u8": 18446744073709551614.0,
    "f4": 15.0 * 2.0**119,
    "f8": 15.0 * 2.0**119,
}


@dataclass(frozen=True)
class StoredVariable:
    """Where a variable's values lie.

    Attributes:
        shape: with the number of records, where `record`, first. dtype: in the file. start: its first byte.
        stride: bytes from a record to the next, 0 where it has none.
    """

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]
    start: int
    stride: int = 0

    @property
    def end(self) -> int:
        """The byte after its last one."""
        if 0 in self.shape:
            return self.start
        if not self.stride:
            return self.start + math.prod(self.shape) * self.dtype.itemsize
        return self.start + (self.shape[0] - 1) * self.stride + math.prod(self.shape[1:]) * self.dtype.itemsize


@dataclass(frozen=True)
class Header:
    """A file's dimensions, attributes and variables by name; version: 1, 2 or 5."""

    version: int
    dimensions: Mapping[str, int]
    attributes: Mapping[str, Any]
    variables: Mapping[str, StoredVariable]


def header_of(path: Path) -> Header:
    """The header of a file; InputError where it is none, is damaged, or the file ends before its values do."""
    size = readable(path).stat().st_size
    with reading(path), path.open("rb") as file:
        magic = file.read(8)
        if magic == HDF5_MAGIC:
            raise InputError(f"{path}: is NetCDF-4, which is HDF5 (allowed: the classic kinds, by nccopy -k cdf5)")
        if len(magic) < 4 or magic[:3] != b"CDF" or magic[3] not in (1, 2, 5):
            raise InputError(f"{path}: is not a NetCDF file of the classic kinds")
        file.seek(4)
        header = _Reader(path, file, size, magic[3]).header()
    for variable in header.variables.values():
        if not variable.start > 0 or variable.end > size:
            raise InputError(f"{path}: is truncated: {size} bytes, its values of {variable.name} end at {variable.end}")
    return header


class _Reader:
    """Reads a header's parts, one after the other."""

    def __init__(self, path: Path, file: BinaryIO, size: int, version: int) -> None:
        self._path, self._file, self._size, self._version = path, file, size, version

    def header(self) -> Header:
        records = self._count()
        names, lengths = [], []
        for _ in range(self._list(DIMENSIONS)):
            names.append(self._name())
            lengths.append(self._count())
        attributes = self._attributes()
        found = [self._variable(names, lengths) for _ in range(self._list(VARIABLES))]
        record = lengths.index(0) if 0 in lengths else -1
        of_records = [bool(numbers) and numbers[0] == record for _, numbers, *_ in found]
        sizes = [
            math.prod(lengths[n] for n in numbers[of:]) * kind.itemsize
            for (_, numbers, _, kind, _), of in zip(found, of_records, strict=True)
        ]
        padded = [-(-size // 4) * 4 for size, of in zip(sizes, of_records, strict=True) if of]
        # A single variable of records is not padded.
        stride = sum(padded) if len(padded) != 1 else sizes[of_records.index(True)]
        if records == (1 << (64 if self._version == 5 else 32)) - 1:  # written as a stream: as many as there are
            starts = [start for (*_, start), of in zip(found, of_records, strict=True) if of]
            padding = 3 if len(padded) > 1 else 0  # which may be missing at the end of the file
            records = max(0, self._size + padding - min(starts)) // stride if stride else 0
        variables = {}
        for (name, numbers, own, kind, start), of in zip(found, of_records, strict=True):
            if record in numbers[1:]:
                raise self._damaged("a dimension without a length is not the first")
            shape = tuple(records if n == record else lengths[n] for n in numbers)
            variables[name] = StoredVariable(
                name, tuple(names[n] for n in numbers), shape, kind, own, start, stride if of else 0
            )
        dimensions = {name: length or records for name, length in zip(names, lengths, strict=True)}
        return Header(self._version, dimensions, attributes, variables)

    def _variable(
        self, names: list[str], lengths: list[int]
    ) -> tuple[str, list[int], dict[str, Any], np.dtype[Any], int]:
        name, count = self._name(), self._count()
        if count > MOST_DIMENSIONS:
            raise self._damaged(f"{name} has {count} dimensions")
        numbers = [self._count() for _ in range(count)]
        if any(number >= len(names) for number in numbers):
            raise self._damaged(f"{name} has a dimension that there is not")
        attributes = self._attributes()
        kind = self._type()
        self._count()  # of bytes, which follows from the shape, and does not fit for large ones
        return name, numbers, attributes, kind, self._integer(4 if self._version == 1 else 8)

    def _attributes(self) -> dict[str, Any]:
        """Text, a number, or an array of numbers, by name."""
        found: dict[str, Any] = {}
        for _ in range(self._list(ATTRIBUTES)):
            name, kind, count = self._name(), self._type(), self._count()
            data = self._padded(count * kind.itemsize)
            if kind == np.dtype("S1"):
                found[name] = data.decode("utf-8", "replace").rstrip("\0")
            else:
                values = np.frombuffer(data, kind).astype(kind.newbyteorder("="))
                found[name] = values[0].item() if count == 1 else values
        return found

    def _list(self, tag: int) -> int:
        """Length of a list of a kind, which may be absent."""
        found, count = self._integer(4), self._count()
        if (found, count) != (0, 0) and found != tag:
            raise self._damaged(f"tag {found} instead of {tag}")
        return count

    def _type(self) -> np.dtype[Any]:
        number = self._integer(4)
        if number not in TYPES or (number > 6 and self._version != 5):
            raise self._damaged(f"a type {number}")
        return np.dtype(TYPES[number])

    def _name(self) -> str:
        return self._padded(self._count()).decode("utf-8", "replace")

    def _padded(self, length: int) -> bytes:
        return self._bytes(-(-length // 4) * 4)[:length]

    def _count(self) -> int:
        return self._integer(8 if self._version == 5 else 4)

    def _integer(self, width: int) -> int:
        return int.from_bytes(self._bytes(width), "big")

    def _bytes(self, length: int) -> bytes:
        data = self._file.read(length) if length <= self._size else b""
        if len(data) < length:
            raise self._damaged("it ends within the header")
        return data

    def _damaged(self, what: str) -> InputError:
        return InputError(f"{self._path}: is damaged: {what}")
