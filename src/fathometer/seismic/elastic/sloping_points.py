"""Weights of sources and receivers near a sea floor that slopes.

A point there is interpolated along a line that runs beside the floor: in each column that its windowed sincs take along
x and y, by a polynomial through six points of its own side as far from that column's floor as the point is from the
floor below or above it. Rules for points on the floor are those of contact_points.py.
"""

from __future__ import annotations

import math

import numpy as np

from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.contact_closure import ROCK, WATER
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import BY_NAME
from fathometer.seismic.elastic.floor_strip import OTHER_INERTIA, moved
from fathometer.seismic.elastic.polynomials import POLYNOMIAL
from fathometer.seismic.elastic.sloping_floor import IN_FLOOR, SlopingFloor
from fathometer.seismic.waves.points import HALF_WIDTH, WEIGHTS, SincPoints, together, weights_bytes
from fathometer.seismic.waves.recording import reaches

# Cells from the floor within which points follow it: beyond, no box reaches points that are moved or stand for other
# than a cell, over columns that differ by a cell a cell at most. Floors are deep enough that these stay below the rules
# of a free surface.
_NEAR = OTHER_INERTIA + 2 * HALF_WIDTH


def floor_point_bytes(cells: np.ndarray, fields: int, floor: SlopingFloor) -> int:
    """Memory that columns of points near the floor take. cells: (n, 3) places in cells; fields: that each touches."""
    near = np.abs(cells[:, 2] - floor.below(cells[:, 0], cells[:, 1])) < _NEAR
    axes = sum(n > 1 for n in floor.depths.shape)  # that points may lie between columns of
    return weights_bytes(int(near.sum()) * fields * WEIGHTS**axes)


def follow_floor(
    some: FieldPoints, cells: np.ndarray, floor: SlopingFloor, wet: np.ndarray | bool, block: Decomposition | None
) -> list[FieldPoints]:
    """The points, those near the floor replaced by as many as the columns that they take, each of one column; of vz
    with points of the water in the floor, which has a field of its own.

    cells: (n, 3) places in cells of the points. wet: (n,) or one for all, whether points on the floor are the water's.
    block: others than those that it concerns may stay as they are; None: none may.
    """
    points, name = some.points, some.field
    under = floor.below(cells[:, 0], cells[:, 1])
    near = np.abs(cells[:, 2] - under) < _NEAR
    if block is not None:
        near[near] = reaches(block, points.of(np.flatnonzero(near)))
    if not near.any():
        return [some]
    sides = floor.side_of(cells, wet)
    parts, in_floor = [some.at(np.flatnonzero(~near))], []
    for side in (WATER, ROCK):
        which = np.flatnonzero(near & (sides == side))
        across = points.weight[which, 0][:, :, None] * points.weight[which, 1][:, None, :]
        taken = np.arange(WEIGHTS) < points.count[which][:, :, None]
        number, a, b = np.nonzero(taken[:, 0, :, None] & taken[:, 1, None, :])
        parent = which[number]
        i, j = points.first[parent, 0] + a, points.first[parent, 1] + b
        away = np.abs(cells[parent, 2] - under[parent])
        sign = -1.0 if side == WATER else 1.0
        # Far from the floor the line is level.
        here = floor.at(BY_NAME[name].offset[:2], i, j)
        distance = away - sign * (1 - moved(away)) * (here - under[parent])
        first, count, weight = _down(name, side, i, j, distance, floor)
        weights = np.zeros((len(parent), 3, WEIGHTS))
        weights[:, 0, 0], weights[:, 1, 0], weights[:, 2] = across[number, a, b], 1.0, weight
        ones = np.ones(len(parent), np.int32)
        columns = SincPoints(
            points.nearest[parent], np.stack([i, j, first], axis=1), np.stack([ones, ones, count], axis=1), weights
        )
        found = FieldPoints(name, columns, some.column[parent], some.amplitude[parent])
        if side == WATER and name == "vz":
            reaching = np.flatnonzero(first + count - 1 == floor.row_of(name, i, j))
            in_floor = [_split(found, reaching)]
        parts.append(found)
    return [_joined(parts), *in_floor]


def _split(points: FieldPoints, reaching: np.ndarray) -> FieldPoints:
    """The last points along z of some, which lose them, as points of their own."""
    count, weight = points.points.count, points.points.weight
    last = count[reaching, 2] - 1
    some = points.at(reaching)
    at = SincPoints(
        some.points.nearest, some.points.first.copy(), np.ones_like(some.points.count), some.points.weight.copy()
    )
    at.first[:, 2] += last
    at.weight[:, 2] = 0.0
    at.weight[:, 2, 0] = weight[reaching, 2, last]
    weight[reaching, 2, last] = 0.0
    count[reaching, 2] = last
    return FieldPoints(IN_FLOOR, at, some.column, some.amplitude)


def _joined(parts: list[FieldPoints]) -> FieldPoints:
    return FieldPoints(
        parts[0].field,
        together([part.points for part in parts]),
        np.concatenate([part.column for part in parts]),
        np.concatenate([part.amplitude for part in parts]),
    )


def _down(
    name: str, side: int, i: np.ndarray, j: np.ndarray, distance: np.ndarray, floor: SlopingFloor
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First row, count and weights (n, WEIGHTS) along z of points in columns i, j, as far as `distance` (n,) from the
    floor."""
    total = math.ceil(_NEAR) + WEIGHTS
    row, places = floor.points_of(name, side, i, j, total)
    start = np.clip(np.sum(places < distance[:, None], axis=1) - POLYNOMIAL // 2, 0, total - POLYNOMIAL)
    at = np.take_along_axis(places, start[:, None] + np.arange(POLYNOMIAL), 1)
    weight = np.ones((len(i), WEIGHTS))
    weight[:, POLYNOMIAL:] = 0.0
    for a in range(POLYNOMIAL):
        for b in range(POLYNOMIAL):
            if b != a:
                weight[:, a] *= (distance - at[:, b]) / (at[:, a] - at[:, b])
    count = np.full(len(i), POLYNOMIAL, np.int32)
    if side == ROCK:
        return row + start, count, weight
    weight[:, :POLYNOMIAL] = weight[:, POLYNOMIAL - 1 :: -1]  # rows grow towards the floor
    return row - start - POLYNOMIAL + 1, count, weight
