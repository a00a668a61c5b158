"""Weights of points on the staggered grids of the fields, below a free surface too.

Between the points of a field, weights are those of windowed sincs (seismic/waves/points.py). Where a sinc would reach
above a free surface, at which fields end, weights along z are polynomials through six points at and below it (order 6):

    vx, vy, sxx, syy, sxy    points k = 0, 1, … lie in the surface and below
    szz                      is 0 in the surface: sampled as the others, injected below it alone, since what is added to
                             it there is lost
    vz                       points at k + 1/2: extrapolated to the surface
    sxz, syz                 points at k + 1/2, and 0 in the surface, which counts as a seventh point, without a cell

Where the medium attenuates, the strain of a cell depends on its mechanism, of three that take turns along each axis
(medium.py), and so does what a stress that is added to it sends out; the mean of three neighbours is that of the waves.
Weights of stresses along x are therefore changed so that each mechanism has a third of their sum, while waves of six
cells and more are sampled as before within 1 %.

Injection is the transpose of sampling. What a plane next to the surface stands for there, other than a cell, the
propagator divides by (closure.py).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.attenuation import MECHANISMS
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.contact_points import keep_to_sides
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import BY_NAME, STRESS
from fathometer.seismic.elastic.polynomials import POLYNOMIAL, lagrange
from fathometer.seismic.elastic.sloping_floor import SlopingFloor
from fathometer.seismic.elastic.sloping_points import follow_floor
from fathometer.seismic.waves.points import HALF_WIDTH, ON_GRID, WEIGHTS, SincPoints, sinc_points

_DEEP = HALF_WIDTH - 1  # cells below a field's first point from which on sincs stay below the surface
_LONG = 1.1  # highest wavenumber, radians a cell, up to which waves are kept where weights are shared evenly


def weights_of(
    name: str,
    cells: np.ndarray,
    free_surface: bool,
    injecting: bool,
    attenuates: bool = False,
    floor: SeaFloor | SlopingFloor | None = None,
    wet: np.ndarray | bool = False,
) -> SincPoints:
    """Boxes and weights of points on one field.

    Args:
        name: of the field. cells: (n, 3) fractional indices of nodes of the padded grid (Grid.to_cells).
        free_surface: whether the plane k = 0 is one. injecting: for sources; else for receivers.
        attenuates: whether the medium does, somewhere.
        floor: of the sea, of which a plane one changes them. wet: (n,) whether points on it are in the water
            (contact_points.py).
    """
    places = np.asarray(cells, float).reshape(-1, 3) - np.array(BY_NAME[name].offset)
    points = sinc_points(places)
    if free_surface:
        _below_surface(points, places[:, 2], name, injecting)
    if attenuates and BY_NAME[name].stage == STRESS:
        _share_evenly(points)
    if isinstance(floor, SeaFloor):
        keep_to_sides(points, np.asarray(cells, float).reshape(-1, 3), name, floor, wet)
    return points


def points_on(
    name: str,
    cells: np.ndarray,
    column: np.ndarray,
    amplitude: np.ndarray,
    *,
    free_surface: bool,
    injecting: bool,
    attenuates: bool = False,
    floor: SeaFloor | SlopingFloor | None = None,
    wet: np.ndarray | bool = False,
    block: Decomposition | None = None,
) -> list[FieldPoints]:
    """Points on one field with series (FieldPoints), and on the one that a sloping floor has besides; other arguments
    as of weights_of. block: that they are for; None: any."""
    weights = weights_of(name, cells, free_surface, injecting, attenuates, floor, wet)
    points = FieldPoints(name, weights, column, amplitude)
    if isinstance(floor, SlopingFloor):
        return follow_floor(points, np.asarray(cells, float).reshape(-1, 3), floor, wet, block)
    return [points]


def _share_evenly(points: SincPoints) -> None:
    """Change weights along x so that every third cell has the same sum, in place."""
    first, count, weight = points.first[:, 0], points.count[:, 0], points.weight[:, 0]
    single = count == 1
    first[single] -= HALF_WIDTH - 1
    count[single] = WEIGHTS - 1
    weight[single] = np.arange(WEIGHTS) == HALF_WIDTH - 1
    for some, cells in ((single, WEIGHTS - 1), (~single, WEIGHTS)):
        waves, change = _even(cells)
        # Sums of products, not matrix products: no bit of a point's depends on how many others there are.
        uneven = np.sum(weight[some][:, None, :cells] * waves, axis=2)
        weight[some, :cells] -= np.sum(uneven[:, None] * change, axis=2)


@cache
def _even(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Waves of three cells (2, cells), cosine and sine, and weights (cells, 2) whose sums with them are 1 and 0, or 0
    and 1; of such, and of sum 0, the ones that long waves notice least."""
    place = np.arange(cells) - (cells - 1) // 2
    waves = np.stack([f(2 * np.pi / MECHANISMS * place) for f in (np.cos, np.sin)])
    sums = np.concatenate([waves, np.ones((1, cells))])
    # The mean product of two cells over waves up to _LONG; a little more makes the inverse a sound one.
    product = np.sinc((place[:, None] - place) * _LONG / np.pi) + 1e-9 * np.eye(cells)
    unnoticed = np.linalg.solve(product, sums.T)
    return waves, (unnoticed @ np.linalg.inv(sums @ unnoticed))[:, :2]


def _below_surface(points: SincPoints, z: np.ndarray, name: str, injecting: bool) -> None:
    """Replace weights along z that reach above the surface, in place. z: (n,) indices of the field."""
    staggered = BY_NAME[name].offset[2] > 0
    lost = injecting and name == "szz"  # what is added in the surface
    first, count, weight = points.first[:, 2], points.count[:, 2], points.weight[:, 2]
    on_point = (count == 1) & (z > -ON_GRID) & ~(lost & (z < 1 - ON_GRID))
    for p in np.flatnonzero((z < _DEEP + lost) & ~on_point):
        start = max(int(np.floor(z[p])) - POLYNOMIAL // 2 + 1, int(lost))
        nodes = np.arange(start, start + POLYNOMIAL, dtype=float)
        if staggered and name != "vz" and start == 0:
            nodes = np.concatenate(([-0.5], nodes))  # 0 in the surface
        weight[p] = 0.0
        weight[p, :POLYNOMIAL] = lagrange(nodes, z[p])[-POLYNOMIAL:]
        first[p], count[p] = start, POLYNOMIAL
        points.nearest[p, 2] = max(points.nearest[p, 2], 0)


def reach(points: list[FieldPoints], shape: tuple[int, int, int]) -> np.ndarray:
    """Cells that the boxes of points reach beyond a grid of `shape`, (3, 2) int64: before and after, an axis a row."""
    out = np.zeros((3, 2), np.int64)
    for some in points:
        if len(some.points.first):
            out[:, 0] = np.maximum(out[:, 0], -some.points.first.min(axis=0))
            last = (some.points.first + some.points.count).max(axis=0)
            out[:, 1] = np.maximum(out[:, 1], last - np.array(shape))
    return out
