"""The built-in case: wind drives a double gyre in a basin with a warm upper ocean and a ridge."""

from __future__ import annotations

from pathlib import Path

from mpi4py import MPI

from fathometer.apps.ocean.cases import gyre_text
from fathometer.apps.ocean.driver import run_ocean
from fathometer.apps.ocean.ocean_file import load_ocean
from fathometer.apps.ocean.picture import PICTURE
from fathometer.base import ledger
from fathometer.parallel.collectives import collective_errors
from fathometer.record.envelope import PAGE, RECORD, UNFINISHED
from fathometer.runs.context import Context, Outcome
from fathometer.runs.foreign import require_own_demo
from fathometer.runs.restart_hint import DEMO
from fathometer.storage import atomic
from fathometer.storage.folder import results_folder

OTHERS = (PICTURE, PAGE, RECORD, UNFINISHED)  # results that it replaces, beside folders
CELLS = {False: (96, 64, 12), True: (48, 32, 8)}  # quick
STEPS = {False: 300, True: 200}


def demo_text(quick: bool) -> str:
    """The ocean file; its results lie beside it."""
    return gyre_text(CELLS[quick], STEPS[quick], ".")


def run_demo(folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Write the ocean file into the folder and run it there.

    Raises InputError where the folder has a file of that name, or results, but no demo's.
    """
    with results_folder(folder, comm):
        with ledger.phase("set up"):
            with collective_errors(comm):
                if comm.rank == 0:
                    require_own_demo(folder, demo_text(quick), OTHERS)
                    atomic.write(folder / DEMO, demo_text(quick).encode())
            file = load_ocean(folder / DEMO)
        return run_ocean(file, comm, context)
