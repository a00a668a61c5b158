"""Velocities from picks: along time linear between the picks of a place, between places linear.

In 3D places are joined by Delaunay's triangles. A column outside their hull has the velocity of the nearest point on
it, so that velocities are continuous everywhere; in 2D, and where all places lie on one line, the nearest point on that
line counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.limits import SLAB_VALUES
from fathometer.seismic.kirchhoff.velocities.picks_file import Picks, read_picks
from fathometer.seismic.kirchhoff.velocities.places import columns_of, place, times_of
from fathometer.seismic.kirchhoff.velocities.source import Columns, Floats

Numbers = NDArray[np.int64]
ON_A_LINE = 1e-6  # width of the places' hull beside its length, at most, that counts as none


class PicksSource:
    """Picks over the image.

    Attributes:
        picks: of the file. notes: see Source.
    """

    def __init__(self, key: str, path: Path, grid: Grid) -> None:
        """key: with the survey's file, for messages. InputError as of `read_picks` and `PlacesUnder`."""
        self.picks = read_picks(path, 2 if grid.two_dimensional else 3)
        self.samples = grid.shape[2]
        self._under = PlacesUnder(f"{key} ({path}): the image's", self.picks, grid)
        self._table = np.stack([location.at(times_of(grid)) for location in self.picks.locations])
        self.notes = tuple(f"{path.name}: {note}" for note in self._under.notes)

    def read(self, lo: Columns, hi: Columns) -> Floats:
        """Values (nx, ny, nt) of columns: between picks, linear over triangles."""
        corners, weights = self._under.corners(lo, hi)
        values = weights[:, 0, None] * self._table[corners[:, 0]]
        for corner in (1, 2):
            values += weights[:, corner, None] * self._table[corners[:, corner]]
        return values.reshape(hi[0] - lo[0], hi[1] - lo[1], -1)

    def hard_notes(self) -> tuple[str, ...]:
        """A note where the picks are so fast that they may be in ft/s."""
        return self.picks.notes()

    def files(self) -> list[Path]:
        """The file of the picks."""
        return [self.picks.path]

    def record(self) -> dict[str, Any]:
        """Where they come from, as JSON."""
        return {
            "source": "picks",
            "file": str(self.picks.path),
            "locations": len(self.picks.locations),
            "picks": self.picks.count,
        }


class PlacesUnder:
    """The places of picks whose weighted sums the columns of a grid are.

    Attributes:
        notes: on columns outside the picks' hull.
    """

    def __init__(self, name: str, picks: Picks, grid: Grid) -> None:
        """name: of the columns, for messages. InputError where one lies farther beyond the picks than they spread."""
        self._picks, self._grid, self._mesh = picks, grid, Mesh(picks.places)
        x, y = columns_of(grid, (0, 0), grid.shape[:2])
        # Found for all columns at once: where a column lies on the border of two triangles, the search may end in
        # either.
        element, away = self._mesh.locate(x.reshape(-1), y.reshape(-1))
        self._element = element.reshape(x.shape)
        self._check_reach(name, x.reshape(-1), y.reshape(-1), away)
        self.notes = self._told(away)

    def corners(self, lo: Columns, hi: Columns) -> tuple[Numbers, Floats]:
        """Numbers of three places (columns, 3) for each column of the half-open box [lo, hi), and their weights."""
        x, y = (places.reshape(-1) for places in columns_of(self._grid, lo, hi))
        return self._mesh.weights(self._element[lo[0] : hi[0], lo[1] : hi[1]].reshape(-1), x, y)

    def _check_reach(self, name: str, x: Floats, y: Floats, away: Floats) -> None:
        """InputError where a column lies farther away from the picks (m) than they spread; one place reaches all."""
        spread = float(np.hypot(*np.ptp(self._picks.places, axis=0)))
        worst = int(np.argmax(away))
        if len(self._picks.locations) > 1 and away[worst] > spread:
            raise InputError(
                f"{name} column at {place(self._grid, x[worst], y[worst])} lies {away[worst]:.6g} m beyond the picks, "
                f"which spread over {spread:.6g} m; allowed: at most that far; are places of both in m and in the same "
                "coordinates?"
            )

    def _told(self, away: Floats) -> tuple[str, ...]:
        """Notes on columns outside the picks' hull."""
        if len(self._picks.locations) == 1:
            return ("picks at one place, whose velocities hold everywhere",)
        outside = int(np.count_nonzero(away > 1e-6 * self._grid.spacing[0]))
        if not outside:
            return ()
        line = not self._grid.two_dimensional and self._mesh.on_a_line
        what = "the line of the picks, across which velocities are constant" if line else "the picks' hull"
        held = "the nearest point's velocities hold there"
        return (f"{outside} of {away.size} columns lie outside {what}; {held}",)


