"""Seal of an index: a CRC-32 of the whole file, in its own metadata, so that no library decodes damaged bytes.

The eight digits stand in the footer; for the sum they are zeros.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fathometer.base.errors import InputError

KEY = b"fathometer.crc32"
EMPTY = b"crc32:00000000"
_PATTERN = re.compile(re.escape(KEY) + b".{1,3}?crc32:(.{8})", re.DOTALL)  # between them a field's head
_TAIL = 8  # bytes behind the footer: its length and PAR1
_PIECE = 1 << 20


def seal(path: Path) -> None:
    """Write the sum into a finished file whose metadata holds KEY: EMPTY."""
    with path.open("r+b") as file:
        place = _place(file)
        if place is not None:
            digits = b"%08x" % _sum(file, place)
            file.seek(place)
            file.write(digits)


def sealed(path: Path) -> bool:
    """Whether a file has a seal. InputError where the file is damaged: the seal is not that of its bytes."""
    with path.open("rb") as file:
        place = _place(file)
        if place is None:
            return False
        file.seek(place)
        found, expected = file.read(len(EMPTY) - EMPTY.index(b":") - 1), b"%08x" % _sum(file, place)
        if found == b"00000000" != expected:
            return False
    if found != expected:
        was = found.decode(errors="backslashreplace")
        raise InputError(
            f"{path}: is damaged: its CRC-32 is {expected.decode()}, and was {was} when it was written; "
            "run `fathometer survey build` again"
        )
    return True


def _place(file: IO[bytes]) -> int | None:
    """Offset of the eight digits; None where there are none."""
    size = file.seek(0, 2)
    if size < 2 * _TAIL:
        return None
    file.seek(size - _TAIL)
    length = int.from_bytes(file.read(4), "little")
    start = max(0, size - _TAIL - length)
    file.seek(start)
    found = _PATTERN.search(file.read(size - start))
    return start + found.start(1) if found else None


def _sum(file: IO[bytes], place: int) -> int:
    sum_ = 0
    for piece, begin in _pieces(file):
        first, last = max(place - begin, 0), min(max(place + 8 - begin, 0), len(piece))
        if first < last:
            piece = piece[:first] + b"0" * (last - first) + piece[last:]
        sum_ = zlib.crc32(piece, sum_)
    return sum_


def _pieces(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    file.seek(0)
    begin = 0
    while piece := file.read(_PIECE):
        yield piece, begin
        begin += len(piece)
