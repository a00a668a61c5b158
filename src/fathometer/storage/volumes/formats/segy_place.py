"""Coordinates of a volume's traces as they go into SEG-Y headers, and what the textual header says of them.

Where the place in the world is known, headers hold world coordinates; else the local ones, and the textual header says
so. Headers hold whole numbers times a scalar, so coordinates are known to half a step of it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.traces.reference_system import short_crs
from fathometer.storage.traces.segy_writer import choose_scalar
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.place import Place, World

LOCAL = "Coordinates are local"  # a line of the textual header begins
NO_WORLD = f"{LOCAL}: x and y of the model's grid, no place in the world"
CELLS = f"{LOCAL}: numbers of the model's cells, not in the CRS"
UNKNOWN = "Coordinates are those of the model's grid"  # beginning of a line: a system is known, they may be in another
LINE = 76  # characters behind the number of a line
Floats = NDArray[np.float64]


class TracePlaces:
    """The places of all traces.

    Attributes:
        scalar: that of the headers. crosslines: traces of an inline.
    """

    def __init__(self, path: Path, info: VolumeInfo) -> None:
        """InputError where coordinates do not fit SEG-Y."""
        axes = [_coordinates(info, axis) for axis in range(len(info.shape) - 1)]
        self._x, self._y = (axes[0], axes[1] if len(axes) == 2 else np.zeros(1))  # m
        self._two, self.crosslines = len(axes) == 2, len(self._y)
        # Without a spacing, coordinates are numbers of cells, which no place in the world follows from.
        self._world = None if info.spacing is None else info.place.world
        self._crs, self._cells = info.place.crs, info.spacing is None
        self.scalar = choose_scalar(path, self._values())

    def of(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Coordinates, m, of the traces of inlines i and crosslines j (from 0)."""
        x, y = self._x[i], self._y[j]
        return (x, y) if self._world is None else self._world.places(x, y)

    def _values(self) -> Floats:
        """Coordinates that the scalar has to hold: all of them, each once, where they vary along one axis each. Of a
        turned grid those of its corners: its coordinates are never exact."""
        if self._world is None:
            return np.concatenate([self._x, self._y])
        if 0.0 in self._world.direction:
            along = self._world.places(self._x, self._y[:1]), self._world.places(self._x[:1], self._y)
            return np.concatenate([values for places in along for values in places])
        x, y = self._x[[0, -1]], self._y[[0, -1]]
        return np.concatenate(self._world.places(x[:, None], y[None, :]), axis=None)

    @property
    def letters(self) -> tuple[str, str]:
        """What the textual header calls the two coordinates."""
        return ("x", "y") if self._world is None else ("X", "Y")

    def lines(self) -> list[str]:
        """Lines of the textual header."""
        system = [f"CRS: {short_crs(self._crs, LINE - 5)}"] if self._crs else []
        if self._world is None:
            return [CELLS if self._cells and system else _without_world(self._crs), *system, *self._corners()]
        return [
            f"Coordinates are those of the world; azimuth of x: {self._world.azimuth:.10g} degrees",
            *_transform(self._world),
            *system,
            *self._corners(),
        ]

    def _corners(self) -> list[str]:
        i, j = len(self._x) - 1, len(self._y) - 1
        corners = [(0, 0), (0, j), (i, 0), (i, j)] if self._two else [(0, 0), (i, 0)]
        lines, (east, north) = [], self.letters
        for inline, crossline in corners:
            x, y = self.of(np.array(inline), np.array(crossline))
            name = f"inline {inline + 1}, crossline {crossline + 1}" if self._two else f"trace {inline + 1}"
            lines.append(f"Corner {name}: {east} {float(x):.4f}, {north} {float(y):.4f} m")
        return lines


def lines_of_gathers(place: Place) -> list[str]:
    """Lines of the textual header of modelled traces, whose positions are in the grid's coordinates."""
    system = [f"CRS: {short_crs(place.crs, LINE - 5)}"] if place.crs else []
    if place.world == World():
        return ["Coordinates are those of the world", *system]
    if place.world is None:
        return [_without_world(place.crs), *system]
    return [f"{LOCAL}: x and y of the model's grid; in the world:", *_transform(place.world), *system]


def _without_world(crs: str) -> str:
    """The line of coordinates whose place in the world is not known."""
    return f"{UNKNOWN}; not known whether of the CRS" if crs else NO_WORLD


def says_no_place(text: str) -> bool:
    """Whether a textual header says that coordinates are no places in the world, or not known to be."""
    return any(f" {line}" in text for line in (LOCAL, UNKNOWN))


def _transform(world: World) -> list[str]:
    sine, minus, x0, cosine, _, y0 = world.transform
    return [
        f"X = {x0:.10g} {sine:+.12g} x {minus:+.12g} y, from local x and y, m",
        f"Y = {y0:.10g} {cosine:+.12g} x {sine:+.12g} y",
    ]


def _coordinates(info: VolumeInfo, axis: int) -> Floats:
    """Coordinates (cells,) along an axis, m; without a spacing, cell numbers."""
    step = 1.0 if info.spacing is None else info.spacing[axis]
    first = 0.0 if info.origin is None else info.origin[axis]
    return np.asarray(first + step * np.arange(info.shape[axis]), np.float64)
