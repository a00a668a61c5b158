"""Sources and receivers anywhere between the cells: Kaiser-windowed sinc weights (Hicks 2002, Geophysics 67(1)).

A point spreads over 8 cells an axis; on the grid the 8 weights collapse to one. The same weights inject and sample, so
that one is the transpose of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fathometer.parallel.decomposition import Decomposition, Index3

HALF_WIDTH = 4  # cells to each side
WEIGHTS = 2 * HALF_WIDTH
# Shape of the Kaiser window: the least worst error of an interpolated plane wave with 4 cells or more a wavelength.
KAISER_SHAPE = 6.31
# A point closer than this to a cell (in cells) lies on it: coordinates in SEG-Y headers are rounded.
ON_GRID = 1e-3
POINT_BYTES = 512  # of memory: places and weights


@dataclass(frozen=True)
class SincPoints:
    """Boxes of cells and separable weights of n points, in indices of the whole padded grid.

    Attributes:
        nearest: (n, 3) int64, the cell closest to the point.
        first: (n, 3) int64, first cell of the box; count: (n, 3) int32, its cells per axis (1 or up to 8).
        weight: (n, 3, 8) float64.
    """

    nearest: np.ndarray
    first: np.ndarray
    count: np.ndarray
    weight: np.ndarray

    @property
    def on_grid(self) -> bool:
        return bool(np.all(self.count == 1))

    def touching(self, block: Decomposition) -> np.ndarray:
        """Indices (n,) int64 of the points whose box has cells that the block owns, in order."""
        lo, hi = np.array(block.lo), np.array(block.hi)
        return np.flatnonzero(np.all((self.first < hi) & (self.first + self.count > lo), axis=1))

    def owned(self, block: Decomposition) -> np.ndarray:
        """Indices (n,) int64 of the points whose nearest cell the block owns, in order."""
        lo, hi = np.array(block.lo), np.array(block.hi)
        return np.flatnonzero(np.all((self.nearest >= lo) & (self.nearest < hi), axis=1))

    def of(self, some: np.ndarray) -> SincPoints:
        """Those of these numbers."""
        return SincPoints(self.nearest[some], self.first[some], self.count[some], self.weight[some])


def together(some: Sequence[SincPoints]) -> SincPoints:
    """All of some points, one after the other."""
    return SincPoints(
        np.concatenate([np.empty((0, 3), np.int64), *(points.nearest for points in some)]),
        np.concatenate([np.empty((0, 3), np.int64), *(points.first for points in some)]),
        np.concatenate([np.empty((0, 3), np.int32), *(points.count for points in some)]),
        np.concatenate([np.empty((0, 3, WEIGHTS)), *(points.weight for points in some)]),
    )


def sinc_weights(fraction: np.ndarray) -> np.ndarray:
    """Weights (n, 8) float64 of cells -3 … 4 for points at `fraction` (n, in [0, 1)) behind cell 0."""
    distance = np.arange(1 - HALF_WIDTH, HALF_WIDTH + 1) - fraction[:, None]
    window = np.i0(KAISER_SHAPE * np.sqrt(np.maximum(0.0, 1 - (distance / HALF_WIDTH) ** 2)))
    return np.asarray(np.sinc(distance) * window / np.i0(KAISER_SHAPE))


def sinc_points(cells: np.ndarray, surface: int | None = None) -> SincPoints:
    """Weights of points at fractional indices `cells` (n, 3) of the padded grid.

    Args:
        surface: index along z of a free surface; weights above it are folded back with changed sign, since pressure
            is odd there.
    """
    cells = np.asarray(cells, float).reshape(-1, 3)
    n = len(cells)
    nearest = np.floor(cells + 0.5).astype(np.int64)
    base = np.floor(cells).astype(np.int64)
    first, count, weight = nearest.copy(), np.ones((n, 3), np.int32), np.zeros((n, 3, WEIGHTS))
    weight[:, :, 0] = 1.0
    for axis in range(3):
        off = np.flatnonzero(np.abs(cells[:, axis] - nearest[:, axis]) > ON_GRID)
        first[off, axis] = base[off, axis] + 1 - HALF_WIDTH
        count[off, axis] = WEIGHTS
        weight[off, axis] = sinc_weights(cells[off, axis] - base[off, axis])
    if surface is not None:
        _fold(first[:, 2], count[:, 2], weight[:, 2], surface)
    return SincPoints(nearest, first, count, weight)


def _fold(first: np.ndarray, count: np.ndarray, weight: np.ndarray, surface: int) -> None:
    """Fold the weights of cells above the surface onto their mirror cells, in place."""
    for p in np.flatnonzero(first <= surface):
        folded = np.zeros(WEIGHTS)
        for m in range(count[p]):
            depth = first[p] + m - surface
            if depth != 0:  # pressure is zero in the surface itself
                folded[abs(depth) - 1] += np.sign(depth) * weight[p, m]
        deepest = max(abs(first[p] - surface), abs(first[p] + count[p] - 1 - surface), 1)
        first[p], count[p], weight[p] = surface + 1, deepest, folded


def halo_depth(radius: int, off_grid: bool, ranks: Index3) -> int:
    """Planes that neighbours exchange: what the stencil reaches; where ranks (along x, y, z) cut rows along z, also
    what a receiver between cells reaches of a row."""
    return max(radius, HALF_WIDTH) if off_grid and ranks[2] > 1 else radius


def weights_bytes(points: int) -> int:
    """Memory of places and weights of so many points, once for Python and once for the kernels."""
    return POINT_BYTES * points
