"""On several ranks: fields after some steps of flows with all kinds of sides, as one hash for each way to cut them."""

import hashlib

import numpy as np
from flow_boxes import sides
from mpi4py import MPI

from fathometer.apps.flow.solver.model import FlowModel, Fluid, Problem
from fathometer.apps.flow.solver.sides import Side
from fathometer.base.ledger import Ledger

COMM = MPI.COMM_WORLD
PROFILE = np.random.default_rng(3).random((10, 14)) + 0.5
CASES = {
    "periodic": sides("periodic", "periodic", "periodic"),
    "walls": sides("wall", "periodic", "slip"),
    "moving": sides("slip", ("wall", Side("wall", {0: 1.0, 2: 0.3}, temperature=1.0)), "periodic"),
    "open above": sides((Side("inflow", {0: PROFILE, 1: 0.2}, temperature=0.3), "outflow"), "wall", "periodic"),
    "open below": sides(("outflow", Side("inflow", {0: -1.0})), "slip", "wall"),
    "plane": sides("periodic", "wall", "periodic"),
}


def main():
    for name, around in CASES.items():
        flat = name == "plane"
        cells = (12, 14, 1 if flat else 10)
        layouts = [(1, COMM.size)] + ([] if flat else [(COMM.size, 1)] + [(2, 2)] * (COMM.size == 4))
        for ranks in layouts:
            fluid = Fluid(0.01, (0.1, 0, 0), 0.02, (0, 0.1, 0.0 if flat else 0.5), 0.2)
            model = FlowModel(Problem(cells, (0.1, 0.12, 0.09), fluid, around), ranks, COMM, 1)
            (z0, y0, x0), (z1, y1, x1) = model.block.lo, model.block.hi
            whole = np.random.default_rng(7).standard_normal((model.problem.dims + 1, *cells[::-1]))
            model.arrays[...] = whole[:, z0:z1, y0:y1, x0:x1]
            model.begin()
            for _ in range(4):
                model.step(0.01)
            seen = model.diagnostics()
            own = np.concatenate([model.arrays, [model.pressure(), model.vorticity()]])
            parts = COMM.gather((model.block.lo, model.block.hi, own))
            model.close()
            if COMM.rank == 0:
                fields = np.zeros((len(own), *cells[::-1]))
                for lo, hi, values in parts:
                    fields[(slice(None), *(slice(a, b) for a, b in zip(lo, hi, strict=True)))] = values
                assert np.isfinite(fields).all()
                print(name, hashlib.sha1(fields.tobytes()).hexdigest(), *map(repr, seen.values()), flush=True)


with Ledger(0.0, "start-up"):
    main()
