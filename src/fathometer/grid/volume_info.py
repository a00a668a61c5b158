"""What a volume on the cells of a grid says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.place import Place


def volume_info(grid: Grid, dtype: np.dtype[Any], unit: str, place: Place | None = None) -> VolumeInfo:
    """A volume of the grid's cells without its padding, z (or two-way time, t) fastest; two axes in two dimensions.

    unit: of the values. place: of the grid's x and y in the world; None: unknown.
    """
    labels = "xyt" if grid.vertical == "time" else "xyz"
    return VolumeInfo(
        tuple(grid.shape[a] for a in grid.axes),
        dtype,
        tuple(grid.spacing[a] for a in grid.axes),
        tuple(grid.origin[a] for a in grid.axes),
        tuple(labels[a] for a in grid.axes),
        unit,
        place=Place() if place is None else place,
    )
