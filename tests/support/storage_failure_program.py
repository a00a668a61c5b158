"""Run by test_storage_failures.py under mpirun: writes (or reads) in which something goes wrong on one rank.

`python storage_failure_program.py FOLDER KIND SUFFIX=STRATEGY …`: the n-th case in FOLDER/n. Prints, on rank 0, the
error of each rank in each case as JSON. One rank fails: the last, or where rank 0 makes the system calls, that.
"""

import contextlib
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

from fathometer.base.errors import FathometerError
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.reader import open_shared
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import VolumeWriter

SHAPE, BLOCKS = (60, 40, 50), (200, 40, 50)  # the latter with a block of coefficients for each rank
LIMIT = 100_000  # bytes


@contextlib.contextmanager
def refusing():
    """As where a rank has no permission, or sees a folder that is read-only: any opening to write is refused."""
    opens, streams = os.open, io.open

    def refused(path, flags, *more, **options):
        if flags & (os.O_WRONLY | os.O_RDWR) and ".part" in str(path):
            raise PermissionError(13, "Permission denied")
        return opens(path, flags, *more, **options)

    def closed(path, mode="r", *more, **options):
        if "w" in mode and ".part" in str(path):
            raise PermissionError(13, "Permission denied")
        return streams(path, mode, *more, **options)

    os.open, io.open = refused, closed
    try:
        yield
    finally:
        os.open, io.open = opens, streams


@contextlib.contextmanager
def limited():
    """No file may grow beyond LIMIT, nor be written there: writes stop short."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def attempt(comm, folder, kind, suffix, text):
    """The error that this rank ends with, None for none."""
    fails = comm.rank == (0 if "collective" in text or "root" in text else comm.size - 1)
    shape = BLOCKS if "wavelet" in text else SHAPE
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    lo, hi = (shape[0] * part // comm.size for part in (comm.rank, comm.rank + 1))
    path, strategy = folder / f"v{suffix}", Strategy.of(text)
    try:
        if kind == "read":
            with open_shared(path.name, folder, comm, strategy) as volume:
                lo, hi = (volume.info.shape[0] * part // comm.size for part in (comm.rank, comm.rank + 1))
                volume.read((lo, 0, 0), (hi, *volume.info.shape[1:]))
            return None
        info = VolumeInfo(shape, values.dtype, (1.0, 1.0, 1.0), None, ("x", "y", "z"), None)
        with refusing() if kind == "permission" and fails else contextlib.nullcontext():
            volume = VolumeWriter(path, info, comm, strategy)
            if kind == "vanished" and comm.rank == 0:
                shutil.rmtree(folder)
            if kind == "killed" and fails:
                os.kill(os.getpid(), signal.SIGKILL)
            comm.Barrier()
            with limited() if kind == "limit" and fails else contextlib.nullcontext():
                volume.write(values[lo:hi], (lo, 0, 0))
                volume.flush()
                volume.close()
    except FathometerError as error:
        return str(error)
    return None


def main(folder, kind, *cases):
    comm = MPI.COMM_WORLD
    found = []
    for number, case in enumerate(cases):
        place = Path(folder) / str(number)
        place.mkdir(exist_ok=True)
        comm.Barrier()
        found.append(comm.gather(attempt(comm, place, kind, *case.split("=", 1))))
    if comm.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
