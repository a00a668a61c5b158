"""Steady flow of water from hydraulic heads (Darcy's law), in finite volumes.

    q = -K A dh/dn through each face,   the sum over each cell's faces = 0

K is the harmonic mean of both cells' conductivities, the cell's own at a side, whose head holds at the face. The heads
are found by conjugate gradients, preconditioned by block Jacobi with ICC(0). PETSc's multigrid (-heads_pc_type gamg)
takes fewer iterations on large grids, but its coarsening depends on the order in which messages arrive: runs on more
than two ranks then differ in their last digits, and so do those that go on from a restart file.

Since a flow that is not free of divergence creates or removes solutes, the fluxes are then corrected until the rounding
of their own sums is reached: what is left in each cell is the right-hand side of a further solution, whose fluxes are
added to those found before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.apps.reactive.solver.distributed_grid import Layout, bounds, ghosted_bounds
from fathometer.apps.reactive.solver.flow import CLOSED, Floats, Flow
from fathometer.apps.reactive.solver.petsc import HEADS, PetscOptions, petsc_errors, require_petsc
from fathometer.apps.reactive.solver.sides import BlockSide, block_sides
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import allgather, allreduce, synchronised

TOLERANCE = 1e-12  # of the linear solution, relative
MOST_ITERATIONS, MOST_CORRECTIONS = 10_000, 20
ROUNDING = 16 * np.finfo(float).eps  # of the sum of a cell's fluxes, relative to their magnitudes

Faces3 = tuple[Floats, Floats, Floats]


def darcy_flux(flow: Flow, layout: Layout, options: PetscOptions = ()) -> Faces3:
    """Collective. Flux of volume, m³/s, through the faces of this rank's block; options: those in PETSc's table.

    Raises InputError where no side has a head, FathometerError where the solution does not converge.
    """
    problem = _Heads(flow, layout, options)
    flux = problem.flux(np.zeros(problem.shape), sides=True)
    for _ in range(MOST_CORRECTIONS):
        excess = problem.excess(flux)
        largest = max(float(np.abs(q).max()) for q in flux)
        error, largest = (allreduce(layout.comm, value, "MAX") for value in (float(np.abs(excess).max()), largest))
        if not np.isfinite(error):
            break
        if error <= ROUNDING * largest:
            return flux
        correction = problem.flux(problem.solve(-excess), sides=False)
        flux = tuple(q + more for q, more in zip(flux, correction, strict=True))  # type: ignore[assignment]
    raise FathometerError(
        f"flow from heads: after {MOST_CORRECTIONS} corrections a cell still gains {error:.3g} m³/s of water, with "
        f"fluxes up to {largest:.3g} m³/s"
    )


class _Heads:
    """The linear system of the heads, and fluxes that belong to them."""

    def __init__(self, flow: Flow, layout: Layout, options: PetscOptions) -> None:
        PETSc = require_petsc()
        assert flow.conductivity is not None
        self._comm, self._options = layout.comm, options
        self._cells = layout.cells(1, 1)
        (lo, hi), (low, high) = bounds(self._cells), ghosted_bounds(self._cells)
        self.shape = tuple(b - a for a, b in zip(lo, hi, strict=True))
        self._own = tuple(slice(a - c, b - c) for a, b, c in zip(lo, hi, low, strict=True))
        self._sides = list(block_sides(flow, lo, hi))
        self._mean = self._mean_head()
        self._weights, self._outer = self._conductances(flow, flow.conductivity(low, high))
        with petsc_errors("heads", self._options):
            self._matrix = self._assembled(PETSc)
            self._solver = PETSc.KSP().create(layout.comm)
            self._solver.setOptionsPrefix(HEADS)
            self._solver.setOperators(self._matrix)
            self._solver.setType("cg")
            self._solver.getPC().setType("bjacobi")
            self._solver.setTolerances(rtol=TOLERANCE, atol=0.0, max_it=MOST_ITERATIONS)
            self._solver.setFromOptions()

    def flux(self, heads: Floats, sides: bool) -> Faces3:
        """Of heads in the cells, less the mean of the given ones; sides: with the given heads, otherwise with zero."""
        ghosted = self._ghosted(heads)
        found = []
        for axis in range(3):
            q = np.zeros([n + (axis == a) for a, n in enumerate(self.shape)])
            first, last = self._own[axis].start > 0, ghosted.shape[axis] > self._own[axis].stop
            part = _along(axis, self._own[axis].start - first, self._own[axis].stop + last, self._own)
            inner = _along(axis, int(not first), q.shape[axis] - int(not last))
            q[inner] = -self._weights[axis] * np.diff(ghosted[part], axis=axis)
            found.append(q)
        for side, weight in zip(self._sides, self._outer, strict=True):
            outside = self._head(side) if sides else 0.0
            found[side.axis][side.plane] = side.outward * weight * (heads[side.plane] - outside)
        return found[0], found[1], found[2]

    def excess(self, flux: Faces3) -> Floats:
        """What flows out of each cell, m³/s."""
        return sum(np.diff(q, axis=axis) for axis, q in enumerate(flux))  # type: ignore[return-value]

    def solve(self, right: Floats) -> Floats:
        """Collective. Heads whose fluxes flow out of each cell as `right` says, m³/s; zero at the sides."""
        b, x = self._cells.createGlobalVec(), self._cells.createGlobalVec()
        with b as array:
            array[:] = right.reshape(-1)
        with petsc_errors("heads", self._options), synchronised(self._comm):
            self._solver.solve(b, x)
        if self._solver.getConvergedReason() <= 0:
            raise FathometerError(
                f"flow from heads: the linear solver stopped after {self._solver.getIterationNumber()} iterations with "
                f"a residual of {self._solver.getResidualNorm():.3g} m³/s; [petsc] options with the prefix -heads_ "
                "choose another one"
            )
        return np.asarray(x.getArray(readonly=True)).reshape(self.shape).copy()

    def _head(self, side: BlockSide) -> Floats:
        assert side.head is not None
        return np.nan_to_num(side.head - self._mean)

    def _mean_head(self) -> float:
        """Of the given heads, so that fluxes keep their digits where heads are large. Raises InputError without
        heads."""
        heads = [side.head[np.isfinite(side.head)] for side in self._sides if side.head is not None]
        ranges = [(float(head.min()), float(head.max())) for head in heads if head.size]
        pairs = [pair for pairs in allgather(self._comm, ranges) for pair in pairs]
        if not pairs:
            raise InputError("flow from heads: found no side with a head; needed: a head on one side at least")
        return 0.5 * (min(low for low, _ in pairs) + max(high for _, high in pairs))

    def _conductances(self, flow: Flow, conductivity: Floats) -> tuple[list[Floats], list[Floats]]:
        """K A / d in m²/s: of the inner faces along each axis, and of the faces of each side."""
        dx, dy, dz = flow.spacing
        shapes = (dy * dz / dx, dx * dz / dy, dx * dy / dz)
        weights = []
        for axis, shape in enumerate(shapes):
            k = conductivity[_along(axis, 0, conductivity.shape[axis], self._own)]
            below, above = np.delete(k, -1, axis), np.delete(k, 0, axis)
            weights.append(2 * shape * below * above / (below + above))
        outer = []
        for side in self._sides:
            own = conductivity[self._own][side.plane]
            passes = np.zeros_like(own, bool)
            if side.head is not None:
                passes = np.isfinite(side.head) & (side.kind != CLOSED)
            outer.append(np.where(passes, 2 * shapes[side.axis] * own, 0.0))
        return weights, outer

    def _ghosted(self, heads: Floats) -> Floats:
        vector, local = self._cells.createGlobalVec(), self._cells.createLocalVec()
        with vector as array:
            array[:] = heads.reshape(-1)
        self._cells.globalToLocal(vector, local)
        low, high = ghosted_bounds(self._cells)
        return np.asarray(local.getArray(readonly=True)).reshape([b - a for a, b in zip(low, high, strict=True)]).copy()

    def _assembled(self, PETSc: Any) -> Any:
        matrix = self._cells.createMatrix()
        low, high = ghosted_bounds(self._cells)
        sizes = [b - a for a, b in zip(low, high, strict=True)]
        numbers = np.arange(np.prod(sizes), dtype=PETSc.IntType).reshape(sizes)
        columns = np.full((*self.shape, 7), -1, PETSc.IntType)
        values = np.zeros((*self.shape, 7))
        columns[..., 0] = numbers[self._own]
        for axis, weights in enumerate(self._weights):
            first, last = self._own[axis].start > 0, sizes[axis] > self._own[axis].stop
            for side in range(2):
                # cells with a neighbour at this side, these neighbours, and the faces between
                start = 0 if side or first else 1
                stop = self.shape[axis] - (1 if side and not last else 0)
                shift = self._own[axis].start + (1 if side else -1)
                cells = _along(axis, start, stop)
                beside = _along(axis, start + shift, stop + shift, self._own)
                between = weights[_along(axis, start + shift - (1 if side else 0), stop + shift - (1 if side else 0))]
                entry = 1 + 2 * axis + side
                columns[..., entry][cells] = numbers[beside]
                values[..., entry][cells] = -between
                values[..., 0][cells] += between
        for edge, outer in zip(self._sides, self._outer, strict=True):
            values[..., 0][edge.plane] += outer
        rows = np.ascontiguousarray(columns[..., :1].reshape(-1, 1))
        matrix.setValuesLocalRCV(rows, columns.reshape(-1, 7), values.reshape(-1, 7))
        matrix.assemble()
        matrix.setOption(PETSc.Mat.Option.SPD, True)
        return matrix


def _along(
    axis: int, start: int, stop: int, others: tuple[slice, ...] = (slice(None), slice(None), slice(None))
) -> tuple[slice, ...]:
    """`others` with start to stop along an axis."""
    return (*others[:axis], slice(start, stop), *others[axis + 1 :])
