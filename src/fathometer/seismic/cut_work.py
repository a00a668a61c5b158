"""What benchmarks of a machine measure of grids that two ranks share: what a cut adds to their time steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from mpi4py import MPI

from fathometer.base.ledger import timed
from fathometer.config.sections import TuningTable
from fathometer.grid.tuning import TimeStepper, tune
from fathometer.parallel.decomposition import Index3
from fathometer.plan.machine_file import CutWork

if TYPE_CHECKING:
    from fathometer.parallel.threads import ThreadCounts

SHAPE: Index3 = 128, 160, 96  # cells: too many for the nearer caches, as in the surveys that ranks share
STEPS = 40  # taken at a time: as modelling and migrations do
ROUNDS = 5
WAYS: dict[Literal["y", "x"], Index3] = {"y": (1, 2, 1), "x": (2, 1, 1)}


class Wave(TimeStepper, Protocol):
    """A wavefield that is stepped and closed."""

    threads: ThreadCounts

    def close(self) -> None:
        """Free the halo exchanges."""


MakeWave = Callable[[Index3, Index3, MPI.Intracomm], Wave]  # of cells, ranks along x, y, z, and these ranks


def cut_works(
    equations: Mapping[str, MakeWave],
    pair: MPI.Intracomm,
    threads: ThreadCounts,
    least_of: Callable[[Sequence[float]], float],
    say: Callable[[str], None],
) -> Iterator[CutWork]:
    """Collective over two ranks of a host with these threads each. Both share a grid, cut along y and along x, and, for
    comparison, have half of it for themselves, in turns; without a search for a tiling.

    equations: what makes a wavefield at rest, of cells of which some at each side of the grid are absorbing layers.
    """
    for equation, make in equations.items():
        say(f"grids that two ranks share, {equation}")
        x, y, z = SHAPE
        waves = {"alone": make((x, y // 2, z), (1, 1, 1), MPI.COMM_SELF)}
        waves |= {along: make(SHAPE, ranks, pair) for along, ranks in WAYS.items()}
        times: dict[str, list[float]] = {name: [] for name in waves}
        for wave in waves.values():
            wave.threads = threads
            tune(wave, TuningTable(search="never"), STEPS, 1, threads.propagate, lambda line: None)
            wave.advance(STEPS)
        for _, (name, wave) in itertools.product(range(ROUNDS), waves.items()):
            pair.Barrier()
            times[name].append(pair.allreduce(timed(partial(wave.advance, STEPS)), MPI.MAX))
        for wave in waves.values():
            wave.close()
        alone = least_of(times["alone"])
        for along in WAYS:
            face = x * z if along == "y" else y * z
            more = max(0.0, least_of(times[along]) / alone - 1)
            yield CutWork(physics=equation, along=along, work=more * math.prod(SHAPE) / 2 / face)
