"""Small worlds for tests of the barotropic solver, and its operator written in NumPy for the whole grid."""

import numpy as np
from mpi4py import MPI

from fathometer.apps.ocean.barotropic.block_layout import cut
from fathometer.apps.ocean.continents import relative_depth
from fathometer.apps.ocean.grid import OceanGrid

STEP, IMPLICITNESS, GRAVITY = 1800.0, 0.6, 9.81
SCALE = IMPLICITNESS * IMPLICITNESS * GRAVITY * STEP * STEP


def world(nx, ny, *, periodic=True, continents=True, levels=None):
    """A sphere between 77° S and 77° N with idealised continents."""
    s, t = (np.arange(nx) + 0.5) / nx, (np.arange(ny) + 0.5) / ny
    thickness = np.linspace(50.0, 450.0, 20)
    if levels is None:
        depth = relative_depth(s, t)
        levels = np.where(depth > 0, np.maximum(3, np.round(20 * depth)), 0) if continents else np.full((nx, ny), 20)
    dy = np.radians(154 / ny)
    y = np.radians(-77) + dy * (np.arange(ny) + 0.5)
    radius = 6371e3
    return OceanGrid(
        x=360 * s,
        y=np.degrees(y),
        dx=radius * np.cos(y) * 2 * np.pi / nx,
        dx_u=radius * np.cos(y + dy / 2) * 2 * np.pi / nx,
        dy=radius * dy,
        f=np.zeros(ny),
        tan_over_radius=np.zeros(ny),
        thickness=thickness,
        levels=levels.astype(np.int32),
        periodic=periodic,
        spherical=True,
    )


def layout_of(grid, size=1, rank=0, **keys):
    """The layout of a rank."""
    return cut(grid.shape[:2], size, rank, grid.levels, periodic=grid.periodic, **({"tile": 8} | keys))


def whole(layout, comm, values):
    """A blocked array as one of the whole grid (nx, ny), on rank 0."""
    parts = [(block.lo, block.hi, layout.owned(values, n).copy()) for n, block in enumerate(layout.own)]
    out = np.zeros(layout.shape + values.shape[3:])
    for lo, hi, part in [part for some in comm.gather(parts) or [] for part in some]:
        out[lo[0] : hi[0], lo[1] : hi[1]] = part
    return out


def true_residual(solver, layout, grid, right, x):
    """||b - A x|| / ||b|| over the water, on one rank, by the operator alone."""
    water = grid.levels > 0
    b, product = (whole(layout, MPI.COMM_SELF, values)[water] for values in (right, solver.apply(x)))
    return float(np.linalg.norm(b - product) / np.linalg.norm(b))


def around(values, periodic):
    """Values of the cells east, north and north-east of each cell (nx, ny); 0 beyond the border."""
    east = np.roll(values, -1, 0)
    if not periodic:
        east[-1] = 0
    north, both = np.zeros_like(values), np.zeros_like(values)
    north[:, :-1], both[:, :-1] = values[:, 1:], east[:, 1:]
    return east, north, both


def operator(grid, eta, d, scale=SCALE):
    """A d of a global array, by gradient at corners, transport, and divergence through faces: as the model does it."""
    east, north, both = around(d, grid.periodic)
    dx_u, dy = grid.dx_u, grid.dy
    gx = ((east - d) + (both - north)) / (2 * dx_u)
    gy = ((north - d) + (both - east)) / (2 * dy)
    e, n, b = around(eta, grid.periodic)
    h = np.where(grid.levels_u > 0, grid.depth_u + (eta + e + n + b) / 4, 0)
    # Through an east face go the transports of its two corners, halfways each; a north face the same.
    south = np.zeros_like(h)
    south[:, 1:] = (h * gx)[:, :-1]
    flux_x = dy / 2 * (h * gx + south)
    west = np.roll(h * gy, 1, 0)
    flux_y = dx_u / 2 * (h * gy + west)
    into_south = np.zeros_like(h)
    into_south[:, 1:] = flux_y[:, :-1]
    divergence = (flux_x - np.roll(flux_x, 1, 0)) + (flux_y - into_south)
    return grid.area * d - scale * divergence
