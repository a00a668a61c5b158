"""A step of an atmosphere on the ranks of this program, its parts, and what they are measured against: JSON, seconds.

python -m benchmarks.atmosphere_program QUICK REPEATS THREADS PROTOCOL FORCED ALONE
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a matrix product beside a kernel of one thread

import numpy as np
from mpi4py import MPI

from benchmarks.in_turns import medians
from fathometer import _native
from fathometer.apps.atmosphere.solver.equations import Planet, Primitive, cam_levels
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.apps.atmosphere.solver.physics import Forcing, Physics
from fathometer.apps.atmosphere.solver.starts import BaroclinicWave
from fathometer.apps.atmosphere.solver.transform import Grid, Transform
from fathometer.base import ledger

PHASES = ("Legendre", "transpose", "grid", "physics", "spectral")
STEP, DAMPING = 300.0, 1e15


def main(quick: int, repeats: int, threads: int, protocol: str, forced: int, alone: int) -> None:
    """Print medians over repeats of what a step takes, on the slowest rank."""
    comm = MPI.COMM_WORLD
    _native.set_threads(threads)
    grid = Grid(21, 32, 64) if quick else Grid(85, 128, 256)
    equations = Primitive(Planet(), *cam_levels())
    transform = Transform(grid, comm, protocol, threads)
    start = BaroclinicWave(grid, equations, True)
    model = SpectralModel(equations, transform, start.ground, DAMPING)
    model.begin(start.weather)
    physics = Physics(Forcing(False, True, 1365.0, 0.0, 64), equations, transform)
    physics.begin(model.weather())
    spent: dict[str, list[float]] = {name: [] for name in PHASES}

    def step() -> None:
        with ledger.Ledger() as account:
            if forced:
                physics.force(0.0, 2 * STEP)
                rates = model.rates(physics.of_pair, physics.weather_now)
            else:
                rates = model.rates()
            model.leap(rates, STEP, False)
            for name, times in spent.items():
                times.append(comm.allreduce(account.seconds(name), MPI.MAX))

    tasks: dict[str, Callable[[], object]] = {"step": step}
    if alone:
        columns = 5 * equations.levels + 3
        values = np.ascontiguousarray(model.spread().view(np.float64))
        rings = np.empty((len(transform.waves), grid.pairs, 2, 2 * columns))
        random = np.random.default_rng(1)
        halves = []
        for m in range(grid.truncation + 1):
            for terms in ((grid.truncation + 3 - m) // 2, (grid.truncation + 2 - m) // 2):
                shapes = ((grid.pairs, terms), (terms, 2 * columns), (grid.pairs, 2 * columns))
                a, b, c = (random.normal(size=shape) for shape in shapes)
                halves.append((a, b, c))

        def products() -> None:
            for a, b, c in halves:
                np.matmul(a, b, out=c)

        tasks["kernel"] = lambda: transform.sphere.synthesise(coefficients=values, rings=rings)
        tasks["products"] = products
    found = medians(tasks, spent, repeats, comm)
    if comm.rank == 0:
        print(json.dumps(found))
    model.close()


if __name__ == "__main__":
    numbers = [int(word) if word.isdigit() else word for word in sys.argv[1:]]
    main(*numbers)  # type: ignore[arg-type]
