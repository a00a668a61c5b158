"""The layout of a Tecplot binary file, version 112: ordered zones whose values stand at nodes, in blocks.

    head      "#!TDV112", byte order, kind of file, title, names of the variables; then each zone's name, time and
              numbers of nodes; an end mark
    zones     for each of them: types of the variables, least and largest value of each, then the values of one variable
              after the other, i fastest

All integers and floats are little-endian, of 32 bits, times and extremes floats of 64; a character of a text takes an
integer, and a 0 ends the text. The layout is that of the appendix "Binary Data File Format" of Tecplot's Data Format
Guide.

All heads of zones come before all values. Where zones are added later, the head has place for them from the beginning:
the title is filled up with spaces instead of the zones that are not there yet.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Index3
from fathometer.storage.reading import reading

MAGIC = b"#!TDV112"
ZONE, END_OF_HEAD = 299.0, 357.0  # marks
TYPES = {"float32": 1, "float64": 2}
STRAND = 1  # of all zones: they are one thing at several times
LONGEST_NAME = 128  # characters
NAME_PLACE = 24  # characters of a zone's name for which there is place
CHARACTER = 4  # bytes
MOST_NODES = 2**31 - 1  # along an axis

# A value of the head: a kind of `struct`, and the value.
Element = tuple[str, int | float | bytes]


@dataclass(frozen=True)
class Zone:
    """A zone's name and time, s."""

    name: str
    time: float


@dataclass(frozen=True)
class TecplotLayout:
    """What a file of zones on one grid holds.

    Attributes:
        title: of the file. variables: their names. nodes: along i, j and k, i fastest. dtype: float32 or float64.
        head_bytes: of the head, whatever zones are there; `of` counts them.

    Raises InputError for a name that Tecplot cannot hold, and for numbers beyond its integers.
    """

    title: str
    variables: tuple[str, ...]
    nodes: Index3
    dtype: str
    head_bytes: int

    @staticmethod
    def of(title: str, variables: Sequence[str], nodes: Index3, dtype: str, zones: int) -> TecplotLayout:
        """With place for so many zones, whose names have up to NAME_PLACE characters."""
        layout = TecplotLayout(title, tuple(variables), nodes, dtype, 0)
        zone = size_of(_zone_head(Zone("t" * NAME_PLACE, 0.0), nodes))
        return replace(layout, head_bytes=size_of(layout._elements(title, ())) + zones * zone)

    def __post_init__(self) -> None:
        for name in (self.title, *self.variables):
            check_name(name)
        for one in self.variables:
            if self.variables.count(one) > 1:
                raise InputError(f'variable of a Tecplot file: found "{one}" twice; allowed: once')
        for axis, n in zip("IJK", self.nodes, strict=True):
            if not 1 <= n <= MOST_NODES:
                raise InputError(f"{axis} of a Tecplot zone: found {n} nodes; allowed: 1 to {MOST_NODES}")

    @property
    def itemsize(self) -> int:
        """Bytes of a value."""
        return np.dtype(self.dtype).itemsize

    def head(self, zones: Sequence[Zone]) -> list[Element]:
        """The head while these zones are there: value by value. Raises InputError where there is no place for them."""
        missing = self.head_bytes - size_of(self._elements(self.title, zones))
        if missing < 0:
            raise InputError(f"a Tecplot file has no place for {len(zones)} zones; allowed: fewer, or a file for each")
        return self._elements(self.title + " " * (missing // CHARACTER), zones)

    def _elements(self, title: str, zones: Sequence[Zone]) -> list[Element]:
        elements: list[Element] = [("8s", MAGIC), ("i", 1), ("i", 0), *_text(title)]
        elements.append(("i", len(self.variables)))
        for name in self.variables:
            elements += _text(name)
        for zone in zones:
            elements += _zone_head(zone, self.nodes)
        return [*elements, ("f", END_OF_HEAD)]

    def zone_head(self, extremes: Sequence[tuple[float, float]]) -> list[Element]:
        """What stands before a zone's values; extremes: least and largest value of each variable."""
        elements: list[Element] = [("f", ZONE), *(("i", TYPES[self.dtype]) for _ in self.variables)]
        elements += [("i", 0), ("i", 0), ("i", -1)]  # no passive variables, none shared, no connectivity shared
        return elements + [("d", value) for pair in extremes for value in pair]

    @property
    def zone_head_bytes(self) -> int:
        """Of what stands before a zone's values."""
        return 4 + 4 * len(self.variables) + 12 + 16 * len(self.variables)

    @property
    def variable_bytes(self) -> int:
        """Of a variable's values in a zone."""
        return self.nodes[0] * self.nodes[1] * self.nodes[2] * self.itemsize

    def zone_start(self, zone: int) -> int:
        """First byte of what stands before a zone's values."""
        return self.head_bytes + zone * (self.zone_head_bytes + len(self.variables) * self.variable_bytes)

    def values_start(self, zone: int, variable: int) -> int:
        """First byte of a variable's values in a zone."""
        return self.zone_start(zone) + self.zone_head_bytes + variable * self.variable_bytes

    def holds(self, path: Path, count: int) -> bool:
        """Whether a file has so many zones, which all begin where they should, whatever its head says."""
        kinds = [TYPES[self.dtype]] * len(self.variables)
        expected = struct.pack(f"<f{len(kinds)}i", ZONE, *kinds)
        with reading(path), path.open("rb") as file:
            for zone in range(count):
                file.seek(self.zone_start(zone))
                if file.read(len(expected)) != expected:
                    return False
            return path.stat().st_size >= self.bytes(count)

    def bytes(self, there: int) -> int:
        """Of a file with so many zones."""
        return self.zone_start(there)


def check_name(name: str) -> None:
    """Raises InputError where Tecplot cannot hold a name."""
    if not name or len(name) > LONGEST_NAME or not name.isascii() or not name.isprintable() or '"' in name:
        raise InputError(
            f"name in a Tecplot file: found {name!r}; allowed: 1 to {LONGEST_NAME} printable ASCII characters without "
            "quotation marks"
        )


def _text(text: str) -> list[Element]:
    return [("i", code) for code in (*text.encode("ascii"), 0)]


def _zone_head(zone: Zone, nodes: Index3) -> list[Element]:
    """The zone's entry in the head: no parent; strand and time; no colour of its own; ordered; values at nodes; no
    neighbours of faces, neither of Tecplot's nor of the user's; nodes; nothing beside it."""
    return [
        ("f", ZONE),
        *_text(zone.name),
        ("i", -1),
        ("i", STRAND),
        ("d", zone.time),
        *(("i", value) for value in (-1, 0, 0, 0, 0, *nodes, 0)),
    ]


def size_of(elements: Sequence[Element]) -> int:
    """Bytes of elements."""
    return sum(struct.calcsize("<" + kind) for kind, _ in elements)


def packed(elements: Sequence[Element]) -> list[bytes]:
    """The bytes of each element."""
    return [struct.pack("<" + kind, value) for kind, value in elements]
