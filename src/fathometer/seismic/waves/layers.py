"""The absorbing boundaries of one rank's block: which cells they cover, and the kernels' arrays for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.grid.arrays import allocate, padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.waves.scheme import Scheme


@dataclass(frozen=True)
class Layer:
    """A PML of one axis and side on this rank's block; indices are local, half point i lies between cells i and i+1.

    Attributes:
        first: at the axis's first cells, not its last.
        in_row: axis z where rows are whole. Both memories then begin with the layer's cells and have room for whole
            vectors; else that of the first derivative has room, which stays zero, for all that the cells reach.
        cell_lo: first owned cell that the layer corrects.
        half_lo, half_hi: half points that have a memory here (some of them shared with a neighbour, which computes the
            same numbers).
        psi, zeta: memories of the first derivative (half points) and the second (cells).
        psi_filter, zeta_filter: gain and decay of their recursions.
    """

    axis: int
    first: bool
    in_row: bool
    cell_lo: int
    half_lo: int
    half_hi: int
    psi_first: int
    psi: np.ndarray
    zeta: np.ndarray
    psi_filter: tuple[np.ndarray, np.ndarray]
    zeta_filter: tuple[np.ndarray, np.ndarray]

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the kernels' add_layer."""
        return {
            "axis": self.axis,
            "first": self.first,
            "in_row": self.in_row,
            "cell_lo": self.cell_lo,
            "half_lo": self.half_lo,
            "psi_first": self.psi_first,
            "psi": self.psi,
            "zeta": self.zeta,
            "psi_gain": self.psi_filter[0],
            "psi_decay": self.psi_filter[1],
            "zeta_gain": self.zeta_filter[0],
            "zeta_decay": self.zeta_filter[1],
        }


def absorbing_boundaries(grid: Grid, scheme: Scheme) -> Iterator[tuple[int, int]]:
    """Axis and side of each absorbing boundary; side 0 is the first, 1 the last."""
    for axis in grid.axes if scheme.boundary.width else ():
        for side in (0, 1):
            if not (axis == 2 and side == 0 and scheme.free_surface):
                yield axis, side


def depth_inside(position: np.ndarray, side: int, cells: int, width: int) -> np.ndarray:
    """Depth of positions (cells of the padded axis) inside a layer: 0 at its inner edge, 1 at the outermost cell."""
    return (width - position) / width if side == 0 else (position - (cells - 1 - width)) / width


def damping_profiles(grid: Grid, block: Decomposition, scheme: Scheme) -> list[np.ndarray]:
    """eta dt on the owned cells of each axis (a sponge), or an empty list (no damping)."""
    width = scheme.boundary.width
    profiles, damped = [np.zeros(n) for n in block.local_shape], False
    for axis, side in absorbing_boundaries(grid, scheme):
        cells = np.arange(block.lo[axis], block.hi[axis], dtype=float)
        depth = depth_inside(cells, side, grid.full_shape[axis], width)
        eta = scheme.boundary.damping(depth, grid.spacing[axis], scheme.vmax)
        if eta is None:
            return []
        profiles[axis] += eta * scheme.dt
        damped = True
    return [profile.astype(scheme.dtype) for profile in profiles] if damped else []


def pml_layers(grid: Grid, block: Decomposition, scheme: Scheme) -> list[Layer]:
    """The PMLs that reach into this rank's block, in a fixed order of axes and sides."""
    layers = (_layer(grid, block, scheme, axis, side) for axis, side in absorbing_boundaries(grid, scheme))
    return [layer for layer in layers if layer is not None]


def _layer(grid: Grid, block: Decomposition, scheme: Scheme, axis: int, side: int) -> Layer | None:
    width, n, start = scheme.boundary.width, grid.full_shape[axis], block.lo[axis]
    local = block.local_shape[axis]
    pairs = (scheme.radius + 1) // 2  # the first derivative reaches this far
    reach, memories = width + pairs, width
    in_row = axis == 2 and block.ranks[2] == 1
    if in_row:
        reach = min(padded(reach, scheme.dtype.itemsize), n)  # whole vectors, the surplus with zero gain
    cells = (0, reach) if side == 0 else (n - reach, n)
    halves = (0, memories) if side == 0 else (n - 1 - memories, n - 1)
    cell_lo, cell_hi = max(cells[0] - start, 0), min(cells[1] - start, local)
    if cell_lo >= cell_hi:
        return None
    half_lo = max(halves[0] - start, cell_lo - pairs)
    half_hi = max(half_lo, min(halves[1] - start, cell_hi + pairs - 1))

    def recursion(position: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        pair = scheme.boundary.recursion(
            depth_inside(position + start, side, n, width),
            grid.spacing[axis],
            scheme.vmax,
            scheme.frequency,
            scheme.dt,
        )
        return None if pair is None else (pair[0].astype(scheme.dtype), pair[1].astype(scheme.dtype))

    psi_filter = recursion(np.arange(half_lo, half_hi) + 0.5)
    zeta_filter = recursion(np.arange(cell_lo, cell_hi, dtype=float))
    if psi_filter is None or zeta_filter is None:
        return None
    zeta_room = cell_hi - cell_lo
    if in_row:
        psi_first, psi_room = cell_lo, padded(zeta_room, scheme.dtype.itemsize)
        zeta_room = psi_room
    else:
        psi_first = min(cell_lo - pairs, half_lo)
        psi_room = max(cell_hi + pairs - 1, half_hi) - psi_first
    return Layer(
        axis=axis,
        first=side == 0,
        in_row=in_row,
        cell_lo=cell_lo,
        half_lo=half_lo,
        half_hi=half_hi,
        psi_first=psi_first,
        psi=_memory(block, scheme, axis, psi_room),
        zeta=_memory(block, scheme, axis, zeta_room),
        psi_filter=psi_filter,
        zeta_filter=zeta_filter,
    )


def _memory(block: Decomposition, scheme: Scheme, axis: int, length: int) -> np.ndarray:
    shape = list(block.local_shape)
    shape[axis] = length
    if axis != 2:
        shape[2] = padded(shape[2], scheme.dtype.itemsize)
    x, y, z = shape
    layout: Index3 = (x, y, z)
    return allocate(layout, scheme.dtype)
