"""Flux and conductance of the faces of a rank's block, for the balance of native/reactive/transport.hpp.

    q = flux of volume through the face, m³/s, towards larger coordinates
    g = phi D A / d, m³/s: phi the harmonic mean of both cells' porosities, A the face's area, d the distance of their
        centres; half of it at a side with a fixed water, where the cell's own porosity counts
    D = D_m + (a_L v_n² + a_T (|v|² - v_n²)) / |v|

with diffusivity D_m, dispersivities a_L and a_T, and the water's velocity v, v_n its part along the face's normal (Bear
1972, Dynamics of fluids in porous media, chapter 10). Of the tensor of dispersion only this diagonal part is kept,
which is exact for flow along an axis. Parts of v across the normal are means over the two cells' faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.apps.reactive.solver.darcy import darcy_flux
from fathometer.apps.reactive.solver.distributed_grid import Layout, bounds, ghosted_bounds
from fathometer.apps.reactive.solver.flow import CLOSED, FIXED, OPEN, Floats, Flow
from fathometer.apps.reactive.solver.petsc import PetscOptions
from fathometer.apps.reactive.solver.sides import block_sides
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allreduce, collective_errors
from fathometer.parallel.decomposition import Index3

Faces3 = tuple[Floats, Floats, Floats]  # a block's faces along each axis: one more than its cells
NEGLIGIBLE = 1e-9  # of the largest flux: what enters where nothing should


@dataclass(frozen=True, eq=False)
class Faces:
    """Faces of a block. flux, conductance: m³/s, along x, y, z, each with one face more than the block's cells along
    it."""

    flux: Faces3
    conductance: Faces3


def faces_of(flow: Flow, layout: Layout, options: PetscOptions = ()) -> Faces:
    """Collective. The faces of this rank's block; options: those in PETSc's table.

    Raises InputError where flow enters through an open side without a water, or heads are missing; FathometerError
    where heads are not found.
    """
    one = layout.cells(4, 1)
    lo, hi = bounds(one)
    flux = given_flux(flow, lo, hi) if flow.flux is not None else darcy_flux(flow, layout, options)
    _check_inflow(flow, layout, flux, lo, hi)
    return Faces(flux, _conductance(flow, one, flux))


def areas(spacing: tuple[float, float, float]) -> tuple[float, float, float]:
    """Of the faces along each axis, m²."""
    dx, dy, dz = spacing
    return dy * dz, dx * dz, dx * dy


def given_flux(flow: Flow, lo: Index3, hi: Index3) -> Faces3:
    """The same flux through all faces but closed ones."""
    assert flow.flux is not None
    flux = []
    for axis, (velocity, area) in enumerate(zip(flow.flux, areas(flow.spacing), strict=True)):
        flux.append(
            np.full([b - a + (axis == n) for n, (a, b) in enumerate(zip(lo, hi, strict=True))], float(velocity * area))
        )
    for side in block_sides(flow, lo, hi):
        flux[side.axis][side.plane][side.kind == CLOSED] = 0.0
    return flux[0], flux[1], flux[2]


def _check_inflow(flow: Flow, layout: Layout, flux: Faces3, lo: Index3, hi: Index3) -> None:
    largest = allreduce(layout.comm, max(float(np.abs(q).max()) for q in flux), "MAX")
    with collective_errors(layout.comm):
        for side in block_sides(flow, lo, hi):
            inward = -side.outward * flux[side.axis][side.plane]
            bare = (side.kind == OPEN) & (side.water < 0) & (inward > NEGLIGIBLE * largest)
            if bare.any():
                face = np.argwhere(bare)[0]
                raise InputError(
                    f"the side {side.place(face)}: found {inward[tuple(face)]:.3g} m³/s that flow in through an open "
                    "side without a water; needed: the water outside"
                )


def _conductance(flow: Flow, cells: Any, flux: Faces3) -> Faces3:
    """cells: a DMDA of four numbers a cell, for porosities and velocities."""
    lo, hi = bounds(cells)
    sizes, area = flow.spacing, areas(flow.spacing)
    values = np.empty([b - a for a, b in zip(lo, hi, strict=True)] + [4])
    values[..., 0] = flow.porosity(lo, hi)
    for axis, q in enumerate(flux):
        below, above = _both(q, axis)
        values[..., 1 + axis] = (below + above) / (2 * area[axis] * values[..., 0])
    around = _with_neighbours(cells, values)
    conductance = []
    for axis in range(3):
        left, right = _both(around(axis), axis)
        porosity = 2 * left[..., 0] * right[..., 0] / (left[..., 0] + right[..., 0])
        normal = flux[axis] / (area[axis] * porosity)
        across = [0.5 * (left[..., 1 + a] + right[..., 1 + a]) for a in range(3) if a != axis]
        conductance.append(porosity * _dispersion(flow, normal, across) * (area[axis] / sizes[axis]))
    for side in block_sides(flow, lo, hi):
        fixed = side.kind == FIXED
        g = conductance[side.axis][side.plane]
        g *= np.where(fixed, 2.0, 0.0)
    return conductance[0], conductance[1], conductance[2]


def _dispersion(flow: Flow, normal: Floats, across: list[Floats]) -> Floats:
    along, beside = flow.dispersivity
    squares = across[0] ** 2 + across[1] ** 2
    speed = np.sqrt(normal**2 + squares)
    spread = along * normal**2 + beside * squares
    return flow.diffusivity + np.divide(spread, speed, out=np.zeros_like(speed), where=speed > 0)


def _both(values: Floats, axis: int) -> tuple[Floats, Floats]:
    """All but the last, and all but the first along an axis."""
    return np.delete(values, -1, axis), np.delete(values, 0, axis)


def _with_neighbours(cells: Any, values: Floats) -> Any:
    """Collective. A function that gives the block's values with one more cell on both sides of an axis: the neighbours'
    or, beyond the grid, the cell's own."""
    (lo, hi), (low, _) = bounds(cells), ghosted_bounds(cells)
    vector, local = cells.createGlobalVec(), cells.createLocalVec()
    with vector as array:
        array[:] = values.reshape(-1)
    cells.globalToLocal(vector, local)
    sizes = [b - a for a, b in zip(*ghosted_bounds(cells), strict=True)]
    ghosted = local.getArray(readonly=True).reshape(*sizes, -1).copy()
    vector.destroy()
    local.destroy()
    offset = [a - b for a, b in zip(lo, low, strict=True)]
    count = [b - a for a, b in zip(lo, hi, strict=True)]

    def around(axis: int) -> Floats:
        before = offset[axis] > 0
        after = sizes[axis] - offset[axis] - count[axis] > 0
        part = [slice(start, start + n) for start, n in zip(offset, count, strict=True)]
        part[axis] = slice(offset[axis] - before, offset[axis] + count[axis] + after)
        padding = [(0, 0)] * 4
        padding[axis] = (int(not before), int(not after))
        return np.pad(ghosted[tuple(part)], padding, mode="edge")

    return around
