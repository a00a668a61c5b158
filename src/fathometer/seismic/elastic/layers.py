"""The absorbing layers of one rank's block: which cells they cover, and the kernels' arrays for them.

C-PML (Komatitsch & Martin 2007, Geophysics 72(5)): every derivative across a layer has a memory, d -> d + memory with

    memory = decay memory + gain d,   decay = exp(-(eta + alpha) dt),   gain = eta / (eta + alpha) (decay - 1)

and the fields themselves are damped, in each step to keep times what they were. The profiles: waves/boundary.py,
MultiaxialPml.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.grid.arrays import CACHE_LINE, allocate, padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.layers import depth_inside
from fathometer.seismic.waves.scheme import Scheme

SHARE = 0.015  # of the logarithm of the contrast
SHARE_BESIDE_FLUIDS = 0.03
SHARE_OF_CONTACTS = 2.0  # of those with fluids
LARGEST_SHARE = 0.15
SHARE_OF_CHANGES = 0.05  # of those in the cells beyond NARROW, less HARMLESS ones
NARROW = 10  # cells
HARMLESS = 0.3  # a single interface guides nothing that grows
LARGEST_SHARE_OF_CHANGES = 0.3


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of one axis on this rank's block.

    Attributes:
        lo, hi: local half-open range of its cells. memory: of both stages, by component of the force and of the
            velocity. gain, decay, keep: at nodes, at half points behind them.
    """

    axis: int
    lo: int
    hi: int
    memory: list[np.ndarray]
    gain: list[np.ndarray]
    decay: list[np.ndarray]
    keep: list[np.ndarray]

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the kernels' add_layer."""
        return {name: getattr(self, name) for name in ("axis", "lo", "hi", "memory", "gain", "decay", "keep")}


def multiaxial_share(contrast: float, contacts: float, unevenness: float = 0.0, width: int = NARROW) -> float:
    """Share of the damping that keeps waves from growing in layers of a medium.

    A rule found by trying: with it nothing grows in 24,000 steps of flat beds and of cells drawn by chance, with
    fluids and without, whatever their contrast (test_elastic_layers.py). A homogeneous medium needs none. Waves in beds
    of some cells find room to grow in layers that are wider than these, so there the share rises with the changes from
    cell to cell that fit into the width: refined grids keep it, with as wide layers in metres.

    Args:
        contrast, contacts, unevenness: see ElasticEarth. width: of the layers, cells.
    """
    fluids = max(SHARE_BESIDE_FLUIDS, SHARE_OF_CONTACTS * contacts) if contacts else 0.0
    share = min(max(SHARE * math.log(contrast), fluids), LARGEST_SHARE)
    changes = unevenness * max(width - NARROW, 0) - HARMLESS
    return max(share, min(SHARE_OF_CHANGES * changes, LARGEST_SHARE_OF_CHANGES))


def cells_in_layers(block: Decomposition, shape: Index3, width: int, free_surface: bool, itemsize: int = 4) -> int:
    """Cells of a block that kernels take as in layers of a padded grid of this shape: along z whole cache lines; those
    in layers of several axes count in each."""
    count, cells = 0, (*block.local_shape[:2], padded(block.local_shape[2], itemsize))
    for axis, n in enumerate(shape):
        if n > 1:
            ranges = _ranges(axis, n, width, free_surface, block, itemsize)
            inside = sum(padded(hi - lo, itemsize) if axis == 2 else hi - lo for lo, hi in ranges)
            count += inside * math.prod(cells) // cells[axis]
    return count


def elastic_layers(grid: Grid, block: Decomposition, scheme: Scheme) -> list[Layer]:
    """The layers that reach into this rank's block, by axis in increasing order of cells."""
    width, free_surface, itemsize = scheme.boundary.width, scheme.free_surface, scheme.dtype.itemsize
    return [
        _layer(grid, block, scheme, axis, lo, hi)
        for axis in grid.axes
        for lo, hi in _ranges(axis, grid.full_shape[axis], width, free_surface, block, itemsize)
    ]


def _ranges(
    axis: int, n: int, width: int, free_surface: bool, block: Decomposition, itemsize: int
) -> Iterator[tuple[int, int]]:
    """Local half-open ranges of cells in layers of an axis with n cells. Along z they are whole cache lines, the
    surplus without damping."""
    ranges = [] if free_surface and axis == 2 else [(0, width)]
    ranges.append((n - 1 - width, n))  # the half point before the first node in the layer is in it too
    start, local = block.lo[axis], block.local_shape[axis]
    line = CACHE_LINE // itemsize if axis == 2 else 1
    end = 0
    for first, last in ranges if width else ():
        lo, hi = max(first - start, 0) // line * line, min(last - start, local)
        hi = min(-(-hi // line) * line, local)
        lo = max(lo, end)
        if lo < hi:
            yield lo, hi
            end = hi


def _layer(grid: Grid, block: Decomposition, scheme: Scheme, axis: int, lo: int, hi: int) -> Layer:
    shape = list(block.local_shape)
    shape[axis] = hi - lo
    shape[2] = padded(shape[2], scheme.dtype.itemsize)
    x, y, z = shape
    layout: Index3 = (x, y, z)
    memories = 2 * len(grid.axes)
    nodes = np.arange(lo, hi, dtype=float) + block.lo[axis]
    filters = [_recursion(grid, scheme, axis, position) for position in (nodes, nodes + 0.5)]
    return Layer(
        axis,
        lo,
        hi,
        [allocate(layout, scheme.dtype, stagger=m) for m in range(memories)],
        *([filter.astype(scheme.dtype) for filter in kind] for kind in zip(*filters, strict=True)),
    )


def _recursion(
    grid: Grid, scheme: Scheme, axis: int, position: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gain, decay and keep (n,) float64 at positions of the padded axis in cells."""
    n, boundary = grid.full_shape[axis], scheme.boundary
    assert isinstance(boundary, MultiaxialPml)
    sides = [depth_inside(position, side, n, boundary.width) for side in (0, 1)]
    if scheme.free_surface and axis == 2:
        sides[0] = np.zeros_like(position)
    depth = np.clip(np.maximum(*sides), 0.0, None)
    gain, decay = boundary.recursion(depth, grid.spacing[axis], scheme.vmax, scheme.frequency, scheme.dt)
    return gain, decay, boundary.keep(depth, grid.spacing[axis], scheme.vmax, scheme.dt)
