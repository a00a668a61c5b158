"""How much velocities change from cell to cell: what guides waves in beds, which wide absorbing layers let grow.

A change is 2 |a - b| / (a + b) of two cells side by side, whichever of vp and vs changes more; between a fluid and a
solid that of vp. Sums are of whole numbers, so that no bit depends on how ranks share the grid.
"""

from __future__ import annotations

import math

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition

UNIT = 1 << 20  # numbers in a change of 1


def sum_changes(vp: np.ndarray, vs: np.ndarray, grid: Grid, block: Decomposition) -> np.ndarray:
    """Sums of a rank's changes along each axis: (3, 7), of all cells; of those in the first and the last plane of each
    axis where there is padding, which its layers repeat. vp, vs: on the extended box (see earth.py)."""
    total = np.zeros((3, 7), np.int64)
    planes = [
        (1 + 2 * axis + side, axis, plane - block.lo[axis])
        for axis in grid.axes
        for side, plane in enumerate((0, grid.full_shape[axis] - 1))
        if grid.pad[axis][side] and block.lo[axis] <= plane < block.hi[axis]
    ]
    y = slice(None) if grid.two_dimensional else slice(1, -1)
    for x in range(1, vp.shape[0] - 1):  # plane by plane, to avoid whole copies
        for along in grid.axes:
            following: list[slice] = [slice(x, x + 1), y, slice(1, -1)]
            following[along] = slice(x + 1, x + 2) if along == 0 else slice(2, None)
            of_vp, of_vs = (_change(values[x : x + 1, y, 1:-1], values[tuple(following)]) for values in (vp, vs))
            changes = np.rint(UNIT * np.maximum(of_vp, of_vs)).astype(np.int64)
            total[along, 0] += changes.sum()
            for number, axis, plane in planes:
                if axis == along or (axis == 0 and plane != x - 1):
                    continue
                total[along, number] += changes.take(0 if axis == 0 else plane, axis).sum()
    return total


def _change(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of velocities; 0 where one of them is 0."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    both = (a > 0) & (b > 0)
    return np.where(both, 2 * np.abs(a - b) / np.where(both, a + b, 1.0), 0.0)


def unevenness(total: np.ndarray, grid: Grid) -> float:
    """The mean change a cell along the axis where it is largest, in the model or in an outermost plane of it; total:
    the sum of all ranks' sum_changes."""
    cells, largest = grid.full_shape, 0.0
    for along in grid.axes:
        across = math.prod(cells) // cells[along] * grid.shape[along]  # along the axis padding adds no change
        pairs = [across, *(across // n for n in cells for _ in range(2))]
        largest = max(largest, float((total[along] / np.array(pairs)).max()) / UNIT)
    return largest
