"""Run by tests/trials/test_stated_volumes.py under mpirun: volumes of others on several ranks, by every strategy.

`python stated_program.py REFERENCE …`: files of any kind. Each rank reads its own part, which reaches into the others',
and compares it with what it reads alone. Prints a line for each strategy that differs, and the number of readings.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.parallel.decomposition import split
from fathometer.storage.volumes.reader import SharedVolume
from fathometer.storage.volumes.registry import format_to_read
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume

comm = MPI.COMM_WORLD
count = 0
for reference in sys.argv[1:]:
    with open_volume(reference, Path()) as volume:
        form = format_to_read(volume.path)
        lo, hi = [0] * len(volume.info.shape), list(volume.info.shape)
        first, last = split(volume.info.shape[-1], comm.size, comm.rank)
        lo[-1], hi[-1] = max(0, first - 1), min(hi[-1], last + 1)
        alone = volume.read(lo, hi)
        for name in form.reads:
            if form.missing(name, comm.size):
                continue
            with SharedVolume(volume, comm, Strategy.of(name)) as shared:
                same = np.array_equal(shared.read(lo, hi), alone, equal_nan=True)
            same = all(comm.allgather(same))
            count += 1
            if comm.rank == 0 and not same:
                print(f"! {reference} {name}")
if comm.rank == 0:
    print(count)
