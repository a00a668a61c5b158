"""The memory of a rank, for plans."""

from __future__ import annotations

from collections.abc import Mapping

NUMBER, INTEGER = 8, 4  # bytes
DEEP = 17  # arrays of State over levels, with two tracers
FLAT = 6 + 10 + 11 + 3  # over columns: of State, of the model, vectors of the barotropic solver, its operator
BYTES = 3  # arrays of a byte a column
VERSIONS = 2  # exchanges of arrays that change places
FIELDS = 3  # deep arrays at the same time while the vertical velocity is made
CASE = 9  # arrays over all columns of the grid that each rank has: levels, depths, wind, targets


def case_bytes(grid: int) -> int:
    """Bytes of what each rank knows of all columns of the grid, before it has a model; no MPI."""
    return grid * (CASE * NUMBER + 2 * INTEGER)


def model_bytes(
    columns: int, levels: int, grid: int, tile: int, preconditioner: str, rings: Mapping[int, int]
) -> dict[str, int]:
    """Bytes that a rank takes, by what takes them; no MPI.

    columns: of its blocks, halos and land included. levels: of the grid. grid: columns of the whole grid. rings: cells
    of halos that other ranks own, by the width of the halo.
    """
    factor = tile + 2 if preconditioner == "block" else 1
    deep, surface = rings[3] * 2 + rings[2] * 2, rings[3] * 3 + rings[1]
    return {
        "case": case_bytes(grid),
        "state": DEEP * columns * levels * NUMBER,
        "surface": columns * (FLAT * NUMBER + 4 * INTEGER + BYTES),
        "preconditioner": columns * factor * NUMBER,
        "halos": 2 * VERSIONS * (deep * levels + surface) * NUMBER,
    }


def field_bytes(columns: int, levels: int) -> int:
    """What is needed for a while when fields are written."""
    return FIELDS * columns * levels * NUMBER
