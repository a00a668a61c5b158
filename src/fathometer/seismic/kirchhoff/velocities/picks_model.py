"""A depth model from velocity picks: their interval velocities (Dix), each from one pick to the next.

Above the first pick of a place its RMS velocity holds, below the last the last interval's. Between places interval
velocities at one time are linear, as RMS velocities are in picks.py. Depths are sums of half the two-way times, from
the depth 0; a cell holds the mean slowness of what lies in it, so that vertical times through the model are those of
the picks.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.depth_model import last_nodes
from fathometer.seismic.kirchhoff.velocities.dix import interval_squares
from fathometer.seismic.kirchhoff.velocities.limits import SLAB_VALUES
from fathometer.seismic.kirchhoff.velocities.picks import PlacesUnder
from fathometer.seismic.kirchhoff.velocities.picks_file import Location, Picks, read_picks
from fathometer.seismic.kirchhoff.velocities.source import Floats
from fathometer.seismic.model.axes import natural_axes
from fathometer.seismic.model.limits import FASTEST, SLOWEST
from fathometer.seismic.model.means import SLOWNESS
from fathometer.seismic.model.prepare.extent import Span, along
from fathometer.seismic.model.prepare.input_volume import check_spacing
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.storage.volumes.place import Place


class PicksModel:
    """Interval velocities of picks over the cells of a depth model (model.prepare.driver.Source).

    Attributes:
        mean: of what averages are, where the request does not say. axes: x, y, z, or x, z.
        grid: from the first to the last place of the picks and from 0 to the deepest pick, its last
            cells beyond these, or between the ends of a crop. notes: what a user should know of it. paths: of the file.
    """

    velocity, unit, itemsize = True, "m/s", 8
    mean = SLOWNESS  # vertical times through the model stay those of the picks

    def __init__(self, request: PreparationRequest) -> None:
        """Of the request count model, spacing and crop; the others are done to the model. InputError as of
        `read_picks`, for options that picks do not have, and for intervals and cells out of range."""
        for option, value in (
            ("--units", request.units),
            ("--axes", request.axes),
            ("--input-spacing", request.input_spacing),
            ("--input-origin", request.input_origin),
        ):
            if value is not None:
                raise InputError(f"{option}: found with {request.model}, a text of picks; allowed: with volumes")
        self._picks = read_picks(Path(request.model))
        self.paths = (self._picks.path,)
        layers = [_intervals(self._picks, location) for location in self._picks.locations]
        most = max(len(times) for times, _ in layers)
        # Where a place has fewer layers, its last one again, of no thickness.
        self._times, self._speeds = (
            np.stack([np.pad(values, (0, most - len(values)), mode="edge") for values in table])
            for table in zip(*layers, strict=True)
        )
        self.axes = natural_axes(self._picks.dimension)
        self.grid = self._grid(request)
        self._under = PlacesUnder(f"{self._picks.path}: the model's", self._picks, self.grid)
        self.place = Place()  # picks are in the coordinates of an image
        self.notes = (
            "depths count from 0, where the picks' times begin; Dix velocities are those of NMO: in VTI media they and "
            "depths are too large by a factor of about sqrt(1 + 2 delta)",
            *self._picks.notes(),
            *self._under.notes,
        )

    def _grid(self, request: PreparationRequest) -> Grid:
        axes = (0, 1, 2) if self._picks.dimension == 3 else (0, 2)
        if request.spacing is None:
            example = "25,25,10" if len(axes) == 3 else "25,10"
            raise InputError(
                f"--spacing: missing; needed, since {request.model} holds picks: the size of the model's cells (m, as "
                f"{example})"
            )
        spacing = along(axes, request.spacing, "--spacing")
        crop = along(axes, request.crop, "--crop") if request.crop else {}
        places = self._picks.places
        ends = [*((float(places[:, n].min()), float(places[:, n].max())) for n in (0, 1)), (0.0, self._deepest())]
        cells = []
        for axis in range(3):
            if axis not in axes:
                cells.append((0.0, spacing[0], 1))
                continue
            name, length = "xyz"[axis], spacing[axis]
            check_spacing("--spacing", axis, length)
            given = crop[axis] if axis in crop else Span(None, None)
            first = ends[axis][0] if given.first is None else given.first
            last = ends[axis][1] if given.last is None else given.last
            if axis == 2 and first < 0:
                raise InputError(f"--crop: found {first:g} m along z; allowed: from 0 m, where the picks' times begin")
            cells_to_last = (last - first) / length
            count = 1 + (math.ceil(cells_to_last - 1e-6) if given.last is None else math.floor(cells_to_last + 1e-6))
            if count < 2:
                raise InputError(
                    f"--crop: {name} from {first:g} to {last:g} m has {max(count, 0)} cells of {length:g} m; needed: "
                    f"a range of two or more; the picks lie from {ends[axis][0]:g} to {ends[axis][1]:g} m"
                )
            cells.append((first, length, count))
        (x, dx, nx), (y, dy, ny), (z, dz, nz) = cells
        return Grid((nx, ny, nz), (dx, dy, dz), (x, y, z))

    def _deepest(self) -> float:
        """Depth of the deepest pick, m."""
        ends = np.array([[place.times[-1]] for place in self._picks.locations])
        thickness = 0.5 * np.diff(self._times, axis=1, append=ends) * self._speeds
        return float(thickness.sum(axis=1).max())

    def read(self, box: list[tuple[int, int]]) -> NDArray[np.float32]:
        """Velocities, float32 [x, y, z], m/s, of the cells in half-open ranges along x, y, z."""
        (x0, x1), (y0, y1), (z0, z1) = box
        corners, weights = self._under.corners((x0, y0), (x1, y1))
        columns = np.empty((len(corners), z1 - z0), np.float32)
        step = max(1, SLAB_VALUES // max(z1 - z0, 3 * self._times.shape[1]))
        for first in range(0, len(columns), step):
            part = slice(first, first + step)
            columns[part] = self._cells(*self._layers(corners[part], weights[part]), z0, z1)
        return columns.reshape(x1 - x0, y1 - y0, z1 - z0)

    def _layers(self, corners: NDArray[np.int64], weights: Floats) -> tuple[Floats, Floats]:
        """Times (columns, n), s, where layers of columns begin, and their velocities, m/s.

        corners: (columns, 3), of the places whose weighted sum a column's velocity is.
        """
        times = self._times[corners].reshape(len(corners), -1)
        order = np.argsort(times, axis=1, kind="stable")
        place = order // self._times.shape[1]
        velocities = np.zeros_like(times)
        for corner in range(3):  # the layer of a corner at a time is the last of its own that has begun
            layer = np.maximum(np.cumsum(place == corner, axis=1) - 1, 0)
            own = np.take_along_axis(self._speeds[corners[:, corner]], layer, axis=1)
            velocities += weights[:, corner, None] * own
        return np.take_along_axis(times, order, axis=1), velocities

    def _cells(self, begins: Floats, velocities: Floats, z0: int, z1: int) -> Floats:
        """Mean velocities (columns, z1 - z0) of cells: their thickness over half the two-way time through them."""
        depths = np.zeros_like(begins)
        np.cumsum(0.5 * np.diff(begins, axis=1) * velocities[:, :-1], axis=1, out=depths[:, 1:])
        length, first = self.grid.spacing[2], self.grid.origin[2]
        faces = np.maximum(first + length * (np.arange(z0, z1 + 1) - 0.5), 0.0)
        grid = Grid((1, 1, z1 - z0 + 1), (1.0, 1.0, length), (0.0, 0.0, first + length * (z0 - 0.5)))
        layer = np.maximum(last_nodes(depths, grid), 0)
        at, above, speed = (np.take_along_axis(values, layer, axis=1) for values in (begins, depths, velocities))
        times = at + 2.0 * (faces - above) / speed
        return np.asarray(2.0 * np.diff(faces) / np.diff(times, axis=1))


def _intervals(picks: Picks, place: Location) -> tuple[Floats, Floats]:
    """Times (n,), s, where the layers of a place begin, the first at 0, and their velocities, m/s. InputError where one
    is out of range."""
    velocities = np.sqrt([place.velocities[0] ** 2, *interval_squares(place.times, place.velocities)])
    wrong = np.flatnonzero((velocities < SLOWEST) | (velocities > FASTEST))
    if len(wrong):
        k = int(wrong[0])
        above = f"from {place.times[k - 1]:g} to {place.times[k]:g} s" if k else f"down to {place.times[0]:g} s"
        along_y = f", y = {place.y:.10g} m" if picks.dimension == 3 else ""
        raise InputError(
            f"{picks.path}: line {place.lines[k]}: at x = {place.x:.10g} m{along_y} the interval velocity {above} "
            f"is {velocities[k]:.6g} m/s (Dix); allowed in a model: {SLOWEST:g} to {FASTEST:g} m/s"
        )
    return np.concatenate([[0.0], place.times[:-1]]), velocities
