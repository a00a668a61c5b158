"""Run by test_dataset_ranks.py under mpirun: `python dataset_program.py FOLDER`. Every strategy, with PnetCDF and, as
far as there is one, without; ranks have different numbers of boxes, the last of several none. Prints a line a failure.
"""

import sys
from pathlib import Path

import numpy as np
from dataset_support import boxes_of, dataset, values_of
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.datasets.writer import STRATEGIES, DatasetWriter
from fathometer.storage.volumes.formats import netcdf_file, pnetcdf
from fathometer.storage.volumes.strategy import Strategy

COMM = MPI.COMM_WORLD


def write(path, strategy, lacking=None):
    with DatasetWriter(path, dataset(), COMM, strategy and Strategy.of(strategy)) as writer:
        for name, values in values_of().items():
            boxes = boxes_of(values.shape, COMM.rank, COMM.size)
            if (name, COMM.rank) == lacking:
                boxes = boxes[1:]
            writer.write(name, [(lo, values[box]) for lo, box in boxes])


def failures(folder):
    for strategy in (*([] if pnetcdf.missing() else STRATEGIES), None):
        if strategy is None:
            pnetcdf.missing = lambda: "no PnetCDF"
        for largest in (1 << 30, 200):
            netcdf_file.LARGEST_CALL = largest
            path = folder / f"{strategy}-{largest}-{COMM.size}.nc"
            write(path, strategy)
            with DatasetFile(path) as file:
                if file.header.version != (2 if strategy is None else 5):
                    yield f"{path}: version {file.header.version}"
                for name, values in values_of().items():
                    if file.read(name).tobytes() != values.tobytes():
                        yield f"{path}: {name} differs"
                if file.read("depth").tolist() != [5.0, 20.0, 60.0]:
                    yield f"{path}: depth"
        try:
            write(folder / "part.nc", strategy, ("salt", 0))
            yield f"{strategy}: a box that nobody wrote is not noticed"
        except FathometerError as error:
            if "salt: the ranks' boxes hold" not in str(error):
                yield str(error)
        try:
            write(folder / "none" / "file.nc", strategy)
            yield f"{strategy}: a folder that does not exist is not noticed"
        except FathometerError as error:
            if "cannot be written" not in str(error):
                yield str(error)
    COMM.barrier()
    if COMM.rank == 0 and [path.name for path in folder.glob(".*")] + list(folder.glob("part.nc")):
        yield "something is left behind"


for line in failures(Path(sys.argv[1])):
    print(line, flush=True)
assert np.all(np.isfinite(COMM.allreduce(0.0)))
