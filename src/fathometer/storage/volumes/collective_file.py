"""Collective steps around a file that several ranks open: checks beforehand, MPI-IO hints, memory for a block."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.launch.one_host import is_set
from fathometer.parallel.collectives import NAP_SECONDS, allgather, collective_errors
from fathometer.storage.volumes.boxes import Box, extent

if TYPE_CHECKING:
    from mpi4py import MPI

# By default Open MPI keeps a pointer that all ranks of a file share, which nothing here uses: by a semaphore of the
# file's name in /dev/shm, a mapped file in its session's folder (with which ranks hang where one has no memory for it),
# or files beside the file. It reads these variables when a process opens its first file; without a pointer it goes on
# where the hint lets its last way refuse.
_NO_SHARED_POINTER = {"OMPI_MCA_sharedfp": "^sm,lockedfile", "OMPI_MCA_sharedfp_individual_priority": "-1"}
_REFUSABLE = ("OMPIO_SHAREDFP_RELAXED_ORDERING", "true")
ABORT_SECONDS = 5.0  # that a rank whose collective call failed waits for the others to return from theirs
OPEN_SECONDS = 300.0  # that all ranks together may take to open a file


def check_opening(path: Path, comm: MPI.Intracomm, flags: int) -> None:
    """Collective. OSError, the same on all ranks, where some rank cannot open the file: MPI-IO itself might hang."""
    failures: list[OSError] = []
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        failures.append(error)
    for rank_failures in allgather(comm, failures):
        if rank_failures:
            raise rank_failures[0]


@contextmanager
def opening(path: Path, comm: MPI.Intracomm) -> Iterator[None]:
    """Collective, around a collective call that opens a file. Where that fails on one rank after `check_opening`, Open
    MPI 4 waits in it for ever: rank 0 ends all then, with a line that says so."""
    if comm.size == 1 or comm.rank > 0:
        yield
        return
    timer = threading.Timer(OPEN_SECONDS, _end, [path])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(path: Path) -> None:
    said = f"fathometer: error: {path}: not opened by all ranks within {OPEN_SECONDS:g} s: one of them could not\n"
    os.write(sys.stderr.fileno(), said.encode())
    os._exit(1)  # the main thread does not come back; the launcher ends the other ranks


def await_others(part: Path, comm: MPI.Intracomm, error: FathometerError | None) -> None:
    """Collective, after collective calls of a library. Where they failed on this rank with `error`, the library may
    leave others waiting in them: after some seconds all ranks are ended."""
    if comm.size == 1:
        return
    deadline = ledger.now() + ABORT_SECONDS
    with ledger.idle():
        all_ranks = comm.Ibarrier()
        while not all_ranks.Test():
            sleep(NAP_SECONDS)
            if error is not None and ledger.now() > deadline:
                abort(part, comm, error)


def abort(part: Path, comm: MPI.Intracomm, error: FathometerError) -> None:
    """End all ranks, of which some are perhaps in a library and others are not, and remove the unfinished file."""
    print(f"fathometer: error: {error}", file=sys.stderr, flush=True)
    remove_file(part)
    comm.Abort(error.exit_code)


def mpi_hints(pairs: Iterable[tuple[str, str]]) -> MPI.Info:
    """MPI-IO hints to open a file with, as an MPI.Info, to be freed by the caller; OSError where MPI does not take one
    of them. Open MPI is told to keep no shared pointer, unless the user has set how."""
    from mpi4py import MPI

    if not any(is_set(name, os.environ) for name in _NO_SHARED_POINTER):
        os.environ.update(_NO_SHARED_POINTER)
    info = MPI.Info.Create()
    for key, value in (_REFUSABLE, *pairs):
        try:
            info.Set(key, value)
        except (MPI.Exception, ValueError):  # the latter of a NUL
            info.Free()
            raise OSError(errno.EINVAL, f"MPI does not take the hint {key}={value}") from None
    return info


def allocate_block(path: Path, box: Box, dtype: np.dtype[Any], comm: MPI.Intracomm) -> NDArray[Any]:
    """Collective. Zeros for a box, since HDF5 may leave memory as it is; FathometerError, the same on all ranks, where
    one lacks memory."""
    with collective_errors(comm):
        try:
            return np.zeros(extent(box), dtype)
        except MemoryError:
            raise FathometerError(f"{path}: not enough memory for a block of {extent(box)} cells") from None
