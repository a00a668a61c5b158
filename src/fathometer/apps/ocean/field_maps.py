"""What the picture and the page show of field files: maps of the surface and a section of temperature.

Values are float32, NaN where there is no water. Nothing here needs MPI: files are read by one rank, the parts shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.grid import Floats
from fathometer.pictures.plane import downsampled
from fathometer.storage.datasets.dataset import FILL
from fathometer.storage.datasets.reader import DatasetFile

Values = npt.NDArray[np.float32]

SVERDRUP = 1e6  # m³/s
LEAST_SVERDRUPS = 0.1  # of the largest flow: below that the unit is m³/s
ZONAL = 3  # times as many cells along x as along y: then the section goes along x


@dataclass(frozen=True)
class MapKind:
    """A kind of map. variable: in the file; "": made of others. diverging: colours around 0, else `colours`."""

    name: str
    label: str
    unit: str
    variable: str
    colours: str
    diverging: bool = False


KINDS = (
    MapKind("height", "Surface height", "m", "surface_height", "RdBu", True),
    MapKind("temperature", "Surface temperature", "°C", "temperature", "Plasma"),
    MapKind("streamfunction", "Barotropic streamfunction", "m³/s", "streamfunction", "RdBu", True),
    MapKind("salinity", "Surface salinity", "", "salinity", "Viridis"),
    MapKind("speed", "Surface speed", "m/s", "", "Cividis"),
)
SECTION = MapKind("section", "Temperature", "°C", "temperature", "Plasma")


@dataclass(frozen=True, eq=False)
class Axes:
    """Horizontal places: first centre and step along x and y, in a unit ("°" or "km"), names with it."""

    first: tuple[float, float]
    step: tuple[float, float]
    labels: tuple[str, str]
    unit: str

    def borders(self, shape: Sequence[int]) -> list[tuple[float, float]]:
        """Where so many cells along x and y begin and end."""
        return [(a - 0.5 * h, a + (n - 0.5) * h) for a, h, n in zip(self.first, self.step, shape, strict=True)]

    def moved(self, blocks: Sequence[int]) -> Axes:
        """Those of blocks of so many cells along both axes."""
        first = tuple(a + 0.5 * (n - 1) * h for a, n, h in zip(self.first, blocks, self.step, strict=True))
        step = tuple(n * h for n, h in zip(blocks, self.step, strict=True))
        return Axes((first[0], first[1]), (step[0], step[1]), self.labels, self.unit)


@dataclass(frozen=True, eq=False)
class Map:
    """A map: values (x, y), whose first one lies at the first places of `axes`; unit: of the values."""

    kind: MapKind
    values: Values
    axes: Axes
    unit: str

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.kind.label} ({self.unit})" if self.unit else self.kind.label


@dataclass(frozen=True, eq=False)
class Section:
    """Temperature on a vertical section: values (across, level), places of the columns in the unit of the maps, bounds
    of the levels (n + 1,) in m; label of what is across; title: where the section lies."""

    values: Values
    first: float
    step: float
    bounds: Floats
    across: str
    title: str


class FieldFile:
    """A field file, open; a context manager. Raises InputError where it cannot be read or is of another grid.

    Args:
        shape: cells (nx, ny, nz) that it must have.
    """

    def __init__(self, path: Path, shape: Sequence[int]) -> None:
        self._file = DatasetFile(path)
        try:
            nx, ny, nz = shape
            self._shape = (nx, ny, nz)
            self.levels = self._file.read(self._file.variable("levels", (ny, nx)).name).T
            self._file.variable("depth", (nz,))
            self.time = float(self._file.read("time")[0])
            self.spherical = "longitude" in self._file.header.variables
        except BaseException:
            self._file.close()
            raise

    def kinds(self) -> list[MapKind]:
        """The maps that can be made of it."""
        there = self._file.header.variables
        return [kind for kind in KINDS if kind.variable in there or (not kind.variable and "u" in there)]

    def axes(self, suffix: str = "") -> Axes:
        """Places of cells' centres or, with the suffix "_u", of their corners."""
        scale = 1.0 if self.spherical else 1e-3
        first, step = [], []
        for name, count in zip(self._names(), self._shape[:2], strict=True):
            places = scale * self._file.read(name + suffix)
            first.append(float(places[0]))
            centres = places if count > 1 else scale * self._file.read(name + "_u") if suffix else places
            step.append(float(places[1] - places[0]) if count > 1 else max(abs(2 * float(centres[0])), 1.0))
        unit = "°" if self.spherical else "km"
        words = ("longitude", "latitude") if self.spherical else ("x", "y")
        labels = (f"{words[0]} ({unit})", f"{words[1]} ({unit})")
        return Axes((first[0], first[1]), (step[0], step[1]), labels, unit)

    def _names(self) -> tuple[str, str]:
        return ("longitude", "latitude") if self.spherical else ("x", "y")

    def surface(self, name: str) -> Values:
        """A variable at the surface, or one without levels (nx, ny)."""
        nx, ny, _ = self._shape
        levels = (0,) if len(self._file.variable(name).shape) == 4 else ()
        lo, hi = (0, *levels, 0, 0), (1, *(1 for _ in levels), ny, nx)
        return self._filled(name, self._file.read(name, lo, hi).reshape(ny, nx).T)

    def _filled(self, name: str, values: npt.NDArray[np.floating]) -> Values:
        """NaN in place of the fill value."""
        fill = self._file.attribute(name, FILL)
        return np.where(values == np.float32(fill), np.float32(np.nan), values).astype(np.float32)

    def map(self, kind: MapKind) -> Map:
        """A map of one of `kinds`."""
        corner = kind.name in ("speed", "streamfunction")
        values = np.hypot(self.surface("u"), self.surface("v")) if kind.name == "speed" else self.surface(kind.variable)
        unit = kind.unit
        if kind.name == "streamfunction" and np.nanmax(np.abs(values), initial=0.0) >= LEAST_SVERDRUPS * SVERDRUP:
            values, unit = (values / np.float32(SVERDRUP)).astype(np.float32), "Sv"
        return Map(kind, values, self.axes("_u" if corner else ""), unit)

    def currents(self) -> tuple[Values, Values, Axes] | None:
        """Velocity along x and y at the surface (nx, ny), m/s, and its places; None where the file has none."""
        if "u" not in self._file.header.variables:
            return None
        return self.surface("u"), self.surface("v"), self.axes("_u")

    def section(self) -> Section | None:
        """Temperature from south to north or, in a channel, from west to east, through a column near the middle that
        crosses much water; None where the file has no temperature."""
        if "temperature" not in self._file.header.variables:
            return None
        nx, ny, nz = self._shape
        along_x = nx > ZONAL * ny or ny == 1
        place = _place(self.levels.T if along_x else self.levels)
        lo = (0, 0, place, 0) if along_x else (0, 0, 0, place)
        hi = (1, nz, place + 1, nx) if along_x else (1, nz, ny, place + 1)
        values = self._filled("temperature", self._file.read("temperature", lo, hi).reshape(nz, -1).T)
        axes, axis = self.axes(), 0 if along_x else 1
        where = axes.first[1 - axis] + place * axes.step[1 - axis]
        title = _degrees(where, "SN" if along_x else "WE") if self.spherical else f"{'xy'[1 - axis]} = {where:.6g} km"
        bounds = self._file.read("depth_bounds")
        return Section(
            values, axes.first[axis], axes.step[axis], np.append(bounds[:, 0], bounds[-1, 1]), axes.labels[axis], title
        )

    def __enter__(self) -> FieldFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _degrees(value: float, letters: str) -> str:
    """A longitude or latitude: 50.5° W.

    >>> _degrees(-50.5, "WE"), _degrees(0.0, "SN"), _degrees(200.0, "WE")
    ('50.5° W', '0°', '160° W')
    """
    if letters == "WE":
        value = (value + 180.0) % 360.0 - 180.0
    letter = "" if value == 0 else f" {letters[value > 0]}"
    return f"{abs(value):.6g}°{letter}"


def _place(levels: npt.NDArray[np.int32]) -> int:
    """Of the rows in the middle third the one with most water, the nearest to the middle of several."""
    count = len(levels)
    middle = range(count // 3, max(count // 3 + 1, count - count // 3))
    return max(middle, key=lambda row: (int(levels[row].sum()), -abs(row - count // 2)))


def thinned(values: npt.NDArray[np.floating], most: int) -> tuple[Values, tuple[int, int]]:
    """Means over blocks of cells to at most `most` a side, of the cells with water, and the cells of a block."""
    water = np.isfinite(values)
    share, _ = downsampled(water.astype(np.float64), most)
    means, blocks = downsampled(np.where(water, values, 0.0), most)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(share > 0, means / share, np.nan).astype(np.float32), blocks


def layered(section: Section, rows: int) -> Values:
    """Values of a section (across, rows) at equal distances of depth, each of the level that it lies in."""
    depths = (np.arange(rows) + 0.5) * section.bounds[-1] / rows
    level = np.searchsorted(section.bounds, depths, side="right") - 1
    return np.asarray(section.values[:, np.minimum(level, section.values.shape[1] - 1)])
