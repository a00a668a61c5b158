"""Memory of a wavefield: fields, model, absorbing layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fathometer.grid.arrays import field_layout
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.waves.boundary import Boundary
from fathometer.seismic.waves.physics import Physics
from fathometer.seismic.waves.points import halo_depth

PARAMETER_BYTES = 4  # of a number of vp, epsilon, delta, from which the model arrays are made


def wavefield_bytes(
    physics: Physics,
    block: Decomposition,
    radius: int,
    off_grid: bool,
    boundary: Boundary,
    grid: Grid,
    dtype: np.dtype[Any],
) -> dict[str, int]:
    """Bytes of a rank's wavefield, its model and absorbing layers, by part.

    radius: cells that the stencil reaches. off_grid: whether any receiver lies between cells.
    """
    _, shape = field_layout(block, halo_depth(radius, off_grid, block.ranks), dtype)
    own = math.prod(block.local_shape)
    layers = sum(2 * 2 * boundary.width * own // max(1, block.local_shape[axis]) for axis in grid.axes)
    return {
        "wavefields": 2 * physics.fields * math.prod(shape) * dtype.itemsize,
        "model": physics.models * own * (PARAMETER_BYTES + dtype.itemsize),
        "absorbing layers": layers * dtype.itemsize,
    }


def state_bytes(physics: Physics, block: Decomposition, dtype: np.dtype[Any]) -> int:
    """Bytes of a rank's part of a saved state, less the absorbing layers."""
    return 2 * physics.fields * math.prod(block.local_shape) * dtype.itemsize
