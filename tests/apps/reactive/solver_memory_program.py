"""Run by test_solver_memory.py: the bytes that a solver takes and those that are predicted, as a line of JSON."""

import json
import sys

import numpy as np
from mpi4py import MPI
from solver_support import ACID, RESTING, calcite_system, flow_of, start

from fathometer.apps.reactive.solver.flow import FIXED, OPEN
from fathometer.apps.reactive.solver.memory import solver_bytes
from fathometer.apps.reactive.solver.petsc import require_petsc
from fathometer.apps.reactive.solver.problem import ReactiveSolver
from fathometer.base.host import peak_memory


def solved(cells, scheme):
    shape, sides = (cells,) * 3, {"x-": {"kind": FIXED, "water": 1}, "x+": {"kind": OPEN}}
    flow = flow_of(
        shape,
        (0.01, 0.01, 0.01),
        sides,
        flux=(2.5e-7, 0, 0),
        system=calcite_system(),
        waters=np.array([RESTING, ACID]),
        scheme=scheme,
    )
    solver = ReactiveSolver(flow, MPI.COMM_WORLD)
    start(solver, RESTING, [100.0])
    step = solver.step(1e3)
    assert step.converged
    return solver_bytes(shape, solver.ranks, 4, 1, scheme, step.linear / step.newton)


def main(scheme):
    require_petsc(MPI.COMM_WORLD)
    solved(4, scheme)  # what libraries take once
    before = peak_memory()
    predicted = solved(26, scheme)
    print(json.dumps({"measured": peak_memory() - before, "predicted": sum(predicted.values())}))


if __name__ == "__main__":
    main(sys.argv[1])
