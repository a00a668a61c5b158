"""Weights of sources and receivers near a sea floor, from points of their own side of it alone.

A point above the floor is in the water, one below it in the rock. On the floor, pressure and explosions are in the
water, all else in the rock. Where the windowed sincs of points.py would reach across the floor, weights along z are
polynomials through six points of one side (order 6), of which one lies in the floor itself where vz is stored in it or
a shear stress is 0 there.
"""

from __future__ import annotations

import numpy as np

from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.contact_closure import WATER
from fathometer.seismic.elastic.fields import BY_NAME
from fathometer.seismic.elastic.polynomials import POLYNOMIAL, lagrange
from fathometer.seismic.waves.points import SincPoints

FAR, FEW = 0.8, 3  # cells beyond its last point from which on a value is extrapolated from so few points


def keep_to_sides(points: SincPoints, cells: np.ndarray, name: str, floor: SeaFloor, wet: np.ndarray | bool) -> None:
    """Replace the weights of one field's points that reach across the floor, in place.

    cells: (n, 3) places in cells. wet: (n,) or one for all, whether points on the floor are the water's.
    """
    z = cells[:, 2]
    half = BY_NAME[name].offset[2] > 0
    first, count, weight = points.first[:, 2], points.count[:, 2], points.weight[:, 2]
    sides = floor.side_of(cells, wet)
    inside = first + count - 1 <= floor.last - half  # the half point of the last node lies in the floor
    for p in np.flatnonzero(np.where(sides == WATER, ~inside, first <= floor.last)):
        place = z[p] - 0.5 * half
        start = int(np.floor(place)) - POLYNOMIAL // 2 + 1
        above = sides[p] == WATER
        start = min(start, floor.last - POLYNOMIAL + 1) if above else max(start, floor.last + 1 - half)
        rows = np.arange(start, start + POLYNOMIAL)
        in_floor = (rows == floor.last) & half
        at = np.where(in_floor, floor.depth - 0.5, rows.astype(float))
        count[p] = POLYNOMIAL
        if max(at[0] - place, place - at[-1]) > FAR:  # six would multiply short waves by up to 63
            near = slice(-FEW, None) if above else slice(FEW)
            rows, in_floor, at, count[p] = rows[near], in_floor[near], at[near], FEW
        values = lagrange(at, place)
        weight[p] = 0.0
        weight[p, : count[p]] = values if name == "vz" else np.where(in_floor, 0.0, values)
        first[p] = rows[0]
        points.nearest[p, 2] = np.clip(points.nearest[p, 2], rows[0], rows[-1])
