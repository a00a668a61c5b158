"""Planes that show a volume: the section of a 2D grid, or three orthogonal slices of a 3D one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Grid:
    """A regular grid with axes x, y, z: cells, spacing (m) and position of the first cell's centre (m)."""

    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]

    def __post_init__(self) -> None:
        if min(self.shape) < 1 or not all(np.isfinite(d) and d > 0.0 for d in self.spacing):
            raise ValueError(f"a picture needs cells and positive spacing in m, not {self.shape}, {self.spacing}")

    def position(self, axis: int, index: int) -> float:
        """Position in m of a cell's centre along an axis."""
        return self.origin[axis] + index * self.spacing[axis]

    def nearest(self, axis: int, metres: float) -> int:
        """The cell of the grid nearest to a position in m along an axis."""
        return int(np.clip(round((metres - self.origin[axis]) / self.spacing[axis]), 0, self.shape[axis] - 1))

    def span(self, axis: int) -> tuple[float, float]:
        """Positions in m of the first and the last cell's centre along an axis; the edges of a single cell."""
        first, last = self.origin[axis], self.position(axis, self.shape[axis] - 1)
        half = self.spacing[axis] / 2 if self.shape[axis] == 1 else 0.0
        return first - half, last + half

    def length(self, axis: int) -> float:
        """Length of the span in m."""
        first, last = self.span(axis)
        return last - first


def grid_of(shape: Sequence[int], spacing: Sequence[float], origin: Sequence[float]) -> Grid:
    """The grid of an array (nx, ny, nz), spacing and origin in m; ValueError unless there are three of each."""
    if not len(shape) == len(spacing) == len(origin) == 3:
        raise ValueError(f"a picture needs 3 axes, not shape {tuple(shape)} with {len(spacing)} spacings")
    nx, ny, nz = (int(n) for n in shape)
    dx, dy, dz = (float(d) for d in spacing)
    x, y, z = (float(o) for o in origin)
    return Grid((nx, ny, nz), (dx, dy, dz), (x, y, z))


@dataclass(frozen=True)
class Plane:
    """The cells of index `index` along axis `fixed`; axis `across` is drawn horizontally, `along` vertically."""

    across: int
    along: int
    fixed: int
    index: int

    def of(self, volume: Values | Blocks) -> Values:
        """The values (across, along) on this plane of a volume (nx, ny, nz)."""
        if isinstance(volume, np.ndarray):
            part: Values = np.moveaxis(volume, self.fixed, 0)[self.index]
            return part
        lo, hi = [0, 0, 0], list(volume.shape)
        lo[self.fixed], hi[self.fixed] = self.index, self.index + 1
        return np.squeeze(volume.read(lo, hi), self.fixed)


@dataclass(frozen=True)
class Blocks:
    """A volume (nx, ny, nz) of which only what is shown is read: read(lo, hi) returns the block [lo, hi)."""

    shape: tuple[int, int, int]
    read: Callable[[Sequence[int], Sequence[int]], Values]


Slicer = Callable[[Plane], Values]  # gives the values (across, along) on a plane


def planes_of(grid: Grid, at: Sequence[float] | None = None) -> tuple[Plane, ...]:
    """The x-z section of a 2D grid (ny = 1); in 3D x-z, y-z and x-y slices through `at` (m) or the centre."""
    if grid.shape[1] == 1:
        return (Plane(0, 2, 1, 0),)
    if at is None:
        x, y, z = (n // 2 for n in grid.shape)
    else:
        x, y, z = (grid.nearest(axis, float(at[axis])) for axis in range(3))
    return Plane(0, 2, 1, y), Plane(1, 2, 0, x), Plane(0, 1, 2, z)


def downsampled(values: Values, most: int = 2400) -> tuple[Values, tuple[int, int]]:
    """A plane (across, along) averaged over blocks of cells to at most `most` a side, and the cells of a block.

    A picture shows no more than that, and a survey's slice may have a hundred million cells. Cells at the end that fill
    no block are left out: they are less than a pixel.
    """
    factors = tuple(-(-n // most) for n in values.shape)
    across, along = factors
    if factors != (1, 1):
        n, m = values.shape[0] // across, values.shape[1] // along
        blocks = values[: n * across, : m * along].reshape(n, across, m, along)
        values = blocks.mean(axis=(1, 3), dtype=np.float64)
    return values, (across, along)
