"""Iterations of the barotropic solver on the ranks of this program, as JSON, the slowest rank's seconds.

python -m benchmarks.ocean_program NX NY ITERATIONS REPEATS
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.apps.ocean.barotropic.solver import BarotropicSolver
from fathometer.apps.ocean.case import case_of
from fathometer.apps.ocean.cases import earth_text
from fathometer.apps.ocean.measure import PRECONDITIONERS, SOLVERS, SUMS
from fathometer.apps.ocean.ocean_file import load_ocean
from fathometer.apps.ocean.share import layout_for
from fathometer.base import ledger

PHASES = ("kernel", "barotropic halo", "barotropic reduction")


def main(nx: int, ny: int, iterations: int, repeats: int) -> None:
    """Print a row for each solver, preconditioner and kind of sums: microseconds of an iteration by what takes them."""
    comm = MPI.COMM_WORLD
    _native.set_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ocean.toml"
        path.write_text(earth_text((nx, ny, 2)))
        case = case_of(load_ocean(path))
    problem = case.problem
    layout = layout_for(case.file, problem.grid, comm.size, comm.rank)
    eta, x = np.zeros(layout.shaped()), np.zeros(layout.shaped())
    values = np.random.default_rng(1).random(layout.shape) - 0.5
    right = layout.blocked(np.where(problem.grid.levels > 0, values, 0.0))
    rows = []
    for solver, preconditioner, sums in product(SOLVERS, PRECONDITIONERS, SUMS):
        keys: dict[str, Any] = {"solver": solver, "preconditioner": preconditioner, "sums": sums}
        one = BarotropicSolver(layout, comm, problem.grid, iterations=iterations, **keys)
        one.coefficients(eta, problem.step, problem.implicitness, problem.physics.gravity)
        taken = []
        for turn in range(repeats + 1):
            x[...] = 0.0
            comm.Barrier()
            with ledger.Ledger() as account, ledger.phase("kernel"):
                done = one.solve(right, x).iterations
                taken.append([1e6 * account.seconds(phase) / done for phase in PHASES])
            if not turn:
                taken.clear()
        one.close()
        own = [median(column) for column in zip(*taken, strict=True)]
        slowest = max(comm.allgather(own), key=lambda parts: parts[0])
        rows.append([solver, preconditioner, sums, *slowest])
    if comm.rank == 0:
        print(json.dumps(rows))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
