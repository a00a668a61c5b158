"""Memory of a wavefield on a graphics card, known without one (native/cuda/wave.cu lays its arrays out so)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.waves.boundary import Boundary
from fathometer.seismic.waves.physics import Physics
from fathometer.seismic.waves.points import halo_depth

FRONT, ROW, BEHIND = 32, 64, 256  # numbers: before a row's first cell, of whole rows, behind an array


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
    field = (x + 2 * depth) * (y + 2 * across) * _whole(FRONT + z + depth) + BEHIND
    model = x * y * _whole(z) + BEHIND
    pairs = (radius + 1) // 2
    own = math.prod(block.local_shape)
    layers = sum(2 * 2 * (boundary.width + 2 * pairs) * own // max(1, block.local_shape[axis]) for axis in grid.axes)
    return {
        "wavefields": 2 * physics.fields * field * dtype.itemsize,
        "model": physics.models * model * dtype.itemsize,
        "absorbing layers": layers * dtype.itemsize if boundary.width else 0,
    }


def _whole(numbers: int) -> int:
    return -(-numbers // ROW) * ROW
