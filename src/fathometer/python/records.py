"""The record of a run as tables: figures by name, seconds by rank, phase and category, and the tables of its page."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.python.errors import path_of, public, require_xarray

if TYPE_CHECKING:
    from xarray import DataArray

    from fathometer.record.envelope import Figure
    from fathometer.report.tables import Table

Rows = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Record:
    """The record of a run, run.json.

    Attributes:
        path: of its file. entries: all of it, as JSON has it; SI units with the unit in the key.
    """

    path: Path
    entries: dict[str, Any] = field(repr=False)

    @property
    def application(self) -> str:
        """What ran: "seismic", "ocean", "io" …"""
        return str(self.entries["application"])

    @property
    def command(self) -> list[str]:
        """The words of the command line."""
        return list(self.entries["command"])

    @property
    def input(self) -> dict[str, Any]:
        """The input with all of its defaults."""
        return dict(self.entries["input"])

    @property
    def results(self) -> dict[str, Any]:
        """What the application found."""
        return dict(self.entries["results"])

    @property
    def files(self) -> dict[str, Path]:
        """The files of the results by what they are, as the run named them."""
        return {name: Path(file) for name, file in self.entries["results"].get("files", {}).items()}

    @property
    def doubts(self) -> list[str]:
        """Why the results or the times are not to be trusted; none of a valid run."""
        return list(self.entries["validity"]["reasons"])

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Figures of merit by name: value in an SI unit, and whether higher or lower is better."""
        from fathometer.record.envelope import Figure

        return {one["name"]: Figure(**one) for one in self.entries["figures"]}

    @cached_property
    def seconds(self) -> DataArray:
        """Where the wall time went: seconds (rank, phase, category), all of each rank's but what is in no phase."""
        require_xarray("seconds")
        import numpy as np
        from xarray import DataArray

        ledger = self.entries["ledger"]
        ranks = ledger["ranks"]
        phases = list(dict.fromkeys(entry["phase"] for entry in ledger["phases"]))
        phases += [name for rank in ranks for name in rank["phases"] if name not in phases]
        phases, categories = list(dict.fromkeys(phases)), list(ledger["categories"])
        values = np.zeros((len(ranks), len(phases), len(categories)))
        for number, rank in enumerate(ranks):
            for phase, spent in rank["phases"].items():
                for category, seconds in spent.items():
                    values[number, phases.index(phase), categories.index(category)] = seconds
        return DataArray(
            values,
            {"rank": [rank["rank"] for rank in ranks], "phase": phases, "category": categories},
            ("rank", "phase", "category"),
            "seconds",
            {"units": "s", "long_name": "wall time"},
        )

    @property
    def phases(self) -> Rows:
        """A row for each phase and category, the longest first: mean_seconds and share over the ranks, bytes …"""
        from fathometer.report import tables

        return _rows(tables.phases(self.entries["ledger"]))

    @property
    def transfers(self) -> Rows:
        """A row for each kind of file read or written: bytes, seconds, bytes_per_second."""
        from fathometer.report import tables

        return _rows(tables.files(self.entries["ledger"]))


@public
def record(path: str | os.PathLike[str]) -> Record:
    """The record of a run, by its file run.json or the folder that it is in.

    Raises InputError where it is missing, damaged, of another program or version.

    >>> run = record("run.json")
    >>> run.application, run.figures["total"].value, run.figures["total"].unit
    ('other', 10.0, 'seconds')
    >>> run.seconds.sum(("phase", "rank")).sel(category="compute").item()
    15.5
    >>> run.phases[0]["phase"], run.phases[0]["mean_seconds"]
    ('source propagation', 4.5)
    """
    from fathometer.report.records import read_record

    found = read_record(Path(path_of(path, "record")))
    return Record(found.path, found.record)


def _rows(table: Table) -> Rows:
    return [dict(zip((column.key for column in table.columns), row, strict=True)) for row in table.rows]
