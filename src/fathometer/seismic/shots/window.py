"""Migration window of a shot: the cells around its source and receivers, over the whole depth of the model."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fathometer.grid.grid import Grid

MULTIPLE = 8  # cells: shots with similar spreads get windows of one shape, and so share a tuned tiling
FEWEST = 16  # cells along a side, or all of a smaller model


def window_of(grid: Grid, positions: np.ndarray, aperture: float) -> Grid:
    """Grid of the cells within `aperture` (m) of the bounding box in x and y of the positions, clipped to the model.

    Args:
        grid: of the whole model. positions: of source and receivers, (n, 3), x, y, z, m.
    Returns:
        A grid without padding; its `first` is the index of its first cell in the model.
    """
    first, shape = [0, 0, 0], list(grid.shape)
    for axis in grid.axes[:-1]:
        spacing, origin, cells = grid.spacing[axis], grid.origin[axis], grid.shape[axis]
        lo = math.floor((positions[:, axis].min() - aperture - origin) / spacing)
        hi = math.ceil((positions[:, axis].max() + aperture - origin) / spacing) + 1
        lo, hi = min(max(lo, 0), cells - 1), max(min(hi, cells), 1)
        length = min(cells, max(FEWEST, math.ceil((hi - lo) / MULTIPLE) * MULTIPLE))
        first[axis] = min(max(0, lo - (length - (hi - lo)) // 2), cells - length)
        shape[axis] = length
    x, y, z = (o + n * d for o, n, d in zip(grid.origin, first, grid.spacing, strict=True))
    return replace(grid, shape=(shape[0], shape[1], shape[2]), origin=(x, y, z), first=(first[0], first[1], first[2]))
