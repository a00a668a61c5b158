"""Seconds of time steps of a grid that the ranks of this program share, or that each has a part of for itself: JSON.

python -m benchmarks.shared_grid_program {"physics": …, "shape": …, "width": …, "threads": …, "steps": …, …}
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import partial

from mpi4py import MPI

from benchmarks.in_turns import medians
from fathometer import _native
from fathometer.config.sections import TuningTable
from fathometer.grid.tuning import best_tiling
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.elastic.homogeneous import homogeneous
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous, NoBoundary
from fathometer.seismic.waves.propagator import Propagator


def main(
    physics: str,
    shape: Sequence[int],
    width: int,
    threads: int,
    axis: int,
    alone: bool,
    steps: int,
    repeats: int,
) -> None:
    """Print the tiling, from a search that is made once, and the median over repeats of an advance's seconds on the
    slowest rank.

    Args:
        shape: cells without the layers of `width` cells. axis: along which ranks share the grid. alone: each rank has
            its part for itself, without a neighbour.
    """
    world = MPI.COMM_WORLD
    cpus = sorted(os.sched_getaffinity(0))
    own = [cpus[(world.rank * threads + n) % len(cpus)] for n in range(threads)]
    team = ThreadCounts(threads, threads, threads, tuple(own))
    parts = [world.size if a == axis else 1 for a in range(3)]
    nx, ny, nz = (n // p for n, p in zip(shape, parts, strict=True)) if alone else shape
    x, y, z = (1, 1, 1) if alone else parts
    comm = MPI.COMM_SELF if alone else world
    wave: Propagator | ElasticPropagator
    _native.set_threads(threads)
    _native.pin_threads(own)
    if physics == "elastic":
        full = nx + 2 * width, ny + 2 * width, nz + 2 * width
        wave = homogeneous(full, width, False, False, ranks=(x, y, z), comm=comm)
    else:
        sides = Pml(width) if width else NoBoundary()
        material = VTI if physics == "vti" else ISOTROPIC
        wave = Homogeneous((nx, ny, nz), material, sides, ranks=(x, y, z), comm=comm).propagator
    wave.threads = team
    best_tiling(wave, TuningTable(), steps, threads, lambda line: None)
    found = medians({"steps": partial(wave.advance, steps)}, {}, repeats, world)
    if world.rank == 0:
        print(json.dumps({"tiling": wave.tiling.numbers, "seconds": found["steps"]}))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
