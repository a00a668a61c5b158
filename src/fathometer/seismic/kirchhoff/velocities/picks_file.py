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
from fathometer.seismic.kirchhoff.velocities.limits import FASTEST, LATEST, SLOWEST
from fathometer.seismic.survey.time_migration import PICKS_SUFFIXES
from fathometer.storage.reading import readable, reading

COLUMNS = {3: ("x", "t", "v"), 4: ("x", "y", "t", "v")}
# First letters of names in a header line that say which column it is.
NAMED = {"x": "x", "y": "y", "t": "t", "v": "v", "time": "t", "twt": "t", "t0": "t", "vrms": "v", "vnmo": "v"} | {
    "velocity": "v"
}


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
    """The picks of a file; dimension: 2 or 3."""

    path: Path
    dimension: int
    locations: tuple[Location, ...]

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

    Lines hold numbers separated by commas or blanks; # begins a comment; before the first numbers a line may name the
    columns. dimension: 2 or 3; None: by the columns of the first line.

    InputError, with file and line: an unreadable line, a wrong number of columns, velocities out of range, times that
    are negative or do not ascend at a place, two picks at one place and time, interval velocities that do not exist.
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
    named = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if not found and not named and not any(_is_number(word) for word in words):
            _check_names(path, number, words, width)
            named = True
            continue
        values = _numbers(path, number, words, width)
        width = len(values)
        *place, t, v = values
        x, y = place[0], place[1] if len(place) == 2 else 0.0
        _check(path, number, t, v)
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
    return Picks(path, width - 1, tuple(locations))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _check_names(path: Path, number: int, words: list[str], width: int | None) -> None:
    """InputError where a line of names says another order of columns."""
    names = [NAMED.get(word.lower().partition("(")[0].partition("_")[0].partition("[")[0], "?") for word in words]
    known = [COLUMNS[width]] if width else list(COLUMNS.values())
    if "?" not in names and tuple(names) not in known:
        allowed = " or ".join(" ".join(columns) for columns in known)
        raise InputError(f"{path}: line {number} names the columns {' '.join(words)}; needed: {allowed}")


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


def _check(path: Path, number: int, t: float, v: float) -> None:
    if t < 0:
        raise InputError(f"{path}: line {number}: found a time of {t:g} s; allowed: 0 s or later")
    if t > LATEST:
        raise InputError(
            f"{path}: line {number}: found a time of {t:g} s; allowed: up to {LATEST:g} s; is it in milliseconds?"
        )
    if not v > 0:
        raise InputError(f"{path}: line {number}: found a velocity of {v:g} m/s; allowed: above 0")
    if not SLOWEST <= v <= FASTEST:
        unit = "; is it in km/s?" if v < SLOWEST / 4 else "; is it in ft/s?" if v > FASTEST else ""
        raise InputError(
            f"{path}: line {number}: found a velocity of {v:g} m/s; allowed: {SLOWEST:g} to {FASTEST:g} m/s{unit}"
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
