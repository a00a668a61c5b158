"""Maps of the surface and a section of temperature from field files, for the picture and the page.

Values are float32, NaN where there is no water. Nothing here needs MPI: files are read by one rank, the parts shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.report.scale import Values
from fathometer.shown.planes import Arrows, Extent
from fathometer.storage.datasets.dataset import FILL
from fathometer.storage.datasets.reader import DatasetFile

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


@dataclass(frozen=True, eq=False)
class Section:
    """Temperature on a vertical section: values (across, level); title: where it lies."""

    values: Values
    extent: Extent
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

    def extent(self, kind: MapKind | None = None) -> Extent:
        """Where the values of a map lie: at centres of cells or, of speeds and streamfunctions, at their corners."""
        return self._extent("_u" if kind is not None and kind.name in ("speed", "streamfunction") else "")

    def _extent(self, suffix: str) -> Extent:
        scale = 1.0 if self.spherical else 1e-3
        first, step, borders = [], [], []
        for name, count in zip(self._names(), self._shape[:2], strict=True):
            places, centres = (scale * self._file.read(name + one) for one in (suffix, ""))
            wide = float(places[1] - places[0]) if count > 1 else max(abs(2 * float(places[0])), 1.0)
            first.append(float(places[0]))
            step.append(wide)
            borders.append((float(centres[0]) - 0.5 * wide, float(centres[0]) + (count - 0.5) * wide))
        unit = "°" if self.spherical else "km"
        words = ("longitude", "latitude") if self.spherical else ("x", "y")
        return Extent(
            (first[0], first[1]),
            (step[0], step[1]),
            (f"{words[0]} ({unit})", f"{words[1]} ({unit})"),
            (unit, unit),
            (borders[0], borders[1]),
        )

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

    def map(self, kind: MapKind) -> Values:
        """A map of one of `kinds`."""
        if kind.name == "speed":
            return np.hypot(self.surface("u"), self.surface("v"))
        return self.surface(kind.variable)

    def arrows(self) -> Arrows | None:
        """Velocities at the surface; None where the file has none."""
        if "u" not in self._file.header.variables:
            return None
        return Arrows(self.surface("u"), self.surface("v"), self._extent("_u"))

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
        extent, axis = self.extent(), 0 if along_x else 1
        where = extent.first[1 - axis] + place * extent.step[1 - axis]
        title = _degrees(where, "SN" if along_x else "WE") if self.spherical else f"{'xy'[1 - axis]} = {where:.6g} km"
        bounds = self._file.read("depth_bounds")
        levels = np.append(bounds[:, 0], bounds[-1, 1])
        vertical = replace(
            extent,
            first=(extent.first[axis], 0.0),
            step=(extent.step[axis], 0.0),
            labels=(extent.labels[axis], "depth (m)"),
            units=(extent.units[0], "m"),
            borders=(extent.borders[axis], (0.0, float(levels[-1]))),
            down=True,
            levels=levels,
        )
        return Section(values, vertical, title)

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
