"""The program as a user starts it, and programs under mpirun, for the benchmarks."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

from fathometer.base.ledger import timed
from fathometer.launch.mpirun import SPIN_COUNT, find_mpirun, mpirun_command


def clean() -> dict[str, str]:
    """The environment without what MPI has put there, which would keep a command from starting ranks of its own."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "ORTE_"))}


def fathometer(*words: object) -> float:
    """Run a command; seconds from its start to its end."""
    command = [sys.executable, "-m", "fathometer", *map(str, words)]
    return timed(partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL, env=clean()))


def on_ranks(ranks: int, module: str, *words: object) -> str:
    """What a module of the benchmarks prints when so many ranks run it; threads wait as those of the program do."""
    program = [sys.executable, "-m", module, *map(str, words)]
    mpirun = find_mpirun(sys.prefix, os.environ.get("PATH", os.defpath))
    command = mpirun_command(mpirun, ranks, program, os.cpu_count(), os.geteuid() == 0)
    environment = {"GOMP_SPINCOUNT": SPIN_COUNT} | clean()
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
