"""Memory of a wavefield on a graphics card, known without one (native/cuda/wave.cu lays its arrays out so)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.grid.arrays import padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.waves.boundary import Boundary
from fathometer.seismic.waves.physics import Physics
from fathometer.seismic.waves.points import halo_depth

FRONT, ROW, BEHIND = 32, 64, 256  # numbers: before a row's first cell, of whole rows, behind an array
LAYER_ROW = 8  # of whole rows of a layer's memories


def card_wavefield_bytes(
    physics: Physics,
    block: Decomposition,
    radius: int,
    off_grid: bool,
    boundary: Boundary,
    grid: Grid,
    dtype: np.dtype[Any],
) -> dict[str, int]:
    """Bytes of a rank's wavefield on its card, by part; arguments as of memory.wavefield_bytes."""
    x, y, z = block.local_shape
    depth = halo_depth(radius, off_grid, block.ranks)
    across = 0 if grid.two_dimensional else depth
    field = (x + 2 * depth) * (y + 2 * across) * _whole(FRONT + z + depth, ROW) + BEHIND
    model = x * y * _whole(z, ROW) + BEHIND
    return {
        "wavefields": 2 * physics.fields * field * dtype.itemsize,
        "model": physics.models * model * dtype.itemsize,
        "absorbing layers": _layers(block, radius, boundary.width, grid, dtype) * dtype.itemsize,
    }


def _layers(block: Decomposition, radius: int, width: int, grid: Grid, dtype: np.dtype[Any]) -> int:
    """Numbers of both memories of the layers that reach into a block (layers.pml_layers; a sponge has none)."""
    pairs, numbers = (radius + 1) // 2, 0
    for axis in grid.axes:
        n, reach = grid.full_shape[axis], width + pairs
        if axis == 2 and block.ranks[2] == 1:
            reach = min(padded(reach, dtype.itemsize), n)
        for side in (side for side in (0, 1) if grid.pad[axis][side]):
            lo, hi = (0, reach) if side == 0 else (n - reach, n)
            cells = min(hi, block.hi[axis]) - max(lo, block.lo[axis])
            for room in (cells + 2 * pairs - 1, cells) if cells > 0 else ():
                x, y, z = (room if a == axis else m for a, m in enumerate(block.local_shape))
                numbers += x * y * _whole(z, LAYER_ROW)
    return numbers


def _whole(numbers: int, row: int) -> int:
    return -(-numbers // row) * row
