"""A stage of a plasma on the ranks of this program, its parts, and what they are measured against: as JSON, seconds.

python -m benchmarks.plasma_program QUICK REPEATS THREADS P2 PROTOCOL OVERLAP ALONE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np
from mpi4py import MPI
from scipy import fft

from benchmarks.in_turns import medians
from benchmarks.plasma_numpy import numpy_rates
from fathometer import _native
from fathometer.apps.plasma.solver.bracket import grid_of
from fathometer.apps.plasma.solver.geometry import FluxTube, Geometry, Modes
from fathometer.apps.plasma.solver.model import Plasma, PlasmaModel
from fathometer.apps.plasma.solver.velocity import Species, VelocityGrid
from fathometer.base import ledger

PHASES = ("velocities", "fields", "field lines", "bracket", "transpose", "gather")
ROWS = 16  # of transforms alone, at a time: those of all derivatives stay in the cache


def plasma_of(quick: bool) -> Plasma:
    """A box of 16 modes."""
    geometry = Geometry()
    modes = Modes.in_box(8 if quick else 16, 17 if quick else 33, 0.05, 2 * np.pi * geometry.shear * 0.05 / 4, 4)
    grid = VelocityGrid([Species("ions", density_gradient=2.22, temperature_gradient=6.92)], 4 if quick else 8, 8, 8.0)
    return Plasma(FluxTube(geometry, modes, 16), grid, nonlinear=True)


def main(quick: int, repeats: int, threads: int, p2: int, protocol: str, overlap: int, alone: int) -> None:
    """Print medians over repeats of what a stage takes, on the slowest rank."""
    comm = MPI.COMM_WORLD
    _native.set_threads(threads)
    plasma = plasma_of(bool(quick))
    model = PlasmaModel(plasma, (comm.size // p2, p2), comm, protocol, bool(overlap), threads)
    random = np.random.default_rng(comm.rank)
    model.g[...] = random.normal(size=model.g.shape) + 1j * random.normal(size=model.g.shape)
    rate = np.empty_like(model.g)
    spent: dict[str, list[float]] = {name: [] for name in PHASES}

    def stage() -> None:
        with ledger.Ledger() as account:
            model.rates(model.g, rate)
            for name, times in spent.items():
                times.append(comm.allreduce(account.seconds(name), MPI.MAX))

    tasks: dict[str, Callable[[], object]] = {"stage": stage}
    if alone:
        nx, ny = grid_of(plasma.tube.modes)
        rows = model.layouts.modes.far[1]
        waves = random.normal(size=(4 * ROWS, ny // 2 + 1, nx)) + 0j
        grid = random.normal(size=(ROWS, ny, nx))

        def transforms() -> None:
            for _ in range(rows // ROWS):
                fft.irfft2(waves, (nx, ny), axes=(-1, -2), workers=threads)
                fft.rfft2(grid, axes=(-1, -2), workers=threads)

        weight = plasma.grid.charge * plasma.grid.weight
        tasks["transforms alone"] = transforms
        tasks["linear"] = lambda: model.rates(model.g, rate, bracket=False)

        def by_numpy() -> None:
            sums = np.einsum("v,mvtk,mvtk->mtk", weight, model._j0, model.g)
            phi = model._solver.solve(sums.reshape(1, len(sums), -1)).reshape(len(sums), 1, *sums.shape[1:])
            chi = model._j0 * phi
            numpy_rates(plasma, model.g, model.g + chi, chi)

        tasks["NumPy"] = by_numpy
    values = medians(tasks, spent, repeats, comm)
    if comm.rank == 0:
        print(json.dumps(values))
    model.close()


if __name__ == "__main__":
    numbers = [int(word) if word.isdigit() else word for word in sys.argv[1:]]
    main(*numbers)  # type: ignore[arg-type]
