"""The lock of a run's folder of results where there is no journal, and what killed runs have left beside results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.removal import remove_file
from fathometer.parallel.collectives import collective_errors
from fathometer.record.envelope import PAGE, RECORD, UNFINISHED
from fathometer.storage import atomic
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.lock import FileLock, LockError, this_process

LOCK = "lock"
HOLDER = re.compile(r"(?:shared as .+ by )?process \d+ on ")  # how the text of a run's lock begins


@contextmanager
def results_lock(output: Path, comm: MPI.Intracomm) -> Iterator[bool]:
    """Collective. Hold the folder's lock on rank 0; the value: whether this rank holds it.

    Raises InputError where another run has it, or the file is no lock, and LockError, on all ranks.
    """
    lock = FileLock(output / LOCK)
    with ledger.phase("set up"), collective_errors(comm):
        if comm.rank == 0:
            try:
                if not lock.acquire():
                    with lock:
                        raise InputError(
                            f"{output}: is in use by {lock.read() or 'another run'}; allowed: one run at a time"
                        )
                require_own_lock(lock)
                lock.write(this_process())
            except LockError:
                remove_untaken(lock)
                raise
    try:
        yield lock.held is not None
    finally:
        if lock.held is not None:
            with ledger.phase("finish"):
                remove_file(lock.path)
                lock.close()


def remove_untaken(lock: FileLock) -> None:
    """Remove the file of a lock that the file system has refused, where it was just made: it is empty."""
    with suppress(OSError):
        if not lock.path.stat().st_size:
            remove_file(lock.path)


def require_own_lock(lock: FileLock) -> None:
    """Raises InputError, and lets go of it, where the file of a lock that was just taken holds what no run has written
    there."""
    if (found := lock.read()) and not HOLDER.match(found):
        lock.close()
        raise InputError(f"{lock.path}: is no lock of a run, and is not replaced; allowed: another [output] directory")


def remove_unfinished(output: Path, results: Iterable[Path]) -> None:
    """On the rank that holds the lock of a run's folder: remove the unfinished files and folders that runs have left
    which were killed, of the run's record and page and of these results."""
    names: dict[Path, set[str]] = {output: {RECORD, UNFINISHED, PAGE}}
    for path in results:
        for part in parts_of(path):
            names.setdefault(part.parent, set()).add(part.name)
    for folder, ours in names.items():
        atomic.remove_parts(folder, re.compile("|".join(map(re.escape, ours))))
