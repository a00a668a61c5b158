"""What a trace stands for: the part of the plane of midpoints (2D: of the line) that is nearest to its own.

The sum over traces is an integral over midpoints. Within a class of traces (those of a bin of offset, or all of them)
each midpoint has its Voronoi cell, cut at the convex hull of the class's midpoints, of at most `MOST` times the lower
quartile of the class, so that the last trace before a gap does not stand for the gap. Traces of one midpoint share it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, Delaunay

MOST = 4.0  # times the lower quartile of a class: of few midpoints on both sides of a hole half are beside it
SAME = 0.01  # m, as near two midpoints are one
FLAT = 0.5  # of a place: midpoints that lie in a band as narrow are on a line
STRIP = 300_000  # midpoints whose cells are made at a time: half a gigabyte

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassAreas:
    """The cells of a class of traces, m² (2D: m).

    Attributes:
        midpoints: (m, 2) that differ, m; (m, 1) in 2D. cells: (m,). traces: (n,) of each trace.
    """

    midpoints: Doubles
    cells: Doubles
    traces: Doubles

    @classmethod
    def of(cls, midpoints: Doubles, widths: Sequence[float]) -> ClassAreas:
        """midpoints: (n, 2) of traces, m; (n, 1) in 2D. widths: m along each axis, of cells where midpoints have no
        extent along it."""
        if not len(midpoints):
            return cls(midpoints, np.zeros(0), np.zeros(0))
        rounded = np.round(midpoints / SAME)
        _, first, inverse, counts = np.unique(
            rounded, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        cells = _cells(midpoints[first], widths)
        cells = np.minimum(cells, MOST * np.quantile(cells, 0.25))
        return cls(midpoints[first], cells, (cells / counts)[inverse.ravel()])


def _cells(points: Doubles, widths: Sequence[float]) -> Doubles:
    """(m,) of midpoints that all differ."""
    if points.shape[1] == 1:
        return _intervals(points[:, 0], widths[0])
    middle = points - points.mean(axis=0)
    axes = np.eye(2)
    if len(points) > 1:
        _, _, axes = np.linalg.svd(middle, full_matrices=False)
    along = int(abs(axes[0, 1]) > abs(axes[0, 0]))
    if len(points) > 2 and np.ptp(middle @ axes[1]) > FLAT * widths[1 - along]:
        return _voronoi(middle)
    return _intervals(middle @ axes[0], widths[along]) * widths[1 - along]


def _intervals(x: Doubles, width: float) -> Doubles:
    """(m,) of places along a line: half the distance to the neighbours on both sides."""
    if len(x) == 1:
        return np.array([width])
    order = np.argsort(x)
    halves = 0.5 * np.diff(x[order])
    cells = np.empty(len(x))
    cells[order] = np.concatenate([halves, [0.0]]) + np.concatenate([[0.0], halves])
    return cells


def _voronoi(points: Doubles) -> Doubles:
    """(m,) of points (m, 2) that are not on one line, cut at their convex hull; strip by strip along x."""
    hull = ConvexHull(points)
    order = np.argsort(points[:, 0], kind="stable")
    inline = points[order]
    beside = 20 * math.sqrt(hull.volume / len(points))  # of what a cell can reach
    cells = np.empty(len(points))
    for first in range(0, len(points), STRIP):
        last = min(first + STRIP, len(points))
        low = np.searchsorted(inline[:, 0], inline[first, 0] - beside)
        high = np.searchsorted(inline[:, 0], inline[last - 1, 0] + beside, side="right")
        cells[order[first:last]] = _strip(inline[low:high], hull.equations)[first - low : last - low]
    return cells


def _strip(points: Doubles, sides: Doubles) -> Doubles:
    """(m,) of the Voronoi cells of points (m, 2), cut by the sides of the hull: normals and offsets (s, 3)."""
    count, reach = len(points), 10.0 * np.ptp(points, axis=0).max()
    angles = np.arange(8) * math.pi / 4
    around = points.mean(axis=0) + reach * np.column_stack([np.cos(angles), np.sin(angles)])
    everywhere = np.concatenate([points, around])  # with points far around, no cell of ours is unbounded
    mesh = Delaunay(everywhere)
    centres = _circumcentres(everywhere[mesh.simplices])
    cells = np.zeros(len(everywhere))
    for side in range(3):  # of a triangle: the neighbour beyond it, and the two points that share this side
        others = mesh.neighbors[:, side]
        once = np.flatnonzero(others > np.arange(len(others)))
        ends = [mesh.simplices[once, (side + more) % 3] for more in (1, 2)]
        apart = np.linalg.norm(everywhere[ends[0]] - everywhere[ends[1]], axis=1)
        long = np.linalg.norm(centres[once] - centres[others[once]], axis=1)
        for end in ends:  # a side of a cell is half way to the neighbour: a triangle of that height
            cells += np.bincount(end, 0.25 * apart * long, len(cells))
    outside = np.zeros(len(centres), np.bool_)
    for side in sides:
        outside |= centres @ side[:2] + side[2] > 1e-9 * np.abs(points).max()
    cut = np.isin(mesh.simplices, np.unique(mesh.simplices[outside])) & (mesh.simplices < count)
    triangle, corner = np.nonzero(cut)
    owners = mesh.simplices[triangle, corner]
    order = np.argsort(owners, kind="stable")
    own, first = np.unique(owners[order], return_index=True)
    for n, part in zip(own, np.split(triangle[order], first[1:]), strict=True):
        corners = centres[part]
        away = corners - points[n]
        cells[n] = _clipped(corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))], sides)
    for n, _, nearest in mesh.coplanar:  # too near to another for the mesh: both share
        cells[n] = cells[nearest] = 0.5 * cells[nearest]
    return cells[:count]


def _circumcentres(corners: Doubles) -> Doubles:
    """(t, 2) of triangles (t, 3, 2)."""
    first = corners[:, 0]
    b, c = corners[:, 1] - first, corners[:, 2] - first
    double = 2 * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    double[double == 0] = np.finfo(float).tiny ** 0.5  # three points on a line: as far away as can be
    b2, c2 = (b**2).sum(axis=1), (c**2).sum(axis=1)
    offsets = np.column_stack([c[:, 1] * b2 - b[:, 1] * c2, b[:, 0] * c2 - c[:, 0] * b2])
    return np.asarray(first + offsets / double[:, None])


def _clipped(corners: Doubles, sides: Doubles) -> float:
    """Area of a convex polygon (k, 2), its corners in their order, within half-planes (s, 3)."""
    for normal_x, normal_y, offset in sides:
        beyond = corners @ (normal_x, normal_y) + offset
        if not (beyond > 0).any():
            continue
        kept = []
        for n in range(len(corners)):
            a, b = beyond[n - 1], beyond[n]
            if (a > 0) != (b > 0):
                kept.append(corners[n - 1] + (corners[n] - corners[n - 1]) * (a / (a - b)))
            if b <= 0:
                kept.append(corners[n])
        if len(kept) < 3:
            return 0.0
        corners = np.array(kept)
    x, y = corners.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
