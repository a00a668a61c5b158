"""Run by tests/test_storage_failures.py under mpirun: one write (or read) in which something goes wrong on one rank.

`python storage_failure_program.py FOLDER KIND SUFFIX STRATEGY`: prints, on rank 0, the error of each rank as JSON. One
rank fails: the last, or where rank 0 alone makes the system calls, that.
"""

import io
import json
import os
import resource
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.errors import FathometerError
from fathometer.storage.block import VolumeInfo
from fathometer.storage.reader import open_shared
from fathometer.storage.strategy import Strategy
from fathometer.storage.writer import VolumeWriter

SHAPE = (60, 40, 50)


def fail_to_open(comm, rank):
    """As on a rank that has no permission, or sees a folder that is read-only: any opening to write is refused."""
    if comm.rank != rank:
        return
    plain = os.open

    def refused(path, flags, *more, **options):
        if flags & (os.O_WRONLY | os.O_RDWR) and ".part" in str(path):
            raise PermissionError(13, "Permission denied")
        return plain(path, flags, *more, **options)

    os.open = refused
    openers = io.open

    def closed(path, mode="r", *more, **options):
        if "w" in mode and ".part" in str(path):
            raise PermissionError(13, "Permission denied")
        return openers(path, mode, *more, **options)

    io.open = closed


def main(folder, kind, suffix, text):
    comm, folder = MPI.COMM_WORLD, Path(folder)
    failing = 0 if "collective" in text or "root" in text else comm.size - 1  # whose system calls these are
    values = np.random.default_rng(1).normal(size=SHAPE).astype(np.float32)
    lo, hi = (SHAPE[0] * part // comm.size for part in (comm.rank, comm.rank + 1))
    path, strategy = folder / f"v{suffix}", Strategy.of(text)
    error = None
    try:
        if kind == "read":
            with open_shared(path.name, folder, comm, strategy) as volume:
                volume.read((lo, 0, 0), (hi, *volume.info.shape[1:]))
        else:
            if kind == "permission":
                fail_to_open(comm, failing)
            info = VolumeInfo(SHAPE, values.dtype, (1.0, 1.0, 1.0), None, ("x", "y", "z"), None)
            volume = VolumeWriter(path, info, comm, strategy)
            if kind == "limit" and comm.rank == failing:  # a write that stops short
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            if kind == "vanished" and comm.rank == 0:
                shutil.rmtree(folder)
            if kind == "killed" and comm.rank == failing:
                os.kill(os.getpid(), signal.SIGKILL)
            comm.Barrier()
            volume.write(values[lo:hi], (lo, 0, 0))
            volume.flush()
            volume.close()
    except FathometerError as found:
        error = str(found)
    errors = comm.gather(error)
    if comm.rank == 0:
        print(json.dumps(errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
