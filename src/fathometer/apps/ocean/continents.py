"""Idealised continents: depths as a function of s and t, which go from 0 to 1 between the borders of any grid.

Land is where the distance to one of a few shapes (ellipses, two caps), less the bends of its coast, is not positive.
From there the depth rises over a shelf and a slope to that of the ocean; ridges along two curves raise the bottom.
s is periodic. The names tell what the shapes are like where s is longitude and t latitude from 77° S to 77° N.
"""

from __future__ import annotations

import numpy as np

from fathometer.apps.ocean.grid import Floats
from fathometer.apps.ocean.random_numbers import uniform

ELLIPSES = (  # middle s, t; half axes; slope of its axis, ds/dt
    (0.215, 0.56, 0.065, 0.26, 0.00),  # Africa
    (0.330, 0.81, 0.195, 0.155, 0.10),  # Eurasia
    (0.545, 0.34, 0.055, 0.075, 0.00),  # Australia
    (0.770, 0.82, 0.105, 0.175, -0.10),  # North America
    (0.805, 0.60, 0.030, 0.110, -0.25),  # the isthmus
    (0.840, 0.40, 0.055, 0.210, 0.05),  # South America
)
SOUTHERN_CAP, NORTHERN_CAP = 0.07, 0.965  # t at their coasts
SHELF = 0.03  # of the depth
SLOPE = 0.025  # distance over which the depth becomes that of the ocean
RIDGES = ((0.99, 0.025), (0.64, 0.03))  # s of their middle, how far they swing
RIDGE_HEIGHT, RIDGE_WIDTH = 0.4, 0.025  # of the depth; in s
BENDS = 8
BEND_SIZE = 0.006  # of the largest one


def relative_depth(s: Floats, t: Floats, seed: int = 0) -> Floats:
    """Depth from 0 (land) to 1 at the places s (nx,) and t (ny,): (nx, ny); seed: of the bends of the coasts."""
    s, t = s[:, None], t[None, :]
    distance = np.full(np.broadcast_shapes(s.shape, t.shape), np.inf)
    for middle, height, half_s, half_t, lean in ELLIPSES:
        ds = (s - middle - lean * (t - height) + 0.5) % 1.0 - 0.5
        radius = np.hypot(ds / half_s, (t - height) / half_t)
        np.minimum(distance, (radius - 1) * min(half_s, half_t), out=distance)
    swing = 0.015 * np.cos(2 * np.pi * s)
    np.minimum(distance, t - SOUTHERN_CAP + swing, out=distance)
    np.minimum(distance, NORTHERN_CAP - t + swing, out=distance)
    distance += _bends(s, t, seed)
    depth = SHELF + (1 - SHELF) * -np.expm1(-np.maximum(distance, 0) / SLOPE)
    for middle, reach in RIDGES:
        ds = (s - middle - reach * np.sin(3 * np.pi * t) + 0.5) % 1.0 - 0.5
        depth = depth * (1 - RIDGE_HEIGHT * np.exp(-((ds / RIDGE_WIDTH) ** 2)))
    return np.where(distance > 0, depth, 0.0)


def _bends(s: Floats, t: Floats, seed: int) -> Floats:
    """A sum of waves along both directions, the same for one seed everywhere."""
    total = np.zeros(np.broadcast_shapes(s.shape, t.shape))
    for number in range(BENDS):
        waves, slant, phase = (float(uniform(seed, np.array([3 * number + n]))[0]) for n in range(3))
        along, across = 3 + int(6 * (waves + 1) / 2), 4 * slant
        total += np.cos(2 * np.pi * (along * s + across * t) + np.pi * phase) / (1 + number / 2)
    return BEND_SIZE * total
