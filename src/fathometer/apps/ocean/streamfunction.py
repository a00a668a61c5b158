"""The barotropic streamfunction psi of an ocean, m³/s: its depth-integrated transport is U = -d psi/dy, V = d psi/dx.

It is integrated northward from the southern border, where it is 0, through the volume fluxes of the cells' east faces,
which are the transports of their two corners in the mean:

    psi (i, j) = psi (i, j-1) - dy/2 (U (i, j) + U (i, j-1)),    U = sum over levels of thickness times u at corners

So the whole southern coast has one value, and what flows between two corners is the difference of theirs; on an island
it differs from its coast's other points by what its water level changes. Positive where water turns clockwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.base import ledger

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.ocean.barotropic.block_layout import Layout


def _mean(grid: OceanGrid, eta: Floats) -> Floats:
    """Mean of the four centres around each corner, which is of no use on the border."""
    both = eta + np.roll(eta, -1, 0)
    return np.asarray(0.25 * (both + np.roll(both, -1, 1)))


def streamfunction(grid: OceanGrid, depth_integrated: Floats) -> Floats:
    """psi (nx, ny) at the corners, of a depth-integrated velocity along x (nx, ny), m²/s, 0 on land."""
    south = np.zeros_like(depth_integrated)
    south[:, 1:] = depth_integrated[:, :-1]
    return np.asarray(-np.cumsum(0.5 * grid.dy * (depth_integrated + south), axis=1))


def near_water(grid: OceanGrid) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Corners (nx, ny) that touch a cell of water, among them those of its coast."""
    water = grid.levels > 0
    east = np.roll(water, -1, 0)
    if not grid.periodic:
        east[-1] = False
    both = water | east
    north = np.zeros_like(both)
    north[:, :-1] = both[:, 1:]
    return np.asarray(both | north)


def gathered(grid: OceanGrid, layout: Layout, state: Mapping[str, Floats], comm: MPI.Intracomm) -> Floats | None:
    """Collective. psi (nx, ny) on rank 0, None on the others; state: u and eta as blocked arrays, whose halos do not
    count."""
    parts = []
    for number, block in enumerate(layout.own):
        box = tuple(slice(a, b) for a, b in zip(block.lo, block.hi, strict=True))
        u, eta = layout.owned(state["u"], number), layout.owned(state["eta"], number)
        water = np.arange(grid.shape[2]) < grid.levels_u[box][..., None]
        at_rest = (np.where(water, u, 0.0) * grid.thickness).sum(axis=2)
        parts.append((block.lo, np.stack([at_rest, np.where(water[..., 0], u[..., 0], 0.0), eta], axis=2)))
    with ledger.communication():
        found = comm.gather(parts)
    if found is None:
        return None
    whole = np.zeros((*grid.shape[:2], 3))
    for part in found:
        for lo, values in part:
            whole[lo[0] : lo[0] + values.shape[0], lo[1] : lo[1] + values.shape[1]] = values
    return streamfunction(grid, whole[..., 0] + whole[..., 1] * _mean(grid, whole[..., 2]))
