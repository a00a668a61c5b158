"""Run under mpirun by test_time_runs.py: migrates SURVEY's traces in time in one go for each way to share the work.
`python time_program.py FOLDER THREADS WORK…`

Results of a way are in FOLDER/WORK-RANKS-THREADS. With `--resume`, that of the first WORK goes on; a block then takes
some tenths of a second, so that a test meets a run in the middle.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from mpi4py import MPI
from time_survey_support import run

from fathometer.base.errors import InputError
from fathometer.runs.options import RunOptions
from fathometer.seismic.kirchhoff import worker

SECONDS = 0.2


def slow() -> None:
    """Make each block take longer."""
    work = worker.BlockWorkers.work

    def later(self, task, progress, written):
        time.sleep(SECONDS)
        return work(self, task, progress, written)

    worker.BlockWorkers.work = later


def name(work: str, ranks: int, threads: int) -> str:
    return f"{work}-{ranks}-{threads}"


def main(folder: str, threads: str, *words: str) -> None:
    comm = MPI.COMM_WORLD
    resume = "--resume" in words
    if resume:
        slow()
    for work in [one for one in words if one != "--resume"]:
        path = Path(folder) / f"{name(work, comm.size, int(threads))}.toml"
        try:
            run(path, threads=int(threads), options=RunOptions(resume=resume, overwrite=not resume), comm=comm)
        except InputError as error:
            if comm.rank == 0:
                print(error, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main(*sys.argv[1:])
