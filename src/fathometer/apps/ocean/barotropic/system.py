"""The linear system of a step on this rank: vectors and kernels, halos and sums over ranks.

Sums over all ranks are one MPI_Allreduce for all scalar products that are known at the same time. "mpi": of each rank's
part. "exact": of integers, see native/ocean/barotropic_sums.hpp, so that the result does not depend on how the grid is
cut; a sum whose terms do not fit into its limits is made once more from its largest term, which takes two more
reductions. Limits go by earlier values of the same solve: a solve is a function of its input alone.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.ocean.barotropic.block_layout import Layout
from fathometer.apps.ocean.barotropic.halo import BlockHalo
from fathometer.apps.ocean.grid import OceanGrid
from fathometer.base import ledger

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
X, R, U, W, P, S, Q, Z, M, N, B = range(11)  # vectors, as in native/ocean/barotropic_gradients.hpp
NONE, BB, PS, RU_RR, RU_WU_RR = range(5)  # scalar products that are summed together
TERMS = (0, 1, 1, 2, 3)
MOST = 3


class System:
    """Vectors on this rank's blocks, and what conjugate gradients do with them.

    Args:
        layout, comm. grid: all ranks have it. preconditioner: "diagonal", "block". sums: "mpi", "exact".

    Attributes:
        kernels: the native object that vectors are bound to. reductions, halos: over all ranks, in this solve.
    """

    def __init__(
        self,
        layout: Layout,
        comm: MPI.Intracomm,
        grid: OceanGrid,
        preconditioner: Literal["diagonal", "block"],
        sums: Literal["mpi", "exact"],
    ) -> None:
        self.layout, self.comm, self.exact = layout, comm, sums == "exact"
        self.vectors = np.zeros((11, *layout.shaped()))
        self._sums, self._limbs = np.zeros(MOST), np.zeros(2 * MOST + 1, np.int64)
        self._parts: list[Any] = [self._limbs[: 2 * n + 1] if self.exact else self._sums[:n] for n in TERMS]
        self.kernels = _native.SurfaceGradients(
            extents=layout.extents,
            wet=layout.blocked((grid.levels > 0).astype(np.uint8)),
            depth=layout.blocked(grid.depth_u),
            area=layout.rows(grid.area),
            ratio_x=layout.rows(grid.dy / (4 * grid.dx_u)),
            ratio_y=layout.rows(grid.dx_u / (4 * grid.dy)),
            tile=layout.tile if preconditioner == "block" else 0,
            exact=self.exact,
            vectors=self.vectors,
            sums=self._sums,
            limbs=self._limbs,
        )
        self._halos: dict[int, BlockHalo] = {}
        self.reductions = self.halos = 0
        self._pending: Any = None

    def exchange(self, vector: int) -> None:
        """Fill the halo, one cell wide, of a vector."""
        halo = self._halos.get(vector)
        if halo is None:
            arrays = [(self.vectors[vector], 1)]
            halo = self._halos[vector] = BlockHalo(self.layout, self.comm, arrays, "barotropic halo")
        self.halos += 1
        halo.exchange()

    def multiply(self, of: int, into: int, sums: int = NONE) -> None:
        """into = A of, with its halo; then local sums."""
        self.exchange(of)
        self.kernels.apply(of, into, sums)

    def residual(self) -> None:
        """r = b - A x."""
        self.exchange(X)
        self.kernels.residual()

    def fresh(self, sums: int) -> list[float]:
        """Sums of which nothing is known yet."""
        if self.exact:
            return self._again(sums)
        self.kernels.dot(sums)
        return self.reduce(sums)

    def reduce(self, sums: int) -> list[float]:
        """Local sums, which a kernel has just made, to those over all ranks. NaN where a term is not finite."""
        self.reductions += 1
        if self.comm.size > 1:
            with ledger.communication("barotropic reduction"):
                self.comm.Allreduce(_in_place(), self._parts[sums])
        return self._values(sums)

    def begin_reduce(self, sums: int) -> None:
        """Start the same."""
        self.reductions += 1
        if self.comm.size > 1:
            with ledger.communication("barotropic reduction"):
                self._pending = self.comm.Iallreduce(_in_place(), self._parts[sums])

    def progress(self) -> None:
        """Let MPI advance a reduction that is under way: it does so only inside its calls."""
        if self._pending is not None:
            with ledger.communication("barotropic reduction"):
                self._pending.Test()

    def end_reduce(self, sums: int) -> list[float]:
        """Wait for it, in a loop that can be interrupted."""
        if self._pending is not None:
            with ledger.communication("barotropic reduction"):
                while not self._pending.Test():
                    os.sched_yield()
                self._pending = None
        return self._values(sums)

    def _values(self, sums: int) -> list[float]:
        if self.exact and not self.kernels.values(sums, False):
            return self._again(sums)
        return self._found(sums)

    def _found(self, sums: int) -> list[float]:
        found: list[float] = self._sums[: TERMS[sums]].tolist()
        return found

    def _again(self, sums: int) -> list[float]:
        """Exact sums within limits that are found first."""
        from mpi4py import MPI

        self.kernels.largest(sums)
        self.reductions += 2
        terms = self._sums[: TERMS[sums]]
        with ledger.communication("barotropic reduction"):
            self.comm.Allreduce(_in_place(), terms, MPI.MAX)
        if not all(map(math.isfinite, terms.tolist())):
            return [math.nan] * len(terms)
        self.kernels.set_limits(sums)
        self.kernels.dot(sums)
        with ledger.communication("barotropic reduction"):
            self.comm.Allreduce(_in_place(), self._parts[sums])
        self.kernels.values(sums, True)
        return self._found(sums)

    def close(self) -> None:
        """Free what MPI keeps."""
        for halo in self._halos.values():
            halo.close()
        self._halos.clear()


def _in_place() -> Any:
    from mpi4py import MPI

    return MPI.IN_PLACE
