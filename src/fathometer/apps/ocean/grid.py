"""The grid of an ocean: an Arakawa B-grid with z levels, cells of land, and depth by level.

Tracers, pressure and surface height lie at the centres of cells (T points); velocities at their north-east corners (U
points): U (i, j) is the corner between T (i, j), (i+1, j), (i, j+1) and (i+1, j+1). Level 0 is the uppermost one.

Arakawa & Lamb (1977, Methods Comput. Phys. 17); Bryan (1969, J. Comput. Phys. 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Levels = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class OceanGrid:
    """The whole grid; all ranks have it.

    Attributes:
        x, y: centres of the cells (nx,), (ny,), m or degrees. dx, dx_u: width of cells along x at their centres' and
            their corners' y (ny,), m. dy: width along y, m. f, tan_over_radius: Coriolis parameter (1/s) and
            tan(latitude) / radius (1/m, 0 on a plane) at the corners' y (ny,).
        thickness: of the levels at rest (nz,), m. levels: of water in each cell (nx, ny), 0 on land.
        periodic: whether x = nx is x = 0. spherical: whether x and y are longitude and latitude.
    """

    x: Floats
    y: Floats
    dx: Floats
    dx_u: Floats
    dy: float
    f: Floats
    tan_over_radius: Floats
    thickness: Floats
    levels: Levels
    periodic: bool = False
    spherical: bool = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells along x, y, and levels."""
        return len(self.x), len(self.y), len(self.thickness)

    @cached_property
    def levels_u(self) -> Levels:
        """Levels of water at each corner (nx, ny): of the shallowest of the four cells around it, 0 on the border."""
        east = np.roll(self.levels, -1, 0)
        if not self.periodic:
            east[-1] = 0
        both = np.minimum(self.levels, east)
        north = np.zeros_like(both)
        north[:, :-1] = both[:, 1:]
        return np.minimum(both, north)

    @cached_property
    def depth(self) -> Floats:
        """Depth of each cell at rest (nx, ny), m."""
        return self.bottoms[self.levels]

    @cached_property
    def depth_u(self) -> Floats:
        """Depth at each corner at rest (nx, ny), m."""
        return self.bottoms[self.levels_u]

    @cached_property
    def bottoms(self) -> Floats:
        """Depth of the interfaces (nz + 1,), m: 0, the bottom of the first level, and so on."""
        return np.concatenate([[0.0], np.cumsum(self.thickness)])

    @cached_property
    def area(self) -> Floats:
        """Of the cells of each row (ny,), m²."""
        return self.dx * self.dy
