"""Text files of velocity picks: lines x y t v, of a 2D survey x t v; their checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.seismic.kirchhoff.velocities.dix import interval_squares, require_interval_velocities
from fathometer.seismic.kirchhoff.velocities.limits import LATEST
from fathometer.seismic.kirchhoff.velocities.picks_columns import COLUMNS, Units, units_of_names
from fathometer.seismic.model.limits import GIVEN, velocity_range
from fathometer.seismic.model.velocity_units import HARD
from fathometer.seismic.survey.time_migration import PICKS_SUFFIXES
from fathometer.storage.reading import readable, reading

NEEDED_UNIT = "a line before the first numbers names the columns, as x t v(ft/s)"


@dataclass(frozen=True)
class Location:
    """The picks of one place: times (s), velocities (m/s), lines of the file, (n,) each; times ascend."""

    x: float  # m
    y: float  # m; 0 in two dimensions
    times: NDArray[np.float64]
    velocities: NDArray[np.float64]
    lines: tuple[int, ...]

    def at(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Velocities at times (s): linear between picks, constant beyond."""
        return np.interp(times, self.times, self.velocities)


@dataclass(frozen=True)
class Picks:
    """The picks of a file; dimension: 2 or 3. units: that the file says of its velocities."""

    path: Path
    dimension: int
    locations: tuple[Location, ...]
    units: str | None = None

    def notes(self) -> tuple[str, ...]:
        """A note where velocities without a unit are so fast that they may be in ft/s."""
        least = min(float(location.velocities.min()) for location in self.locations)
        if self.units is not None or not least > HARD:
            return ()
        return (
            f"{self.path.name}: no velocity below {least:g} m/s: picks are in m/s; are these ft/s? Then {NEEDED_UNIT}",
        )

    @property
    def places(self) -> NDArray[np.float64]:
        """x and y of the locations, (n, 2), m."""
        return np.array([(location.x, location.y) for location in self.locations])

    @property
    def count(self) -> int:
        """Picks in all."""
        return sum(len(location.lines) for location in self.locations)

    def interval_velocities(self) -> tuple[float, float]:
        """Least and most interval velocity (Dix) of all locations, m/s, that above a first pick included."""
        squares = [
            value
            for location in self.locations
            for value in (float(location.velocities[0] ** 2), *interval_squares(location.times, location.velocities))
        ]
        return math.sqrt(min(squares)), math.sqrt(max(squares))


def is_picks_file(reference: str) -> bool:
    """Whether a reference is to a text of picks: by its suffix."""
    return Path(reference).suffix.lower() in PICKS_SUFFIXES


def read_picks(path: Path, dimension: int | None = None) -> Picks:
    """The picks of a file.

    Lines hold numbers separated by commas or blanks; # begins a comment; before the first numbers a line, also a
    comment, may name the columns and their units. dimension: 2 or 3; None: by the columns of the first line.

    InputError, with file and line: an unreadable line, a wrong number of columns, columns that picks do not have,
    velocities out of range, times that are negative or do not ascend at a place, two picks at one place and time,
    interval velocities that do not exist.
    """
    readable(path)
    with reading(path), ledger.io(bytes=path.stat().st_size):
        data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8; needed: a text of picks, x y t v (2D: x t v)") from None
    found: dict[tuple[float, float], list[tuple[int, float, float]]] = {}
    width = None if dimension is None else dimension + 1
    named, units = False, Units({})
    for number, line in enumerate(text.splitlines(), start=1):
        content, _, comment = line.partition("#")
        words = content.replace(",", " ").split()
        if not words:
            if not found and comment:
                units = units.joined(units_of_names(path, number, comment, width, comment=True))
            continue
        if not found and not named and not any(_is_number(word) for word in words):
            units = units.joined(units_of_names(path, number, content, width))
            named = True
            continue
        values = _numbers(path, number, words, width)
        width = len(values)
        *place, t, v = values
        x, y = units.in_metres("x", place[0]), units.in_metres("y", place[1]) if len(place) == 2 else 0.0
        t, v = units.in_seconds(t), units.in_metres_per_second(v)
        _check(path, number, t, v, units)
        picks = found.setdefault((x, y), [])
        if picks:
            _check_ascent(path, number, t, *picks[-1][:2])
        picks.append((number, t, v))
    if not found or width is None:
        raise InputError(f"{path}: holds no picks; needed: lines of x y t v (2D: x t v)")
    locations = []
    for (x, y), picks in found.items():
        lines, times, velocities = zip(*picks, strict=True)
        location = Location(x, y, np.array(times), np.array(velocities), lines)
        where = f"x = {x:.10g} m" + (f", y = {y:.10g} m" if width == 4 else "")
        require_interval_velocities(str(path), where, location.times, location.velocities, lines)
        locations.append(location)
    return Picks(path, width - 1, tuple(locations), units.velocity)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _numbers(path: Path, number: int, words: list[str], width: int | None) -> list[float]:
    """The numbers of a line."""
    if len(words) not in ((width,) if width else COLUMNS):
        allowed = f"{width} ({' '.join(COLUMNS[width])})" if width else "4 (x y t v), or 3 of a 2D survey (x t v)"
        raise InputError(f"{path}: line {number}: found {len(words)} columns; needed: {allowed}")
    values = []
    for word in words:
        if not _is_number(word) or not math.isfinite(float(word)):
            raise InputError(f"{path}: line {number}: found {word[:40]!r}; allowed: finite numbers, # before comments")
        values.append(float(word))
    return values


def _check(path: Path, number: int, t: float, v: float, units: Units) -> None:
    if t < 0:
        raise InputError(f"{path}: line {number}: found a time of {t:g} s; allowed: 0 s or later")
    if t > LATEST:
        raise InputError(
            f"{path}: line {number}: found a time of {t:g} s; allowed: up to {LATEST:g} s; is it in milliseconds?"
        )
    if not v > 0:
        raise InputError(f"{path}: line {number}: found a velocity of {v:g} m/s; allowed: above 0")
    least, most = velocity_range(units.velocity)
    if not least <= v <= most:
        unit = "; is it in km/s?" if v < least / 12 else "; is it in ft/s?" if v > most else ""
        given = "" if units.velocity else f"; it may be from {GIVEN[0]:g} to {GIVEN[1]:g} m/s where {NEEDED_UNIT}"
        raise InputError(
            f"{path}: line {number}: found a velocity of {v:g} m/s; allowed: {least:g} to {most:g} m/s{unit}{given}"
        )


def _check_ascent(path: Path, number: int, t: float, before: int, earlier: float) -> None:
    if t == earlier:
        raise InputError(
            f"{path}: lines {before} and {number}: two picks at the same place and time, {t:g} s; allowed: one"
        )
    if t < earlier:
        raise InputError(
            f"{path}: line {number}: the time {t:g} s follows {earlier:g} s (line {before}) at the same place; needed: "
            "times that ascend"
        )
