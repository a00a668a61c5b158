"""Suites: sets of ways that a published benchmark compares, with its tables.

    piovdc   one array written by POSIX calls and by MPI-IO, each rank a contiguous block as IOR has them; through
             PnetCDF; uncompressed in the file format of the wavelets (HDF5); and as wavelet coefficients, whose
             seconds count once without the transform and once with it

The ways take turns in one loop; of each there are most, mean and least. Two runs are compared by `fathometer report`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.formatting import megabytes
from fathometer.base.text_tables import TextColumn, aligned
from fathometer.lab.io.cases import StorageCase
from fathometer.lab.io.ranking import comparable, remarks, table_lines
from fathometer.lab.landscape import Published, landscape, shown
from fathometer.parallel.decomposition import Index3
from fathometer.record.envelope import Figure
from fathometer.storage.volumes.strategy import Strategy


@dataclass(frozen=True)
class Way:
    """A row of a suite: its name, format, strategy and decomposition; what of its seconds counts."""

    name: str
    format: str
    strategy: str
    slabs: bool = False
    seconds: str = "all"  # or "write": without compressing

    @property
    def case(self) -> StorageCase:
        """What is measured."""
        return StorageCase("write", self.format, Strategy.of(self.strategy), slabs=self.slabs)


WAVELETS = "posix-shared:filter=wavelet"
SUITES: Mapping[str, Sequence[Way]] = MappingProxyType(
    {
        "piovdc": (
            Way("POSIX", "rsf", "posix-shared", slabs=True),
            Way("MPI-IO", "rsf", "mpiio-independent", slabs=True),
            Way("PnetCDF", "nc", "mpiio-collective"),
            Way("uncompressed (HDF5)", "h5", "mpiio-collective"),
            Way("wavelets, without the transform", "h5", WAVELETS, seconds="write"),
            Way("wavelets, all", "h5", WAVELETS),
        )
    }
)
PUBLISHED = {"piovdc": ("piovdc-lynx", "piovdc-janus-1", "piovdc-janus-2", "piovdc-setup")}
COLUMNS = (
    TextColumn("way", gap=0),
    *(TextColumn(f"{name} MB/s", right=True, gap=2) for name in ("max", "mean", "min")),
    *(TextColumn(f"{name} s", right=True, gap=2) for name in ("least", "mean", "most")),
    TextColumn("n", right=True, gap=2),
    TextColumn("", gap=2),
)


def cases_of(suite: str, ranks: int) -> tuple[list[StorageCase], list[str]]:
    """What a suite measures on this machine, and notes on what that has not got. InputError where nothing is left."""
    found, notes = dict[StorageCase, None](), []
    for way in SUITES[suite]:
        if lacking := way.case.form.lacking(way.case.strategy, ranks):
            notes.append(f"{way.name} is left out: {lacking}")
        else:
            found[way.case] = None
    if not found:
        raise InputError(f"--suite {suite}: nothing of it can be measured here: {'; '.join(notes)}")
    return list(found), notes


def check_suite(suite: str, grid: Index3, ranks: int) -> None:
    """InputError where there are fewer planes than ranks, of which each has some to itself as a contiguous piece."""
    if any(way.slabs for way in SUITES[suite]) and grid[0] < ranks:
        raise InputError(f"--suite {suite}: found {ranks} ranks and {grid[0]} cells along x; allowed: a rank a cell")


def rows_of(suite: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Most, mean and least of each way that was measured: rates, and seconds; the mean rate's seconds are those that
    the bytes take at it."""
    found = []
    for way in SUITES[suite]:
        strategy = str(way.case.strategy)
        for row in rows:
            if (row["format"], row["strategy"], row["slabs"]) != (way.format, strategy, way.slabs):
                continue
            seconds, size = row["all_seconds"], row["logical_bytes"]
            if way.seconds == "write":
                seconds = row["seconds_without_compressing"]
            rates = [size / value for value in seconds if value > 0]
            if not rates:
                continue
            mean = sum(rates) / len(rates)
            found.append(
                {
                    "name": way.name,
                    "bytes_per_second": {"max": max(rates), "mean": mean, "min": min(rates)},
                    "seconds": {"max": size / min(rates), "mean": size / mean, "min": size / max(rates)},
                    "repetitions": len(rates),
                    "stored_bytes": row["stored_bytes"],
                    "remarks": "" if comparable(row) else remarks(row).partition(", ")[0],
                }
            )
    return found


def figures_of_suite(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Mean rates by name, by which two runs are compared."""
    return [
        Figure(f"{row['name']}, {which}", row["bytes_per_second"][which], "bytes_per_second", "higher", "context")
        for row in rows
        for which in ("max", "mean", "min")
    ]


def suite_lines(suite: Mapping[str, Any]) -> list[str]:
    """The table of a suite for people."""
    text = [
        [
            row["name"],
            *(megabytes(row["bytes_per_second"][which]) for which in ("max", "mean", "min")),
            *(f"{row['seconds'][which]:.3f}" for which in ("min", "mean", "max")),
            str(row["repetitions"]),
            row["remarks"],
        ]
        for row in suite["rows"]
    ]
    return ["", f"suite {suite['name']}, bytes of the array over the seconds:", *aligned(COLUMNS, text, "  ")]


def all_lines(record: Mapping[str, Any]) -> list[str]:
    """The ranking of a record as tables for people, and before it that of its suite."""
    suite = record["results"]["suite"]
    return [*(suite_lines(suite) if suite else []), *table_lines(record)]


def suite_panels(suite: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The table of a suite for a page."""
    columns = [("name", "way", "")]
    columns += [(which, f"{which} rate", "bytes_per_second") for which in ("max", "mean", "min")]
    columns += [
        (which, f"{name} time", "seconds") for which, name in (("min", "least"), ("mean", "mean"), ("max", "most"))
    ]
    own = {
        "kind": "table",
        "title": f"Suite {suite['name']}: bytes of the array over the seconds",
        "columns": [*columns, ("repetitions", "n", "count"), ("remarks", "remarks", "")],
        "rows": [
            [
                row["name"],
                *(row["bytes_per_second"][which] for which in ("max", "mean", "min")),
                *(row["seconds"][which] for which in ("min", "mean", "max")),
                row["repetitions"],
                row["remarks"],
            ]
            for row in suite["rows"]
        ],
    }
    return [own]


def published_panels(suite: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The published tables beside it, as they are."""
    return [panel for name in PUBLISHED[suite["name"]] for panel in _published(shown(landscape(name)))]


def _published(table: Published) -> list[dict[str, Any]]:
    """A published table, and what is said of it."""
    heads = [f"{name} ({unit})" if unit else name for name, unit, _ in table.heads]
    rows = [[text for text, _ in row] for row in table.rows]
    columns = [(str(number), head, "") for number, head in enumerate(heads)]
    return [
        {"kind": "table", "title": table.title, "columns": columns, "rows": rows},
        {"kind": "points of text", "title": f"{table.title}: source", "points": [table.source, *table.notes]},
    ]
