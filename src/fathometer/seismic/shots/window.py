"""The part of the model that a shot is migrated in: around its source and receivers, and all of the depth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fathometer.grid.grid import Grid

MULTIPLE = 8  # cells: shots of like spreads so get windows of equal shapes, for which one tiling is best
FEWEST = 16  # cells along a side, as far as the model has them


def window_of(grid: Grid, places: np.ndarray, aperture: float) -> Grid:
    """The cells of the model from the least to the largest x and y of some places (n, 3), m, and `aperture` m beyond,
    as far as the model goes: a grid without padding, whose `first` tells where it lies in the model."""
    first, shape = [0, 0, 0], list(grid.shape)
    for axis in grid.axes[:-1]:
        spacing, origin, cells = grid.spacing[axis], grid.origin[axis], grid.shape[axis]
        lo = math.floor((places[:, axis].min() - aperture - origin) / spacing)
        hi = math.ceil((places[:, axis].max() + aperture - origin) / spacing) + 1
        lo, hi = min(max(lo, 0), cells - 1), max(min(hi, cells), 1)
        length = min(cells, max(FEWEST, math.ceil((hi - lo) / MULTIPLE) * MULTIPLE))
        first[axis] = min(max(0, lo - (length - (hi - lo)) // 2), cells - length)
        shape[axis] = length
    x, y, z = (o + n * d for o, n, d in zip(grid.origin, first, grid.spacing, strict=True))
    return replace(grid, shape=(shape[0], shape[1], shape[2]), origin=(x, y, z), first=(first[0], first[1], first[2]))
