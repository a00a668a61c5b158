"""Small oceans for tests: grids, problems, and models that run them."""

import numpy as np
from mpi4py import MPI

from fathometer.apps.ocean.barotropic.block_layout import cut
from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.solver.model import OceanModel
from fathometer.apps.ocean.solver.physics import Physics
from fathometer.apps.ocean.solver.problem import Problem, Surface


def plane(cells, spacing, thickness, *, levels=None, periodic=False, f=0.0, beta=0.0):
    """A grid on a plane; levels (nx, ny): of water, all by default. f is that of the middle."""
    (nx, ny), (dx, dy) = cells, spacing
    thickness = np.array(thickness, float)
    corners = dy * np.arange(1, ny + 1)
    return OceanGrid(
        x=dx * (np.arange(nx) + 0.5),
        y=dy * (np.arange(ny) + 0.5),
        dx=np.full(ny, dx),
        dx_u=np.full(ny, dx),
        dy=dy,
        f=f + beta * (corners - 0.5 * ny * dy),
        tan_over_radius=np.zeros(ny),
        thickness=thickness,
        levels=np.full((nx, ny), len(thickness), np.int32) if levels is None else np.asarray(levels, np.int32),
        periodic=periodic,
    )


def sphere(cells, origin, spacing, thickness, *, levels=None, periodic=False, radius=6371e3, rotation=7.292115e-5):
    """A grid on a sphere; origin, spacing: degrees."""
    (nx, ny), (dx, dy) = cells, np.radians(spacing)
    thickness = np.array(thickness, float)
    centres = np.radians(origin[1]) + dy * (np.arange(ny) + 0.5)
    corners = centres + 0.5 * dy
    return OceanGrid(
        x=origin[0] + spacing[0] * (np.arange(nx) + 0.5),
        y=np.degrees(centres),
        dx=radius * np.cos(centres) * dx,
        dx_u=radius * np.cos(corners) * dx,
        dy=radius * dy,
        f=2 * rotation * np.sin(corners),
        tan_over_radius=np.tan(corners) / radius,
        thickness=thickness,
        levels=np.full((nx, ny), len(thickness), np.int32) if levels is None else np.asarray(levels, np.int32),
        periodic=periodic,
        spherical=True,
    )


def constant(value, nz):
    """A tracer of one value everywhere."""
    return lambda lo, hi: np.full((hi[0] - lo[0], hi[1] - lo[1], nz), float(value))


def of_array(values):
    """Values of a global array (nx, ny, nz)."""
    return lambda lo, hi: values[lo[0] : hi[0], lo[1] : hi[1]]


def problem(grid, step, *, physics=None, implicitness=0.5, temperature=10.0, salinity=35.0, surface=None, **keys):
    """A problem; temperature, salinity: numbers or global arrays."""
    nz = grid.shape[2]
    tracers = [of_array(t) if isinstance(t, np.ndarray) else constant(t, nz) for t in (temperature, salinity)]
    physics = Physics() if physics is None else physics
    return Problem(grid, physics, step, implicitness, tracers, surface or [Surface(), Surface()], **keys)


def model(of, comm=MPI.COMM_SELF, *, tile=8, blocks=None, ranks=None, **keys):
    """The model of a problem, at its beginning."""
    grid = of.grid
    layout = cut(
        grid.shape[:2],
        comm.size,
        comm.rank,
        grid.levels,
        periodic=grid.periodic,
        tile=tile,
        blocks=blocks,
        ranks=ranks,
        order="curve",
    )
    made = OceanModel(of, layout, comm, tile=tile, **keys)
    made.begin()
    return made


def whole(of, array):
    """A blocked array of a model on one rank as a global one (nx, ny, ...)."""
    out = np.zeros((*of.layout.shape, *array.shape[3:]))
    for number, block in enumerate(of.layout.own):
        (x0, y0), (x1, y1) = block.lo, block.hi
        out[x0:x1, y0:y1] = of.layout.owned(array, number)
    return out
