"""Messages as Open MPI's own monitoring counts them (its component pml_monitoring), without any preloading.

It tells messages, bytes and sizes by pairs of ranks, but no functions and no times; persistent requests that are
started again are not in its matrix (seen with 4.1.4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import mode
from typing import Any

from fathometer.base.errors import InputError
from fathometer.lab.profile.jobs import Damaged
from fathometer.storage.reading import readable, reading

STEM, SUFFIX = "monitoring", ".prof"
# Lines of a file: kind, own rank, other rank, bytes, messages; and the sizes of all messages, internal ones included.
_PAIR = re.compile(r"([EISRC])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent(?:\t([\d,]+))?$")
_TOTAL = re.compile(r"(D\t|O2A\t|A2O\t|A2A\t|#)")
NAME = re.compile(rf"{STEM}\.(\d+){re.escape(SUFFIX)}")  # with the rank
_FIRST, _WORLD, _LAST = "# POINT TO POINT", "D\tMPI_COMM_WORLD\tprocs: ", "A2A\t"  # lines
_MATRICES = {"E": "messages", "S": "puts", "R": "gets"}  # I, C: of the library itself, for collective calls

Row = tuple[str, int, int, int, int, list[int]]


def variables(folder: Path) -> dict[str, str]:
    """Variables that make Open MPI write a file for each rank into `folder`."""
    return {
        "OMPI_MCA_pml": "^ucx,cm",  # it listens to what passes through the others
        "OMPI_MCA_pml_monitoring_enable": "2",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(folder.absolute() / STEM),
    }


def results_in(folder: Path, wall_seconds: float) -> tuple[dict[str, Any] | None, list[Damaged]]:
    """The results of a record from the files in a folder, None where none can be read; and the files that cannot.
    Seconds are those of the command."""
    paths = {int(found[1]): path for path in folder.iterdir() if (found := NAME.fullmatch(path.name))}
    rows: dict[int, list[Row]] = {}
    sizes: dict[int, int] = {}  # of the world, by rank
    damaged = []
    for rank in sorted(paths):
        try:
            rows[rank], sizes[rank] = _rows(paths[rank], rank)
        except InputError as error:
            damaged.append(Damaged(paths[rank], str(error).removeprefix(f"{paths[rank]}").lstrip(":, ")))
    if not rows:
        return None, damaged
    size = mode(sizes.values())
    for rank in [rank for rank in rows if sizes[rank] != size]:
        damaged.append(Damaged(paths[rank], f"is of another run, with {sizes[rank]} ranks"))
        del rows[rank]
    return _results(rows, size, wall_seconds), damaged


def _results(rows_of: Mapping[int, list[Row]], size: int, wall_seconds: float) -> dict[str, Any]:
    """rows_of: by rank."""
    rows = [row for own in rows_of.values() for row in own]
    matrix = {
        name: {
            "rank": [row[1] for row in rows if row[0] == letter],
            "peer": [row[2] for row in rows if row[0] == letter],
            "bytes": [row[3] for row in rows if row[0] == letter],
            "messages": [row[4] for row in rows if row[0] == letter],
        }
        for letter, name in _MATRICES.items()
    }
    return {
        "profiler": "ompi",
        "program": "",
        "mpi": "Open MPI",
        "size": size,
        "hosts": [],
        "thread_level": "",
        "options": [],
        "wall_seconds": wall_seconds,
        "ranks": [_rank(rank, rows, wall_seconds) for rank in rows_of],
        "functions": [],
        "sizes": _sizes(rows),
        "communicators": [],
        "sites": [],
        "files": [],
        "matrix": matrix,
        "windows": None,
    }


def _rows(path: Path, rank: int) -> tuple[list[Row], int]:
    """Rows of a file, and ranks of its world. Raises InputError for one that is none of this rank, or damaged."""
    with reading(readable(path)):
        text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    if not text:
        raise InputError(f"{path}: is empty")
    if lines[0] != _FIRST:
        raise InputError(f"{path}: is no file of Open MPI's monitoring")
    if not (lines[-1].startswith(_LAST) and text.endswith("sent\n")):
        raise InputError(f"{path}: is cut short")
    size = max((line.count(",") + 1 for line in lines if line.startswith(_WORLD)), default=0)
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        if found := _PAIR.match(line):
            letter, own, other, length, messages, sizes = found.groups()
            counts = [int(word) for word in sizes.split(",")] if sizes else []
            if int(own) != rank or int(other) >= size:
                raise InputError(f"{path}, line {number}: is damaged: ranks {own} and {other} of {size}")
            rows.append((letter, rank, int(other), int(length), int(messages), counts))
        elif line and not _TOTAL.match(line):
            raise InputError(f"{path}, line {number}: is damaged: {line[:60]!r}")
    return rows, size


def _rank(rank: int, rows: list[Row], wall_seconds: float) -> dict[str, Any]:
    sent = [row for row in rows if row[1] == rank and row[0] == "E"]
    library = [row for row in rows if row[1] == rank and row[0] == "I"]
    return {
        "rank": rank,
        "host": "",
        "end": "finalized",
        "wall_seconds": wall_seconds,
        "mpi_seconds": None,
        "user_seconds": None,
        "messages": sum(row[4] for row in sent),
        "message_bytes": sum(row[3] for row in sent),
        "bytes_out": sum(row[3] for row in (*sent, *library)),
        "bytes_in": None,
        "dropped": 0,
        "system": None,
    }


def _sizes(rows: list[Row]) -> list[dict[str, Any]]:
    """Messages by size: its first count is that of messages without bytes, then from 1 B, 2 B, 4 B, …"""
    counts = [row[5] for row in rows if row[5]]
    totals = [sum(column) for column in zip(*counts, strict=False)] if counts else []
    return [
        {
            "name": "messages",
            "kind": "point-to-point",
            "least_bytes": 2 ** (place - 1),
            "calls": total,
            "seconds": None,
            "bytes": None,
        }
        for place, total in enumerate(totals)
        if place and total
    ]
