"""Run by test_wavelets.py under mpirun: `python wavelet_program.py FOLDER`.

Every rank writes its part of some volumes as coefficients and with levels, in two decompositions; of each file the
folder has one for each, by its number.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from storage_program import blocks_of, info_of

from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import write_volume

SHAPES = ((70, 7, 130), (530, 40), (3, 66, 5, 40))
WAYS = {
    "posix.h5": "posix-shared:filter=wavelet",
    "collective.h5": "mpiio-collective:filter=wavelet",
    "nonblocking.h5": "mpiio-nonblocking:filter=wavelet",
    "part.h5": "posix-shared:filter=wavelet,shares=100/10",
    "levels.h5": "auto:levels=3",
    "root.h5": "root-broadcast:levels=3",
    "levels.zarr": "auto:levels=3",
}


def values_of(shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def main():
    folder, comm = Path(sys.argv[1]), MPI.COMM_WORLD
    for shape, (name, strategy) in itertools.product(SHAPES, WAYS.items()):
        if len(shape) == 4 and name.endswith(".zarr"):
            continue
        ends = list(blocks_of(shape, comm))
        for number, (lo, hi) in enumerate(ends[: len(ends) // 2 + 1 : max(1, len(ends) // 2)]):
            block = values_of(shape)[tuple(map(slice, lo, hi))]
            path = folder / f"{len(shape)}-{number}-{name}"
            write_volume(path, info_of(shape), block, lo, comm, Strategy.of(strategy))
    steps = SHAPES[-1]  # each rank some of the steps, whole
    first, last = (steps[0] * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    block = values_of(steps)[first:last]
    path = folder / f"{len(steps)}-steps-posix.h5"
    write_volume(path, info_of(steps), block, (first, 0, 0, 0), comm, Strategy.of(WAYS["posix.h5"]))


if __name__ == "__main__":
    main()
