"""A step of Taylor's and Green's vortices on the ranks of this program, what it cannot be faster than, and the same
step by NumPy on one rank: as JSON, seconds.

python -m benchmarks.flow_program CELLS REPEATS THREADS NUMPY
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from mpi4py import MPI
from scipy import fft

from benchmarks.flow_numpy import NumpyFlow
from benchmarks.in_turns import medians
from benchmarks.triad import TRIAD_BYTES, Triad
from fathometer import _native
from fathometer.apps.flow.case import case_of, ranks_of
from fathometer.apps.flow.demo import flow_text
from fathometer.apps.flow.flow_file import IncompressibleFile
from fathometer.apps.flow.solver.model import NOW, FlowModel
from fathometer.base import ledger
from fathometer.config.input_file import load_input

PHASES = ("momentum", "projection", "transforms", "solve columns", "transpose", "halos", "diagnostics")
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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flow.toml"
        path.write_text(flow_text(cells, 1, 20.0))
        case = case_of(load_input(IncompressibleFile, path, "the flow file"))
    problem = case.problem
    model = FlowModel(problem, ranks_of(problem, comm.size, path), comm, threads)
    case.begin(model)
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
        "triad": Triad(),
        "transforms alone": lambda: transforms(blocks, threads),
    }
    blocks = [np.random.default_rng(1).random(model.block.local_shape) for _ in NOW]
    if with_numpy:
        other = NumpyFlow(model.arrays.transpose(0, 3, 2, 1).copy(), problem.fluid.viscosity)
        tasks["NumPy"] = lambda: other.step(dt)
    values = medians(tasks, spent, repeats, comm)
    values["bandwidth"] = comm.size * TRIAD_BYTES / values["triad"]
    moved = (len(NOW) * sum(MOVED.values()) + LOOKED) * 8 * cells**3
    values["traffic"] = moved / values["bandwidth"]
    if comm.rank == 0:
        print(json.dumps(values))
    model.close()


def transforms(blocks: Sequence[npt.NDArray[np.float64]], workers: int) -> None:
    """Those of a stage on each block [z, y, x], there and back; blocks keep their values."""
    for values in blocks:
        waves = fft.fft(fft.rfft(values, axis=2, workers=workers), axis=1, overwrite_x=True, workers=workers)
        waves = fft.ifft(waves, axis=1, overwrite_x=True, workers=workers)
        fft.irfft(waves, n=values.shape[2], axis=2, overwrite_x=True, workers=workers)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
