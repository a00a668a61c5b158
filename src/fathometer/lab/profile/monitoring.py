"""Messages as Open MPI's own monitoring counts them (its component pml_monitoring), without any preloading.

It tells messages, bytes and sizes by pairs of ranks, but no functions and no times; persistent requests that are
started again are not in its matrix (seen with 4.1.4).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.storage.reading import reading

STEM, SUFFIX = "monitoring", ".prof"
# Lines of a file: kind, own rank, other rank, bytes, messages; and the sizes of all messages, internal ones included.
_PAIR = re.compile(r"([EISRC])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent(?:\t([\d,]+))?$")
_TOTAL = re.compile(r"(D\t|O2A\t|A2O\t|A2A\t|#)")
_MATRICES = {"E": "messages", "S": "puts", "R": "gets"}  # I, C: of the library itself, for collective calls


def variables(folder: Path) -> dict[str, str]:
    """Variables that make Open MPI write a file for each rank into `folder`."""
    return {
        "OMPI_MCA_pml": "^ucx,cm",  # it listens to what passes through the others
        "OMPI_MCA_pml_monitoring_enable": "2",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(folder.absolute() / STEM),
    }


def results_in(folder: Path, wall_seconds: float) -> dict[str, Any] | None:
    """The results of a record from the files in a folder; None where there are none. Seconds are those of the command.

    Raises InputError for a file that is none of these, naming its line.
    """
    paths = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: int(re.sub(r"\D", "", path.suffixes[0]) or 0))
    if not paths:
        return None
    rows = [row for path in paths for row in _rows(path)]
    ranks = sorted({row[1] for row in rows} | {row[2] for row in rows} | set(range(len(paths))))
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
        "size": len(ranks),
        "hosts": [],
        "thread_level": "",
        "options": [],
        "wall_seconds": wall_seconds,
        "ranks": [_rank(rank, rows, wall_seconds) for rank in ranks],
        "functions": [],
        "sizes": _sizes(rows),
        "communicators": [],
        "sites": [],
        "files": [],
        "matrix": matrix,
        "windows": None,
    }


Row = tuple[str, int, int, int, int, list[int]]


def _rows(path: Path) -> list[Row]:
    with reading(path):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        if found := _PAIR.match(line):
            letter, own, other, size, messages, sizes = found.groups()
            counts = [int(word) for word in sizes.split(",")] if sizes else []
            rows.append((letter, int(own), int(other), int(size), int(messages), counts))
        elif line and not _TOTAL.match(line):
            raise InputError(f"{path}, line {number}: found {line[:60]!r}; allowed: a file of Open MPI's monitoring")
    return rows


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
