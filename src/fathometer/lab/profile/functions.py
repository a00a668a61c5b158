"""The functions that a profile counts, from the table that the library is generated from."""

from __future__ import annotations

import tomllib
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parents[2] / "native" / "profile" / "functions.toml"
OUTSIDE = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")  # begin and end of MPI, no part of what it is used for


@dataclass(frozen=True)
class Function:
    """kind: a group of the table, such as "collective". sends, takes: whether a call has bytes of this direction."""

    name: str
    kind: str
    sends: bool
    takes: bool


@cache
def functions() -> tuple[Function, ...]:
    """All functions by their numbers, cached in the process; MPI_Name_c, of large counts, follows MPI_Name."""
    found = []
    for name, entry in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        for each in (name, f"{name}_c") if "large" in entry else (name,):
            found.append(Function(each, entry["kind"], "out" in entry, "in" in entry))
    return tuple(found)


def checksum() -> int:
    """Of the names, as the library has it: the same where both have one table."""
    return zlib.crc32(" ".join(function.name for function in functions()).encode())
