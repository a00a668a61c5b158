"""Description of a file of velocity picks, as `fathometer info` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathometer.seismic.kirchhoff.velocities.picks_file import Picks, read_picks

Range = tuple[float, float]


@dataclass(frozen=True)
class PicksDescription:
    """Description of velocity picks; ranges are (least, most)."""

    picks: Picks
    x: Range  # m
    y: Range  # m
    times: Range  # s
    velocities: Range  # m/s
    each: tuple[int, int]  # fewest and most picks of a place
    intervals: Range  # m/s

    @property
    def kind(self) -> str:
        """ "picks"."""
        return "picks"

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        fewest, most = self.each
        number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        return [
            ("file", str(self.picks.path)),
            ("kind", f"velocity picks, {self.picks.dimension}D"),
            ("locations", f"{len(self.picks.locations)}, with {number} picks each"),
            ("x", _range(self.x, "m")),
            *([("y", _range(self.y, "m"))] if self.picks.dimension == 3 else []),
            ("times", _range(self.times, "s")),
            ("velocities", _range(self.velocities, "m/s")),
            ("Dix velocities", f"{_range(self.intervals, 'm/s')} in intervals"),
            *(("note", note) for note in self.picks.notes()),
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; SI units in the keys."""
        return {
            "kind": self.kind,
            "path": str(self.picks.path),
            "dimension": self.picks.dimension,
            "locations": len(self.picks.locations),
            "picks": self.picks.count,
            "picks_per_location": list(self.each),
            "x_metres": list(self.x),
            "y_metres": list(self.y) if self.picks.dimension == 3 else None,
            "times_seconds": list(self.times),
            "velocity_metres_per_second": list(self.velocities),
            "interval_metres_per_second": list(self.intervals),
            "notes": list(self.picks.notes()),
        }


def describe_picks(path: Path) -> PicksDescription:
    """The description of a text of picks. InputError as of `read_picks`."""
    picks = read_picks(path)
    locations = picks.locations
    counts = [len(location.lines) for location in locations]
    return PicksDescription(
        picks,
        _ends([location.x for location in locations]),
        _ends([location.y for location in locations]),
        (min(float(one.times[0]) for one in locations), max(float(one.times[-1]) for one in locations)),
        (
            min(float(one.velocities.min()) for one in locations),
            max(float(one.velocities.max()) for one in locations),
        ),
        (min(counts), max(counts)),
        picks.interval_velocities(),
    )


def _ends(values: list[float]) -> Range:
    return min(values), max(values)


def _range(ends: Range, unit: str) -> str:
    first, last = ends
    return f"{first:.6g} {unit}" if first == last else f"{first:.6g} to {last:.6g} {unit}"
