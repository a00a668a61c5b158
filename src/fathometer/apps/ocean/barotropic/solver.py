"""The solver for the change of the surface in a step: area d - theta^2 g dt^2 div(H grad d) = b.

The operator is in native/ocean/barotropic_operator.hpp, the recursions in conjugate_gradients.py. The preconditioner is
made of the operator with the depth at rest, once for each length of step: it need not follow the surface.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.barotropic.block_layout import Layout
from fathometer.apps.ocean.barotropic.conjugate_gradients import SOLVERS, Stop
from fathometer.apps.ocean.barotropic.system import BB, R, System, X
from fathometer.apps.ocean.grid import OceanGrid

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Solve:
    """How a solve went, the same on all ranks.

    Attributes:
        iterations. residual: norm of that of the recursion, over the right-hand side's; NaN where numbers are not
            finite. converged: whether it is small enough, or as many iterations done as were asked for.
        reductions, halos: collective sums and exchanges of halos.
    """

    iterations: int
    residual: float
    converged: bool
    reductions: int
    halos: int


class BarotropicSolver:
    """Solves the system of a step; set up once.

    Args:
        layout: of this rank. comm: its ranks. grid: all ranks have it.
        solver, preconditioner, sums: keys of [barotropic]. tile: as the layout's. tolerance: of the residual's norm
            over the right-hand side's. most_iterations: after which a solve has failed. iterations: exactly so many,
            whatever the residual; None: until the tolerance. check_every: iterations between looks at the residual.
            replace_every: of the pipelined solver, see conjugate_gradients.py.

    Raises ValueError where `tile` is not the layout's.
    """

    def __init__(
        self,
        layout: Layout,
        comm: MPI.Intracomm,
        grid: OceanGrid,
        *,
        solver: Literal["pcg", "chronopoulos-gear", "pipelined"] = "chronopoulos-gear",
        preconditioner: Literal["diagonal", "block"] = "block",
        tile: int | None = None,
        tolerance: float = 1e-13,
        most_iterations: int = 1000,
        iterations: int | None = None,
        check_every: int = 10,
        sums: Literal["mpi", "exact"] = "mpi",
        replace_every: int = 50,
    ) -> None:
        if tile not in (None, layout.tile):
            raise ValueError(f"tiles of {tile} cells in a layout with tiles of {layout.tile}")
        self._run = SOLVERS[solver]
        self._tolerance, self._iterations = tolerance, iterations
        self._check_every, self._most, self._replace_every = check_every, most_iterations, replace_every
        self.system = System(layout, comm, grid, preconditioner, sums)
        self._scale: float | None = None
        self._bb = 0.0

    def coefficients(self, eta: Floats, dt: float, theta: float, gravity: float) -> None:
        """Set the operator.

        Args:
            eta: height of the surface (nb, X, Y), m, with a halo of one cell at least. dt: step, s.
            theta: implicitness. gravity: m/s².
        """
        scale = theta * theta * gravity * dt * dt
        if scale != self._scale:
            self.system.kernels.scale(scale)
            self._scale = scale
        self.system.kernels.surface(eta)

    def solve(self, rhs: Floats, x: Floats) -> Solve:
        """Collective. Solve A x = rhs.

        Args:
            rhs: (nb, X, Y); only owned cells of water count. x: first guess, then the solution on owned cells of
                water; on land and in halos it stays as it is.
        """
        system = self.system
        system.reductions = system.halos = 0
        system.kernels.load(rhs, x)
        (self._bb,) = system.fresh(BB)
        if self._bb == 0:
            system.vectors[X] = 0.0
            system.kernels.unload(x)
            return Solve(0, 0.0, True, system.reductions, system.halos)
        target = self._tolerance**2 * self._bb
        stop = Stop(target, self._iterations, self._check_every, self._most, self._replace_every)
        iterations, rr = self._run(system, stop) if math.isfinite(self._bb) else (0, math.nan)
        system.kernels.unload(x)
        residual = math.sqrt(rr / self._bb) if rr >= 0 else math.nan
        done = rr <= target or (iterations == self._iterations and math.isfinite(rr))
        return Solve(iterations, residual, done, system.reductions, system.halos)

    def apply(self, of: Floats) -> Floats:
        """Collective. A times a vector (nb, X, Y); only owned cells of water count. For tests and diagnostics."""
        system = self.system
        system.kernels.load(of, of)
        system.multiply(X, R)
        return np.array(system.vectors[R])

    def precondition(self, of: Floats) -> Floats:
        """M times a vector, as `apply`."""
        system = self.system
        system.kernels.load(of, of)
        system.kernels.precondition(X, R)
        return np.array(system.vectors[R])

    def close(self) -> None:
        """Free what MPI keeps."""
        self.system.close()
