"""The grid on its ranks: PETSc's distributed arrays (DMDA).

PETSc's first axis is the contiguous one. Sizes are given in the order (z, y, x), so that a rank's vector, seen as an
array in C order, has axes (x, y, z) with the numbers of a cell last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fathometer.apps.reactive.solver.petsc import petsc_errors, require_petsc
from fathometer.parallel.decomposition import Index3, choose_ranks

if TYPE_CHECKING:
    from mpi4py import MPI

GHOST_WIDTH = {"upwind": 1, "central": 1, "limited": 2}  # cells that a scheme reads beyond its own
ENTRIES = {"upwind": 7, "central": 7, "limited": 13}  # blocks in a row of the Jacobian, as the kernel lays them out
CHUNK_ROWS = 2048  # rows of blocks that are handed to PETSc at once, at least a plane


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks of cells, one a rank, the same for all vectors that it makes.

    Attributes:
        shape: cells of the grid. ranks: along each axis.
    """

    shape: Index3
    ranks: Index3
    comm: MPI.Intracomm

    def cells(self, numbers: int, width: int, outside: tuple[bool, bool, bool] = (False, False, False)) -> Any:
        """Collective. A DMDA of `numbers` a cell whose local vectors have `width` cells of the neighbours along each
        axis; outside: axes along which they have so many beyond the grid too."""
        PETSc = require_petsc()
        kinds = PETSc.DM.BoundaryType
        with petsc_errors("the distribution of the grid over ranks"):
            return PETSc.DMDA().create(
                dim=3,
                dof=numbers,
                sizes=self.shape[::-1],
                proc_sizes=self.ranks[::-1],
                boundary_type=[kinds.GHOSTED if beyond else kinds.NONE for beyond in outside[::-1]],
                stencil_type=PETSc.DMDA.StencilType.STAR,
                stencil_width=width,
                comm=self.comm,
            )


def layout_of(shape: Index3, scheme: str, comm: MPI.Intracomm) -> Layout:
    """The layout with the fewest cells between ranks.

    Raises InputError where the ranks are too many for the grid.
    """
    return Layout(shape, choose_ranks(shape, comm.size, GHOST_WIDTH[scheme]), comm)


def bounds(cells: Any) -> tuple[Index3, Index3]:
    """The first cell of this rank's block of a DMDA, and one past its last, (x, y, z)."""
    starts, sizes = cells.getCorners()
    lo = tuple(int(start) for start in starts[::-1])
    return lo, tuple(start + int(size) for start, size in zip(lo, sizes[::-1], strict=True))  # type: ignore[return-value]


def ghosted_bounds(cells: Any) -> tuple[Index3, Index3]:
    """The same of the block with the cells around it that its local vectors have; below 0 they lie outside the grid."""
    starts, sizes = cells.getGhostCorners()
    lo = tuple(int(start) for start in starts[::-1])
    return lo, tuple(start + int(size) for start, size in zip(lo, sizes[::-1], strict=True))  # type: ignore[return-value]
