"""The memory of the solver, for plans and before it is allocated."""

from __future__ import annotations

import math

from fathometer.apps.reactive.solver.distributed_grid import CHUNK_ROWS, ENTRIES, GHOST_WIDTH
from fathometer.parallel.decomposition import Index3

RESTART = 30  # iterations of GMRES after which it begins anew
BASIS = 4  # its vectors besides one an iteration
NEWTON = 7  # vectors of Newton's method: solution, residual, correction and those of the line search
NUMBER, INTEGER = 8, 4  # bytes


def case_bytes(shape: Index3) -> int:
    """Bytes of what stands at the faces of all sides of the grid, which each rank has; no MPI."""
    x, y, z = shape
    return 2 * (x * y + y * z + x * z) * (1 + 2 * NUMBER)


def solver_bytes(
    shape: Index3, ranks: Index3, n: int, k: int, scheme: str, linear_iterations: float | None = None
) -> dict[str, int]:
    """Bytes that the largest rank's solver takes, by what takes them, with GMRES and ILU(0); no MPI.

    shape: cells. ranks: along each axis. n, k: components and minerals. linear_iterations: most of GMRES in an
    iteration of Newton's method, as each takes a vector more; None: as many as there are before it begins anew.
    """
    width, row = GHOST_WIDTH[scheme], ENTRIES[scheme]
    block = [math.ceil(cells / parts) for cells, parts in zip(shape, ranks, strict=True)]
    cells = math.prod(block)
    ghosted = math.prod(own + 2 * width if whole > 1 else own for own, whole in zip(block, shape, strict=True))
    blocks = cells * (1 + sum(2 * min(width, whole - 1) for whole in shape))
    matrix = blocks * (n * n * NUMBER + INTEGER)
    chunk = max(block[1] * block[2], min(cells, CHUNK_ROWS))
    basis = min(RESTART, math.ceil(RESTART if linear_iterations is None else linear_iterations)) + BASIS
    return {
        "state": cells * (n + k) * NUMBER,
        "equations": (ghosted * 2 * n + cells * (2 * n + 2 * k + 9)) * NUMBER + ghosted,
        "vectors": (cells * NEWTON + ghosted) * n * NUMBER,
        "linear solver's vectors": cells * basis * n * NUMBER,
        "Jacobian": matrix,
        "ILU factors": matrix + cells * n * n * NUMBER,
        "derivatives": (ghosted + cells) * n * n * NUMBER + chunk * row * (n * n * NUMBER + INTEGER),
    }
