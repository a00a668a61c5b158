"""What benchmarks of a machine measure of grids that two ranks share: what a cut adds to their time steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from mpi4py import MPI

from fathometer.base.ledger import timed
from fathometer.config.sections import TuningTable
from fathometer.grid.tuning import TimeStepper, tune
from fathometer.parallel.decomposition import Index3
from fathometer.plan.machine_file import CutWork
from fathometer.seismic.acoustic.probes import MATERIALS
from fathometer.seismic.elastic.homogeneous import homogeneous
from fathometer.seismic.waves.boundary import MultiaxialPml, Pml
from fathometer.seismic.waves.homogeneous import Homogeneous

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


def cut_works(
    pair: MPI.Intracomm,
    threads: ThreadCounts,
    least_of: Callable[[Sequence[float]], float],
    say: Callable[[str], None],
) -> Iterator[CutWork]:
    """Collective over two ranks of a host with these threads each. Both share a grid, cut along y and along x, and, for
    comparison, have half of it for themselves, in turns; without a search for a tiling."""
    for equation in (*MATERIALS, "elastic"):
        say(f"grids that two ranks share, {equation}")
        x, y, z = SHAPE
        waves = {"alone": _wave(equation, (x, y // 2, z), (1, 1, 1), MPI.COMM_SELF)}
        waves |= {along: _wave(equation, SHAPE, ranks, pair) for along, ranks in WAYS.items()}
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


def _wave(equation: str, shape: Index3, ranks: Index3, comm: MPI.Intracomm) -> Wave:
    """At rest, in cells of which some at each side of the shared grid are absorbing layers."""
    if equation == "elastic":
        return homogeneous(shape, MultiaxialPml().width, False, False, ranks=ranks, comm=comm)
    width = Pml().width
    x, y, z = (n - 2 * width for n in shape)
    return Homogeneous((x, y, z), MATERIALS[equation], Pml(), ranks=ranks, comm=comm).propagator
