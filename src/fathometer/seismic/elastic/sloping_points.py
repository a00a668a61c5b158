"""Weights of sources and receivers near a sea floor that slopes.

A point there is interpolated along a line that runs beside the floor: in each column that its windowed sincs take along
x and y, by a polynomial through six points of its own side as far from that column's floor as the point is from the
floor below or above it. Rules for points on the floor are those of contact_points.py.
"""

from __future__ import annotations

import numpy as np

from fathometer.seismic.elastic.contact_closure import ROCK, WATER
from fathometer.seismic.elastic.contact_points import FAR, FEW
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import BY_NAME
from fathometer.seismic.elastic.floor_strip import LANES, moved
from fathometer.seismic.elastic.polynomials import POLYNOMIAL
from fathometer.seismic.elastic.sloping_floor import SlopingFloor
from fathometer.seismic.waves.points import WEIGHTS, SincPoints

_NEAR = LANES + WEIGHTS  # cells from the floor within which points follow it


def follow_floor(some: FieldPoints, cells: np.ndarray, floor: SlopingFloor, wet: np.ndarray | bool) -> FieldPoints:
    """The points with those near the floor in their place as many as the columns that they take, each of one column.

    cells: (n, 3) places in cells of the points. wet: (n,) or one for all, whether points on the floor are the water's.
    """
    points, name = some.points, some.field
    under = floor.below(cells[:, 0], cells[:, 1])
    near = np.abs(cells[:, 2] - under) < _NEAR
    if not near.any():
        return some
    sides = floor.side_of(cells, wet)
    parts = [some.at(np.flatnonzero(~near))]
    for side in (WATER, ROCK):
        which = np.flatnonzero(near & (sides == side))
        across = points.weight[which, 0][:, :, None] * points.weight[which, 1][:, None, :]
        inside = (np.arange(WEIGHTS) < points.count[which, 0][:, None])[:, :, None] & (
            np.arange(WEIGHTS) < points.count[which, 1][:, None]
        )[:, None, :]
        number, a, b = np.nonzero(inside)
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
        parts.append(FieldPoints(name, columns, some.column[parent], some.amplitude[parent]))
    return FieldPoints(
        name,
        SincPoints(*(np.concatenate([getattr(part.points, what) for part in parts]) for what in _PARTS)),
        np.concatenate([part.column for part in parts]),
        np.concatenate([part.amplitude for part in parts]),
    )


_PARTS = ("nearest", "first", "count", "weight")


def _down(
    name: str, side: int, i: np.ndarray, j: np.ndarray, distance: np.ndarray, floor: SlopingFloor
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First row, count and weights (n, WEIGHTS) along z of points in columns i, j, as far as `distance` (n,) from the
    floor."""
    total = _NEAR + WEIGHTS
    row, places = floor.points_of(name, side, i, j, total)
    # Of vz in the floor the field holds what is the rock's.
    begin = 1 if side == WATER and name == "vz" else 0
    before = np.sum(places < distance[:, None], axis=1)
    start = np.clip(before - POLYNOMIAL // 2, begin, total - POLYNOMIAL)
    few = np.take_along_axis(places, start[:, None], 1)[:, 0] - distance > FAR
    lanes = start[:, None] + np.arange(POLYNOMIAL)
    at = np.take_along_axis(places, lanes, 1)
    weight = np.zeros((len(i), WEIGHTS))
    for some, n in ((~few, POLYNOMIAL), (few, FEW)):
        for a in range(n):
            value = np.ones(np.count_nonzero(some))
            for b in range(n):
                if b != a:
                    value *= (distance[some] - at[some, b]) / (at[some, a] - at[some, b])
            weight[some, a] = value
    count = np.where(few, FEW, POLYNOMIAL).astype(np.int32)
    if side == ROCK:
        return row + start, count, weight
    # Rows grow towards the floor.
    for some, n in ((~few, POLYNOMIAL), (few, FEW)):
        weight[some, :n] = weight[some, :n][:, ::-1]
    return row - start - count + 1, count, weight
