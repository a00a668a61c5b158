"""Small MPI programs with known calls, compiled for the tests, and runs of them with the library that counts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cli_support import clean_environment
from patience import PATIENCE

from fathometer.base.host import built_library
from fathometer.lab.profile.jobs import Job, jobs_in
from fathometer.lab.profile.launching import environment
from fathometer.lab.profile.results import results_of

PROGRAMS = Path(__file__).with_name("profile")
MPIS = ("openmpi", "mpich")


def require(mpi: str, compiler: str = "mpicc") -> str:
    """The compiler of an MPI; the test is skipped where it, or what counts for it, is not there."""
    path = shutil.which(f"{compiler}.{mpi}") or (shutil.which(compiler) if mpi == "openmpi" else None)
    if path is None:
        pytest.skip(f"no {compiler} of {mpi}: packages-test.txt")
    if built_library(f"profile_{mpi}") is None:
        pytest.skip(f"built without the headers of {mpi}")
    return path


def compiled(folder: Path, source: str, mpi: str = "openmpi", *options: str) -> Path:
    """A program of PROGRAMS, compiled into `folder`."""
    compiler = require(mpi, "mpifort" if source.endswith(".F90") else "mpicc")
    words = "".join(word.strip("-").replace("=", "") for word in options)
    path = folder / f"{Path(source).stem}-{mpi}{words}"
    command = [compiler, "-O1", "-w", *options, "-o", path, PROGRAMS / source, "-lm", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment())
    if done.returncode and source.endswith(".F90"):
        pytest.skip(f"no Fortran for {mpi}: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return path


@cache
def launcher(mpi: str, ranks: int) -> tuple[str, ...]:
    """The words before a program."""
    path = shutil.which(f"mpirun.{mpi}") or shutil.which("mpirun") or "mpirun"
    return (path, "-n", str(ranks))


def run_environment() -> dict[str, str]:
    """Without what a test's own MPI has set, and so that more ranks than cores may run, as root too."""
    return clean_environment() | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
    }


def counted(
    folder: Path,
    words: Sequence[Any],
    mpi: str = "openmpi",
    ranks: int = 2,
    options: Sequence[str] = (),
    newer: bool = False,
    code: int | None = 0,
    **variables: str,
) -> list[Job]:
    """The jobs of a program on ranks with the library that counts. code: that it is to end with; None: any."""
    folder.mkdir()
    base = run_environment() | variables
    environ = base | environment(folder, options, newer, base)
    done = subprocess.run(
        [*launcher(mpi, ranks), *map(str, words)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert code is None or done.returncode == code, done.stderr
    return jobs_in(folder)[0]


def by_rank(job: Job) -> list[dict[str, tuple[int, int, int]]]:
    """Of each rank: calls, bytes handed over and bytes taken in by function."""
    found = []
    for rank in job.ranks:
        one = results_of(Job((rank,), job.size))
        found.append({row["name"]: (row["calls"], row["bytes_out"], row["bytes_in"]) for row in one["functions"]})
    return found


def cli(folder: Path, *words: Any, **variables: str) -> subprocess.CompletedProcess[str]:
    """`fathometer profile` as a process of its own, in `folder`."""
    import sys

    return subprocess.run(
        [sys.executable, "-P", "-m", "fathometer", "profile", *map(str, words)],
        cwd=folder,
        env={**run_environment(), "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
