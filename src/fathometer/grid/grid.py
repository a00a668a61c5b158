"""The computational grid: the model's cells and what lies around them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fathometer.parallel.decomposition import Decomposition, Index3

Sides = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Grid:
    """The model's cells, extended by `pad` cells on each side (margins and absorbing layers).

    Attributes:
        shape: cells of the model along x, y, z; ny = 1 in two dimensions.
        spacing: dx, dy, dz in m.
        origin: coordinates of the model's first cell in m.
        pad: cells added before and after, per axis.
        first: place of this model's first cell in the model of the files: not 0 where it is a window of that.
        vertical: what the last axis is; "time": two-way time, spacing and origin along it in s.
    """

    shape: Index3
    spacing: Vector
    origin: Vector = (0.0, 0.0, 0.0)
    pad: Sides = ((0, 0), (0, 0), (0, 0))
    first: Index3 = (0, 0, 0)
    vertical: Literal["depth", "time"] = "depth"

    @property
    def two_dimensional(self) -> bool:
        return self.shape[1] == 1

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes along which waves travel."""
        return (0, 2) if self.two_dimensional else (0, 1, 2)

    @property
    def full_shape(self) -> Index3:
        """Cells of the model with its padding."""
        x, y, z = (n + lo + hi for n, (lo, hi) in zip(self.shape, self.pad, strict=True))
        return x, y, z

    @property
    def stencil_spacing(self) -> Vector:
        """Spacing with an infinite dy in two dimensions, where nothing varies along y."""
        dx, dy, dz = self.spacing
        return dx, math.inf if self.two_dimensional else dy, dz

    @property
    def cell_volume(self) -> float:
        """m^3, or m^2 in two dimensions."""
        return math.prod(self.spacing[axis] for axis in self.axes)

    @property
    def upper(self) -> Vector:
        """Coordinates of the model's last cell in m."""
        x, y, z = (o + (n - 1) * d for o, n, d in zip(self.origin, self.shape, self.spacing, strict=True))
        return x, y, z

    def model_box(self, block: Decomposition) -> tuple[Index3, Index3]:
        """Half-open range of the model's own cells (not its padding) that a block of `full_shape` holds."""
        bounds = []
        for start, stop, n, (before, _) in zip(block.lo, block.hi, self.shape, self.pad, strict=True):
            lo = min(max(start - before, 0), n)
            bounds.append((lo, min(max(stop - before, lo), n)))
        (x0, x1), (y0, y1), (z0, z1) = bounds
        return (x0, y0, z0), (x1, y1, z1)

    def local_box(self, block: Decomposition) -> tuple[Index3, Index3]:
        """The same range in the block's local indices; where it is empty, both ends are 0."""
        lo, hi = self.model_box(block)
        if any(a == b for a, b in zip(lo, hi, strict=True)):
            return (0, 0, 0), (0, 0, 0)
        shift = [before - start for start, (before, _) in zip(block.lo, self.pad, strict=True)]
        (x0, y0, z0), (x1, y1, z1) = ([c + s for c, s in zip(end, shift, strict=True)] for end in (lo, hi))
        return (x0, y0, z0), (x1, y1, z1)

    def to_cells(self, positions: np.ndarray) -> np.ndarray:
        """Coordinates (n, 3) in m as fractional indices of the padded grid (n, 3); y is 0 in two dimensions."""
        first = np.array([lo for lo, _ in self.pad], float)
        cells = (np.asarray(positions, float) - np.array(self.origin)) / np.array(self.spacing) + first
        if self.two_dimensional:
            cells[:, 1] = 0.0
        return np.asarray(cells)
