"""Run by test_ocean_bits.py under mpirun: an ocean after some steps with every solver, on as many ranks as there are,
cut in many ways. Prints a line of JSON from rank 0: by case, a digest of the whole state and of the iterations of all
steps with exact sums; with those of MPI, the largest difference from the state of exact ones, and what was counted.
"""

import hashlib
import json
import os

if __name__ == "__main__":  # and not in the tests, which import the cuttings
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["OMPI_MCA_mpi_yield_when_idle"] = "1"  # noqa: SIM112  else its sums keep a core from whoever is late

import numpy as np
from mpi4py import MPI
from ocean_support import constant, of_array, sphere

from fathometer import _native
from fathometer.apps.ocean.barotropic.block_layout import cut
from fathometer.apps.ocean.solver.model import OceanModel
from fathometer.apps.ocean.solver.physics import Drag, Physics, StateEquation
from fathometer.apps.ocean.solver.problem import Problem, Surface

COMM = MPI.COMM_WORLD
STEPS = 20
CELLS = (36, 28)
THICKNESS = (200.0, 400.0, 800.0, 1600.0)
SOLVERS = ("pcg", "chronopoulos-gear", "pipelined")
# Cuttings by number of ranks; threads: of each rank.
CUTTINGS = {
    1: [{}, {"blocks": (4, 4)}, {"blocks": (12, 8), "order": "grid"}, {"blocks": (16, 16), "threads": 3}],
    2: [{}, {"ranks": (1, 2)}, {"blocks": (8, 4), "order": "grid"}],
    3: [{"blocks": (4, 8)}],
    4: [{"ranks": (2, 2)}],
}
PHYSICS = Physics(
    viscosity=1e3,
    diffusivity=200.0,
    vertical_viscosity=1e-3,
    vertical_diffusivity=1e-4,
    convective_diffusivity=0.1,
    drag=Drag.QUADRATIC,
    drag_coefficient=2e-3,
    state_equation=StateEquation.WRIGHT,
)


def ocean():
    """Continents, an island, a rough bottom; all processes at work, and a third tracer. On a small sphere, so that the
    surface takes many iterations."""
    random = np.random.default_rng(8)
    levels = random.integers(2, len(THICKNESS) + 1, CELLS)
    levels[10:19, :17] = levels[24:30, 8:] = levels[2:4, 20:23] = 0
    grid = sphere(CELLS, (0.0, -70.0), (10.0, 5.0), THICKNESS, levels=levels, periodic=True, radius=8e5)
    temperature, salinity = random.uniform(0.0, 25.0, grid.shape), random.uniform(33.0, 36.0, grid.shape)
    spot = np.zeros(grid.shape)
    spot[5:8, 8:12] = 1.0
    targets = random.uniform(0.0, 25.0, CELLS), np.full(CELLS, 35.0)
    surface = [*(Surface(rate=1e-6, target=target) for target in targets), Surface()]
    wind = tuple(0.2 * random.standard_normal(CELLS) for _ in range(2))
    height = random.standard_normal(CELLS) * (levels > 0)
    tracers = [of_array(temperature), of_array(salinity), of_array(spot)]
    still = constant(0.0, len(THICKNESS))
    return Problem(grid, PHYSICS, 3600.0, 0.6, tracers, surface, height, (still, still), wind)


def run(problem, sums, solver, keys):
    """The whole state by name (None but on rank 0), iterations of all steps, and the last step."""
    keys = dict(keys)
    _native.set_threads(keys.pop("threads", 1))
    grid = problem.grid
    layout = cut(CELLS, COMM.size, COMM.rank, grid.levels, periodic=True, tile=4, **keys)
    model = OceanModel(problem, layout, COMM, tile=4, solver=solver, sums=sums, tolerance=1e-8, replace_every=15)
    model.begin()
    steps = [model.step() for _ in range(STEPS)]
    assert model.diagnostics()["largest_speed"] > 0.01
    found = {name: whole(layout, values) for name, values in model.arrays().items()}
    model.close()
    return found, [step.iterations for step in steps], steps[-1]


def whole(layout, values):
    """A blocked array as one of the whole grid, on rank 0."""
    parts = [(block.lo, block.hi, layout.owned(values, n).copy()) for n, block in enumerate(layout.own)]
    gathered = COMM.gather(parts)
    if gathered is None:
        return None
    out = np.zeros((*CELLS, *values.shape[3:]))
    for lo, hi, part in [part for some in gathered for part in some]:
        out[lo[0] : hi[0], lo[1] : hi[1]] = part
    return out


def main():
    problem, digests, differences, counts = ocean(), {}, {}, {}
    for solver in SOLVERS:
        for number, keys in enumerate(CUTTINGS[COMM.size]):
            state, iterations, _ = run(problem, "exact", solver, keys)
            if COMM.rank == 0:
                digest = hashlib.sha256(json.dumps(iterations).encode())
                for name in sorted(state):
                    digest.update(state[name].tobytes())
                digests[f"{solver} {number}"] = digest.hexdigest()
        other, _, step = run(problem, "mpi", solver, CUTTINGS[COMM.size][-1])
        counts[solver] = step.iterations, step.reductions, step.halos
        if COMM.rank == 0:
            names = [name for name in state if not name.startswith("tendency")]
            scales = {name: np.abs(state[name]).max() for name in names}
            differences[solver] = {n: float(np.abs(state[n] - other[n]).max() / scales[n]) for n in names}
    if COMM.rank == 0:
        print(json.dumps({"digests": digests, "differences": differences, "counts": counts}))


if __name__ == "__main__":
    main()
