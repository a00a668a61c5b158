"""Run by test_solver_ranks.py under mpirun: a flow from heads through a random medium with calcite, in three
dimensions. Writes the whole grid's state to the file that is named, and checks on each rank that a state that is read
goes on with the same bits. Prints a line of JSON from rank 0.
"""

import json
import sys

import numpy as np
from mpi4py import MPI
from solver_support import ACID, RESTING, calcite_system, flow_of, start

from fathometer.apps.reactive.solver.flow import FIXED, INFLOW, OPEN
from fathometer.apps.reactive.solver.petsc import log_of, options_of
from fathometer.apps.reactive.solver.problem import ReactiveSolver

SHAPE = (9, 7, 6)


def flow(scheme):
    random = np.random.default_rng(5)
    conductivity, porosity = 10.0 ** random.uniform(-6, -4, SHAPE), random.uniform(0.1, 0.4, SHAPE)

    def part(values):
        return lambda lo, hi: values[tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))]

    sides = {
        "x-": {"kind": FIXED, "water": 1, "head": 0.02},
        "x+": {"kind": OPEN, "water": 0, "head": 0.0},
        "y-": {"kind": INFLOW, "water": 1, "head": 0.01},
    }
    return flow_of(
        SHAPE,
        (0.02, 0.03, 0.05),
        sides,
        conductivity=part(conductivity),
        porosity=part(porosity),
        dispersivity=(0.01, 0.002),
        system=calcite_system(),
        waters=np.array([RESTING, ACID]),
        scheme=scheme,
    )


def solver_of(scheme):
    return ReactiveSolver(flow(scheme), MPI.COMM_WORLD, options_of("-ksp_rtol 1e-8"))


def whole(comm, lo, values):
    """An array of the whole grid, on rank 0."""
    parts = comm.gather((lo, values))
    if parts is None:
        return None
    out = np.full((*SHAPE, values.shape[-1]), np.nan)
    for start_, part in parts:
        out[tuple(slice(a, a + n) for a, n in zip(start_, part.shape[:3], strict=True))] = part
    return out


def main(path, scheme):
    comm = MPI.COMM_WORLD
    solver = solver_of(scheme)
    start(solver, RESTING, [100.0])
    before, left, iterations = solver.moles(), np.zeros(4), []
    for number, dt in enumerate((1e3, 3e3, 5e3, 5e3)):
        if number == 2:
            kept = solver.ln_c.copy(), solver.minerals.copy()
        step = solver.step(dt)
        assert step.converged, step
        iterations.append(step.newton)
        left += solver.outflow()
    missing = np.abs(before - solver.moles() - left) / np.maximum(np.abs(before), np.abs(left))
    again = solver_of(scheme)
    again.set_state(*kept)
    for _ in range(2):
        again.step(5e3)
    same = again.ln_c.tobytes() == solver.ln_c.tobytes() and again.minerals.tobytes() == solver.minerals.tobytes()
    log = log_of()
    arrays = [whole(comm, solver.lo, values) for values in (solver.ln_c, solver.minerals, solver.totals())]
    same = comm.allreduce(same, MPI.LAND)
    if comm.rank == 0:
        np.savez(path, ln_c=arrays[0], minerals=arrays[1], totals=arrays[2], left=left)
        print(
            json.dumps(
                {
                    "ranks": solver.ranks,
                    "iterations": iterations,
                    "missing": missing.max(),
                    "same": same,
                    "log": log,
                }
            )
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
