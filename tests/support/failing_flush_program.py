"""On two ranks: files of each format of which one rank cannot flush its part. Prints what all of them were told."""

import os
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.parallel.decomposition import split
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.datasets.writer import DatasetWriter
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.volume import write_volume

COMM, N = MPI.COMM_WORLD, 8


def failing(handle):
    raise OSError(5, "Input/output error")


def write(path):
    lo, hi = split(N, COMM.size, COMM.rank)
    if path.name.startswith("dataset"):
        with DatasetWriter(path, Dataset({"x": N, "y": 4}, [Variable("a", ("x", "y"), "f8")]), COMM) as writer:
            writer.write("a", [((lo, 0), np.ones((hi - lo, 4)))])
    else:
        info = VolumeInfo((N, 4), np.dtype(np.float32), None, None, ("x", "y"), None)
        write_volume(path, info, np.ones((hi - lo, 4), np.float32), (lo, 0), COMM)


if COMM.rank == 1:
    os.fsync = failing
for name in sys.argv[2:]:
    try:
        write(Path(sys.argv[1]) / name)
        said = "no error"
    except FathometerError as error:
        said = str(error)
    told = COMM.gather(said)
    if COMM.rank == 0:
        print(name, *set(told), sep=": ")
