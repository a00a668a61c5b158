"""What the model solves: the grid, the numbers of the equations, forcing, the state at the beginning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.solver.physics import Physics

TRACERS = ("temperature", "salinity")
Box = tuple[int, int]
Values = Callable[[Box, Box], Floats]  # (lo, hi) in x and y to values (hi - lo, nz)


@dataclass(frozen=True, eq=False)
class Surface:
    """What a tracer is given at the surface. rate: of restoring, 1/s. target: it is restored to, (nx, ny). flux: into
    the water, unit of the tracer x m/s, (nx, ny); None: none."""

    rate: float = 0.0
    target: Floats | None = None
    flux: Floats | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of the ocean model.

    Attributes:
        grid, physics. step: s. implicitness: of surface waves, 1/2 to 1.
        tracers: at the beginning, temperature (°C) and salinity first, others passive. surface: for each tracer.
        height: of the surface at the beginning (nx, ny), m; None: 0. velocity: along x and y at the beginning, m/s.
        wind: stress along x and y at the corners (nx, ny), N/m²; None: none.
    """

    grid: OceanGrid
    physics: Physics
    step: float
    implicitness: float
    tracers: Sequence[Values]
    surface: Sequence[Surface]
    height: Floats | None = None
    velocity: tuple[Values, Values] | None = None
    wind: tuple[Floats, Floats] | None = None
