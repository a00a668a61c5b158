"""Places of the image's columns, their names in messages, and boxes of columns that bound memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.limits import SLAB_VALUES
from fathometer.seismic.kirchhoff.velocities.source import Columns

Floats = NDArray[np.float64]


def columns_of(grid: Grid, lo: Columns, hi: Columns) -> tuple[Floats, Floats]:
    """x and y (m) of the image's columns in the half-open box [lo, hi), (nx, ny) each."""
    x, y = (grid.origin[axis] + grid.spacing[axis] * np.arange(lo[axis], hi[axis], dtype=np.float64) for axis in (0, 1))
    along_x, along_y = np.meshgrid(x, np.zeros(hi[1] - lo[1]) if grid.two_dimensional else y, indexing="ij")
    return along_x, along_y


def corners_of(grid: Grid) -> tuple[Floats, Floats]:
    """x and y (m) of the image's outermost columns, (4,) each."""
    (x0, y0, _), (x1, y1, _) = grid.origin, grid.upper
    if grid.two_dimensional:
        y0 = y1 = 0.0
    return np.array([x0, x0, x1, x1]), np.array([y0, y1, y0, y1])


def times_of(grid: Grid) -> Floats:
    """Two-way times (nt,) of the image, s."""
    return np.asarray(grid.origin[2] + grid.spacing[2] * np.arange(grid.shape[2], dtype=np.float64))


def place(grid: Grid, x: float, y: float) -> str:
    """A place in words."""
    return f"x = {x:.10g} m" + ("" if grid.two_dimensional else f", y = {y:.10g} m")


def slabs(lo: Columns, hi: Columns, samples: int) -> list[tuple[Columns, Columns]]:
    """The box [lo, hi) in boxes with at most SLAB_VALUES values over `samples`, or of one column."""
    most = max(1, SLAB_VALUES // samples)
    along_y = max(1, min(most, hi[1] - lo[1]))
    along_x = max(1, most // along_y)
    return [
        ((x, y), (min(x + along_x, hi[0]), min(y + along_y, hi[1])))
        for x in range(lo[0], hi[0], along_x)
        for y in range(lo[1], hi[1], along_y)
    ]
