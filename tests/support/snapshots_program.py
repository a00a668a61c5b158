"""Run by tests/seismic/elastic/test_snapshots.py: snapshots of a field that is known everywhere and at any time.

`python snapshots_program.py FOLDER [REFERENCE]`: every strategy, datatype and buffer on every decomposition of this
number of ranks. Without REFERENCE one rank writes each grid's files once, as NPY too; with it, what is written must
have the bytes of the files there. Prints a line for each failure, and the number of files. `... FOLDER fail` ends in an
error of all ranks in the middle, `... FOLDER die` by the death of the last one.
"""

import filecmp
import itertools
import os
import signal
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition, arrangements
from fathometer.seismic.elastic.snapshots import SnapshotWriter
from fathometer.seismic.survey.snapshots import SnapshotsTable
from fathometer.storage.volumes.strategy import Strategy

STEPS, EVERY, DT = 23, 3, 0.5
CASES = {  # name: grid, keys
    "solid": (
        Grid((9, 8, 11), (10.0, 20.0, 5.0), (100.0, 0.0, 0.0), ((3, 2), (1, 2), (0, 3))),
        {"every_nodes": (2, 3, 4), "fields": ("vx", "sxz")},
    ),
    "surface": (
        Grid((9, 8, 11), (10.0, 20.0, 5.0), (100.0, 0.0, 0.0), ((3, 2), (1, 2), (2, 3))),
        {"every_nodes": 2, "region": "surface", "fields": ("vz",)},
    ),
    "plane": (Grid((9, 1, 11), (10.0, 10.0, 5.0), pad=((3, 2), (0, 0), (2, 3))), {"every_nodes": (2, 3)}),
}
WAYS = ["posix-shared:sync=none", "root-broadcast:sync=none"] + [
    f"mpiio-{kind}:sync=none,datatype={datatype}"
    for kind in ("collective", "independent", "nonblocking")
    for datatype in ("contiguous", "subarray", "hindexed")
]


def value(name, step, x, y, z):
    """Of a field after `step` steps at cells of the padded grid."""
    return np.float32(sum(map(ord, name)) + 1000.0 * step) + 100.0 * x + 10.0 * y + 0.5 * z


class Field:
    """A propagator's part that snapshots see. end: of the run, called for the second snapshot."""

    def __init__(self, block, end=None):
        self.step, self._block, self._end = 0, block, end

    def field(self, name):
        if self._end is not None and self.step > EVERY:
            self._end()
        cells = np.ogrid[tuple(slice(a, b) for a, b in zip(self._block.lo, self._block.hi, strict=True))]
        return value(name, self.step, *cells).astype(np.float32)


def run(folder, case, way, buffered, ranks, comm, end=None, suffix="rsf"):
    grid, keys = CASES[case]
    table = SnapshotsTable(**keys, every_steps=EVERY, buffered_steps=buffered, format=suffix)
    block = Decomposition(grid.full_shape, ranks, comm.rank)
    field = Field(block, end)
    with SnapshotWriter(grid, block, table, STEPS, DT, -1.0, folder, case, Strategy.of(way), comm) as writer:
        while field.step < STEPS:
            left = writer.due(field.step)
            field.step = min(STEPS, field.step + (STEPS if left is None else left))
            if writer.due(field.step) == 0:
                writer.take(field)
    return [file for path in writer.paths.values() for file in (path, path.with_name(path.name + "@"))]


def fail():
    raise FathometerError("the run ends here")


def die():
    if MPI.COMM_WORLD.rank == MPI.COMM_WORLD.size - 1:
        os.kill(os.getpid(), signal.SIGKILL)


def main(folder, reference=None):
    comm, folder = MPI.COMM_WORLD, Path(folder)
    if reference in ("fail", "die"):
        run(folder, "solid", WAYS[2], 1, (comm.size, 1, 1), comm, fail if reference == "fail" else die)
    failures, count = [], 0
    buffers = itertools.cycle((1, 3, 100))
    for case, (grid, _) in CASES.items():
        if reference is None:
            run(folder, case, WAYS[0], 1, (1, 1, 1), comm)
            run(folder, case, WAYS[0], 1, (1, 1, 1), comm, suffix="npy")
            continue
        parts = itertools.cycle(arrangements(comm.size, grid.two_dimensional))
        for way, buffered in itertools.product(WAYS, (1, 3, 100) if case == "solid" else (0,)):
            ranks, buffered = next(parts), buffered or next(buffers)
            for path in run(folder, case, way, buffered, ranks, comm):
                count += 1
                if comm.rank == 0 and not filecmp.cmp(path, Path(reference) / path.name, False):
                    failures.append(f"{path.name} {way} {buffered} {ranks}: other bytes than by one rank")
    if comm.rank == 0:
        print("\n".join([*failures, *(str(path) for path in folder.rglob("*.part"))]))
        print(f"{count} files, {len(failures)} failures")


if __name__ == "__main__":
    main(*sys.argv[1:])