class Mesh:
    """Places joined by triangles, and by the segments of their hull; or by the segments of a line.

    An element is a triangle by its number, or a segment by -1 - its number.
    """

    def __init__(self, places: Floats) -> None:
        self._centre = places.mean(axis=0)
        self._places = places - self._centre
        _, sizes, directions = np.linalg.svd(self._places, full_matrices=False)
        self.on_a_line = len(places) < 3 or float(sizes[1]) <= ON_A_LINE * float(sizes[0])
        if self.on_a_line:
            order = np.argsort(self._places @ directions[0], kind="stable")
            chain = order if len(order) > 1 else np.repeat(order, 2)
            self._segments = np.stack([chain[:-1], chain[1:]], axis=1)
            self._triangles = np.zeros((0, 3), np.int64)
        else:
            from scipy.spatial import Delaunay  # costly, and only for this

            self._delaunay = Delaunay(self._places)
            self._segments = np.asarray(self._delaunay.convex_hull, np.int64)
            self._triangles = np.asarray(self._delaunay.simplices, np.int64)

    def locate(self, x: Floats, y: Floats) -> tuple[NDArray[np.int32], Floats]:
        """The element of each point (n,), and its distance from the mesh, m."""
        points = np.stack([x, y], axis=1) - self._centre
        element, away = np.full(len(points), -1, np.int32), np.zeros(len(points))
        if not self.on_a_line:
            element[:] = self._delaunay.find_simplex(points)
        outside = np.flatnonzero(element < 0)
        step = max(1, SLAB_VALUES // len(self._segments))
        for first in range(0, len(outside), step):
            some = outside[first : first + step]
            along = self._along(points[some, None, :], np.arange(len(self._segments))[None, :])
            begin, end = (self._places[self._segments[:, side]][None] for side in (0, 1))
            distance = np.linalg.norm(points[some, None, :] - (begin + along[..., None] * (end - begin)), axis=-1)
            nearest = np.argmin(distance, axis=1)
            element[some] = -1 - nearest
            away[some] = distance[np.arange(len(some)), nearest]
        return element, away

    def weights(self, element: NDArray[np.int32], x: Floats, y: Floats) -> tuple[Numbers, Floats]:
        """Numbers of the three places, (n, 3), whose weighted sum a point's value is, and their weights."""
        points = np.stack([x, y], axis=1) - self._centre
        corners, weights = np.zeros((len(points), 3), np.int64), np.zeros((len(points), 3))
        inside = np.flatnonzero(element >= 0)
        if len(inside):
            corners[inside] = self._triangles[element[inside]]
            weights[inside] = _barycentric(points[inside], *np.moveaxis(self._places[corners[inside]], 1, 0))
        outside = np.flatnonzero(element < 0)
        if len(outside):
            segments = -1 - element[outside].astype(np.int64)
            along = self._along(points[outside], segments)
            corners[outside, :2] = self._segments[segments]
            weights[outside, 0], weights[outside, 1] = 1.0 - along, along
        return corners, weights

    def _along(self, points: Floats, segments: Numbers) -> Floats:
        """The nearest place on segments, from 0 at their begin to 1 at their end."""
        begin, end = (self._places[self._segments[segments, side]] for side in (0, 1))
        step, reach = end - begin, points - begin
        length = step[..., 0] * step[..., 0] + step[..., 1] * step[..., 1]
        dot = reach[..., 0] * step[..., 0] + reach[..., 1] * step[..., 1]
        return np.asarray(np.clip(dot / np.where(length > 0, length, 1.0), 0.0, 1.0))


def _barycentric(points: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Weights (n, 3) of the corners of triangles at points (n, 2)."""

    def cross(u: Floats, v: Floats) -> Floats:
        return np.asarray(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])

    area = cross(b - a, c - a)
    of_b, of_c = cross(points - a, c - a) / area, cross(b - a, points - a) / area
    return np.stack([1.0 - of_b - of_c, of_b, of_c], axis=1)
