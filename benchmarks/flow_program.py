"""A step of Taylor's and Green's vortices on the ranks of this program, what it cannot be faster than, and the same
step by NumPy on one rank: as JSON, seconds.

python -m benchmarks.flow_program CELLS REPEATS THREADS NUMPY
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
from mpi4py import MPI
from scipy import fft

from benchmarks.flow_numpy import NumpyFlow
from fathometer import _native
from fathometer.apps.flow.case import ranks_of
from fathometer.apps.flow.solver.model import NOW, FlowModel, Fluid, Problem
from fathometer.apps.flow.solver.sides import SIDES, Side
from fathometer.base import ledger
from fathometer.lab.stencil import ITEM_BYTES, TRIAD_ELEMENTS

PHASES = ("momentum", "projection", "transforms", "solve columns", "transpose", "halos", "diagnostics")
VISCOSITY = 1 / 1600
# Arrays over all cells that a stage reads and writes once at least, those written after reading twice.
MOVED = {
    "rates and predictor": 12,  # u 3, rates 3 and again, the next u 3
    "divergence": 4,  # u 3, and itself
    "elimination": 2,
    "potential with its halo": 2,
    "correction": 7,  # potential, u 3 and again
}
LOOKED = 3  # that the look at the limits reads, once a step


def main(cells: int, repeats: int, threads: int, with_numpy: int) -> None:
    """Print medians over repeats of what a step takes, on the slowest rank."""
    comm = MPI.COMM_WORLD
    _native.set_threads(threads)
    problem = Problem(
        (cells,) * 3, (2 * np.pi / cells,) * 3, Fluid(VISCOSITY), {side: Side("periodic") for side in SIDES}
    )
    model = FlowModel(problem, ranks_of(problem, comm.size, Path()), comm, threads)
    velocities = vortices(cells)
    block = tuple(slice(a, b) for a, b in zip(model.block.lo, model.block.hi, strict=True))
    model.arrays[...] = velocities[(slice(None), *block)]
    model.begin()
    dt = 0.5 / sum(1 / h for h in problem.spacing)

    spent: dict[str, list[float]] = {name: [] for name in PHASES}

    def step() -> None:
        with ledger.Ledger() as account:
            model.step(dt)
            with ledger.phase("diagnostics"):
                model.limits()
            for name, times in spent.items():
                times.append(comm.allreduce(account.seconds(name), MPI.MAX))

    tasks: dict[str, Callable[[], object]] = {
        "step": step,
        "triad": triad_of(comm.size),
        "transforms alone": lambda: [transforms(values, threads) for values in blocks],
    }
    blocks = [np.random.default_rng(1).random(model.block.local_shape) for _ in NOW]
    if with_numpy:
        other = NumpyFlow(velocities.transpose(0, 3, 2, 1).copy(), VISCOSITY)
        tasks["NumPy"] = lambda: other.step(dt)
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for times in spent.values():
        times.clear()
    for _ in range(repeats):
        for name, task in tasks.items():
            comm.Barrier()
            begin = ledger.now()
            task()
            found[name].append(comm.allreduce(ledger.now() - begin, MPI.MAX))
    values = {name: median(times) for name, times in (found | spent).items()}
    values["bandwidth"] = 3 * ITEM_BYTES * TRIAD_ELEMENTS / values["triad"]
    moved = (len(NOW) * sum(MOVED.values()) + LOOKED) * 8 * cells**3
    values["traffic"] = moved / values["bandwidth"]
    if comm.rank == 0:
        print(json.dumps(values))
    model.close()


def vortices(cells: int) -> npt.NDArray[np.float64]:
    """Taylor's and Green's: velocities at lower faces, [u, v, w; z, y, x]."""
    faces = np.arange(cells) * 2 * np.pi / cells
    centres = faces + np.pi / cells
    z = np.cos(centres)[:, None, None]
    u = np.sin(faces) * np.cos(centres)[:, None] * z
    v = -np.cos(centres) * np.sin(faces)[:, None] * z
    return np.stack([u, v, np.zeros_like(u)])


def transforms(values: npt.NDArray[np.float64], workers: int) -> None:
    """Those of a stage on a block [z, y, x], there and back; `values` keeps its values."""
    waves = fft.fft(fft.rfft(values, axis=2, workers=workers), axis=1, overwrite_x=True, workers=workers)
    waves = fft.ifft(waves, axis=1, overwrite_x=True, workers=workers)
    fft.irfft(waves, n=values.shape[2], axis=2, overwrite_x=True, workers=workers)


def triad_of(ranks: int) -> Callable[[], object]:
    """The triad of memory, on all ranks at once."""
    arrays = [_native.zerosFloat32((1, 1, TRIAD_ELEMENTS // ranks), n) for n in range(3)]
    return lambda: _native.triad(*arrays)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
