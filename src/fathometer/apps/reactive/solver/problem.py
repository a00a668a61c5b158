"""A step of a reactive flow by PETSc: Newton's method, GMRES, block Jacobi with ILU(0).

The unknowns are u = ln c. No u changes by more than LARGEST in an iteration, each of its own accord; within this limit
the steps are full ones (PETSc's line search "basic"). Where the residual has grown after PATIENT iterations, the next
correction is halved: kinks of the rates at equilibrium and of the limiter can make the method go back and forth between
two states, which this ends. Backtracking and other line searches, and limits of the correction as a whole, failed more
often, and took more iterations, for fronts of acid and of precipitation at Courant numbers of 0.3 to 100.

A step has converged when the root mean square of the scaled residual is below the tolerance, or below what rounding
makes of it, where that is more (long steps on fine grids), and there was an iteration at least, unless rounding is all
that is left before the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.reactive.solver.distributed_grid import GHOST_WIDTH, bounds, ghosted_bounds, layout_of
from fathometer.apps.reactive.solver.equations import Block, Equations, axes_with_waters
from fathometer.apps.reactive.solver.faces import faces_of
from fathometer.apps.reactive.solver.flow import Floats, Flow
from fathometer.apps.reactive.solver.memory import RESTART, solver_bytes
from fathometer.apps.reactive.solver.petsc import (
    PREFIX,
    PetscOptions,
    log_of,
    petsc_errors,
    require_petsc,
    set_options,
    unused,
)
from fathometer.base import ledger
from fathometer.parallel.collectives import allgather, allreduce, synchronised
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.memory_budget import require_memory, usable_memory

if TYPE_CHECKING:
    from mpi4py import MPI

TOLERANCE, MOST_ITERATIONS = 1e-11, 25
LARGEST = 2.0  # change of ln c in an iteration
PATIENT = 8  # iterations
ROUNDINGS = 4.0  # of the estimate of rounding, below which no residual is asked to be
LINEAR_TOLERANCE = 1e-5  # relative, of the preconditioned residual
DEFAULTS: PetscOptions = (  # for which petsc4py has no calls
    ("snes_linesearch_type", "basic"),
    ("heads_sub_pc_type", "icc"),
)

REASONS = {
    1: "the domain of the functions was left",
    -1: "the domain of the functions was left",
    -2: "too many evaluations",
    -3: "the linear solver did not converge",
    -4: "the residual is not a number",
    -5: "no convergence in {most} iterations",
    -6: "no step along Newton's direction makes the residual smaller",
    -8: "the residual has a local minimum that is not zero",
    -9: "the residual grows",
    -10: "the Jacobian is not a number",
}


@dataclass(frozen=True)
class Step:
    """A step that was tried.

    Attributes:
        seconds: its length, simulated. converged: whether the state is now that at its end. reason: in words.
        newton, linear: iterations. norms: root mean square of the scaled residual before each iteration and at the end.
        tolerance: what the last one was asked to be below. cuts: attempts before it that failed (`advance`).
    """

    seconds: float
    converged: bool
    reason: str
    newton: int
    linear: int
    norms: tuple[float, ...]
    tolerance: float
    cuts: int = 0


@dataclass(frozen=True)
class Worst:
    """The largest residual of the step that was tried last. cell: (x, y, z); value: scaled."""

    cell: Index3
    component: str
    value: float


class ReactiveSolver:
    """The state of this rank's cells, and its steps; all methods but the attributes are collective.

    Args:
        options: of PETSc, from `options_of`. tolerance: of the root mean square of the scaled residual.
        most_iterations: of Newton's method in a step.

    Attributes:
        lo, hi: this rank's cells. ln_c: (x, y, z, n), of molalities in mol/kg. minerals: (x, y, z, k), mol per m³ of
            bulk. scale: (n,), mol/kg, by which residuals are divided. ranks: along each axis.

    Raises InputError where PETSc is missing, an option has a value that it does not take, ranks are too many for the
    grid, memory is short, or water flows in where none is given; FathometerError where the flow of water is not found.
    """

    def __init__(
        self,
        flow: Flow,
        comm: MPI.Intracomm,
        options: PetscOptions = (),
        *,
        tolerance: float = TOLERANCE,
        most_iterations: int = MOST_ITERATIONS,
    ) -> None:
        self._petsc = require_petsc(comm)
        self._logged = log_of()
        self.comm, self.flow, self._options = comm, flow, options
        self._tolerance, self._most = tolerance, most_iterations
        n, k = len(flow.system.primary), len(flow.system.minerals)
        set_options((*DEFAULTS, *options))
        layout = layout_of(flow.shape, flow.scheme, comm)
        self.ranks = layout.ranks
        parts = solver_bytes(flow.shape, layout.ranks, n, k, flow.scheme)
        require_memory(parts, usable_memory(comm), comm)
        self._cells = layout.cells(n, GHOST_WIDTH[flow.scheme], axes_with_waters(flow))
        self.lo, self.hi = bounds(self._cells)
        block = Block(self.lo, self.hi, *ghosted_bounds(self._cells))
        self._shape = (*block.shape, n)
        with ledger.phase("flow of water"):
            faces = faces_of(flow, layout, options)
        self._equations = Equations(flow, block, faces)
        self.scale = self._equations.scale
        self.ln_c, self.minerals = np.zeros(self._shape), np.zeros((*block.shape, k))
        self._root = math.sqrt(math.prod(flow.shape) * n)  # norms of vectors are so many times their root mean square
        self._outflow = np.zeros(n)
        self._norms: list[float] = []
        self._goal = tolerance
        with petsc_errors("Newton's method and its linear solver", options):
            self._make(block)

    def _make(self, block: Block) -> None:
        PETSc = self._petsc
        self._x, self._f = self._cells.createGlobalVec(), self._cells.createGlobalVec()
        self._local = self._cells.createLocalVec()
        self._ghosted_shape = (*block.ghosted_shape, self._shape[3])
        with self._local as array:
            array[:] = self._equations.outside.reshape(-1)  # ghost updates leave cells outside the grid as they are
        self._cells.setMatType("baij")
        self._matrix = self._cells.createMatrix()
        self._snes = snes = PETSc.SNES().create(self.comm)
        snes.setOptionsPrefix(PREFIX)
        snes.setType("newtonls")
        snes.setFunction(self._residual, self._f)
        snes.setJacobian(self._jacobian, self._matrix)
        snes.setConvergenceTest(self._converged)
        snes.setTolerances(atol=0.0, rtol=0.0, stol=0.0, max_it=self._most)
        snes.setMaxFunctionEvaluations(100 * self._most)
        linear = snes.getKSP()
        linear.setType("gmres")
        linear.setGMRESRestart(RESTART)
        linear.setTolerances(rtol=LINEAR_TOLERANCE)
        linear.getPC().setType("bjacobi")
        snes.setFromOptions()
        snes.setLineSearchPreCheck(self._limited)

    def set_state(self, ln_c: Floats, minerals: Floats) -> None:
        """The state of this rank's cells, copied: (x, y, z, n), (x, y, z, k)."""
        self.ln_c[...] = ln_c
        self.minerals[...] = minerals

    def step(self, dt: float) -> Step:
        """Try a step of dt s. The state is that at its end where it has converged, else it stays as it was.

        Raises FathometerError for errors of PETSc, such as memory that it does not get.
        """
        self._norms.clear()
        # PETSc's messages and waiting are part of the phase "solve": they cannot be told from its work from outside.
        with ledger.phase("solve"):
            self._equations.begin(self.ln_c, self.minerals, dt)
            squares = allreduce(self.comm, self._equations.rounding(), "SUM")
            self._rounding = ROUNDINGS * math.sqrt(squares) / self._root
            self._goal = max(self._tolerance, self._rounding)
            with self._x as array:
                array[:] = self.ln_c.reshape(-1)
            with synchronised(self.comm), petsc_errors(f"a step of {dt:g} s", self._options):
                self._snes.solve(None, self._x)
            reason = int(self._snes.getConvergedReason())
            converged = reason > 0 and bool(self._norms) and self._norms[-1] <= self._goal
            if converged:
                self._accept()
        return Step(
            seconds=dt,
            converged=converged,
            reason="converged"
            if converged
            else REASONS.get(reason, f"PETSc's reason {reason}").format(most=self._most),
            newton=int(self._snes.getIterationNumber()),
            linear=int(self._snes.getLinearSolveIterations()),
            norms=tuple(self._norms),
            tolerance=self._goal,
        )

    def worst(self) -> Worst:
        """Where the residual of the step that was tried last is largest; what is not a number is larger than all."""
        values = np.abs(np.asarray(self._f.getArray(readonly=True))).reshape(self._shape)
        values = np.where(np.isnan(values), np.inf, values)
        *place, component = (int(i) for i in np.unravel_index(int(values.argmax()), values.shape))
        value = float(values[(*place, component)])
        cell = [start + i for start, i in zip(self.lo, place, strict=True)]
        worst = max(allgather(self.comm, (value, cell, component)), key=lambda entry: entry[0])
        x, y, z = worst[1]
        return Worst((x, y, z), self.flow.system.primary[worst[2]], worst[0])

    def totals(self) -> Floats:
        """Total molalities (x, y, z, n), mol/kg. Not collective."""
        return self._equations.totals(self.ln_c)

    def species(self) -> tuple[Floats, Floats]:
        """ln activities (x, y, z, n + m), primary species first, and ionic strength (x, y, z), mol/kg. Not
        collective."""
        return self._equations.species(self.ln_c)

    def moles(self) -> Floats:
        """Moles of each component (n,) in water and minerals of the whole grid."""
        return self._summed(self._equations.moles(self.ln_c, self.minerals))

    def outflow(self) -> Floats:
        """Moles of each component (n,) that left through the sides in the last step that converged, less those that
        came in."""
        return self._summed(self._outflow)

    def log(self) -> dict[str, Any]:
        """What PETSc has done on this rank since the solver was made, see `log_of`. Not collective."""
        return log_of(self._logged)

    def unused_options(self) -> list[str]:
        """Options that PETSc has not asked for so far, such as those of a solver that is not used. Not collective."""
        return unused(self._options)

    def close(self) -> None:
        """Free PETSc's objects."""
        for item in (self._snes, self._matrix, self._local, self._f, self._x, self._cells):
            item.destroy()

    def _accept(self) -> None:
        """Take over the state; minerals and outflow by the residual of the very numbers that are kept."""
        self._evaluate(self._x, self._f)
        self.ln_c[...] = np.asarray(self._x.getArray(readonly=True)).reshape(self._shape)
        self.minerals[...] = self._equations.minerals
        self._outflow = self._equations.outflow()

    def _summed(self, values: Floats) -> Floats:
        parts = allgather(self.comm, values.tolist())
        return np.array([math.fsum(column) for column in zip(*parts, strict=True)])

    # What PETSc calls. An error raised here on one rank would leave the others waiting: bad numbers pass on as NaN.

    def _residual(self, snes: Any, x: Any, f: Any) -> None:
        self._evaluate(x, f)

    def _evaluate(self, x: Any, f: Any) -> None:
        ghosted, owned = self._with_ghosts(x)
        with f as array:
            self._equations.residual(ghosted, owned, array.reshape(self._shape))

    def _jacobian(self, snes: Any, x: Any, matrix: Any, preconditioner: Any) -> None:
        with ledger.phase("assemble Jacobian"):
            ghosted, owned = self._with_ghosts(x)
            self._equations.jacobian(ghosted, owned, preconditioner, self._petsc.IntType)
            with ledger.communication():
                preconditioner.assemble()
                if matrix != preconditioner:
                    matrix.assemble()

    def _with_ghosts(self, x: Any) -> tuple[Floats, Floats]:
        with ledger.communication("exchange ghost cells"):
            self._cells.globalToLocal(x, self._local)
        ghosted = np.asarray(self._local.getArray(readonly=True)).reshape(self._ghosted_shape)
        return ghosted, np.asarray(x.getArray(readonly=True)).reshape(self._shape)

    def _converged(self, snes: Any, iteration: int, norms: Sequence[float]) -> Any:
        reasons = self._petsc.SNES.ConvergedReason
        norm = norms[2] / self._root  # PETSc has ended the iteration before where it is not finite
        self._norms.append(norm)
        # The state before a step is no solution of it, though its residual be below the tolerance: minerals would go
        # on dissolving into water that does not change.
        enough = norm <= (self._goal if iteration else self._rounding)
        return reasons.CONVERGED_FNORM_ABS if enough else reasons.ITERATING

    def _limited(self, x: Any, y: Any) -> bool:
        with y as array:
            np.clip(array, -LARGEST, LARGEST, out=array)
            if len(self._norms) > PATIENT and self._norms[-1] > self._norms[-2]:
                array *= 0.5
        return True
