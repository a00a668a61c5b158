"""Hidden scratch folder of `fathometer io`, removed at the end or at the next start.

Rank 0 holds the folder's lock, which the system releases with the process, however that ends. A folder of this host
that no process has locked was left by a run that was killed. Locks of folders hold on one host only: its name is part
of the folder's.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import bytes_in_words
from fathometer.base.ledger import now
from fathometer.base.owned_folder import mark_temporary, remove_temporary
from fathometer.parallel.collectives import collective_errors
from fathometer.storage.lock import FileLock

if TYPE_CHECKING:
    from mpi4py import MPI

PREFIX = f".fathometer-io-{platform.node()}-"
PATIENCE_SECONDS, NAP_SECONDS = 2.0, 0.1  # that an interrupted rank leaves rank 0 to clear up, and between its checks


@contextmanager
def scratch_folder(folder: Path, size: int, comm: MPI.Intracomm) -> Iterator[Path]:
    """Collective. A new folder in `folder` with room for `size` bytes, removed afterwards whatever happens.

    Raises InputError, the same on all ranks: no such folder, nothing can be written there; FathometerError: too little
    space.
    """
    created: Path | None = None
    lock: FileLock | None = None
    try:
        with collective_errors(comm):
            if comm.rank == 0:
                if not folder.is_dir():
                    raise InputError(f"{folder}: no such folder; allowed: one that can be written to")
                try:
                    created, lock = _new(folder.resolve())
                    free = shutil.disk_usage(created).free
                except OSError as error:
                    reason = (error.strerror or str(error)).lower()
                    raise InputError(f"{folder}: cannot be written to: {reason}") from None
                if free < size:
                    raise FathometerError(
                        f"{folder}: found {bytes_in_words(free)} free where {bytes_in_words(size)} are needed; use "
                        "a smaller --grid or fewer --format"
                    )
        created = comm.bcast(created)
        assert created is not None
        yield created
    except KeyboardInterrupt:
        # A rank that is interrupted ends the others: rank 0 is to have cleared up and spoken before.
        deadline = now() + PATIENCE_SECONDS
        while comm.rank and created is not None and created.exists() and now() < deadline:
            sleep(NAP_SECONDS)
        sleep(NAP_SECONDS if comm.rank else 0.0)
        raise
    finally:
        if created is not None:
            remove_temporary(created)
        if lock is not None:
            lock.close()


def _new(folder: Path) -> tuple[Path, FileLock | None]:
    """A new folder and its lock, after those were removed that killed runs have left."""
    starting = _locked(folder, wait=True)  # or another start could take the new folder, not yet locked, for left
    try:
        for left_behind in folder.glob(f"{PREFIX}*"):
            if left_behind.is_symlink() or left_behind.stat().st_uid != os.geteuid():
                continue  # no run of this user's has made it
            lock = _locked(left_behind)
            if lock is not None:
                remove_temporary(left_behind)
                lock.close()
        created = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        mark_temporary(created)
        return created, _locked(created)
    finally:
        if starting is not None:
            starting.close()


def _locked(folder: Path, wait: bool = False) -> FileLock | None:
    """The exclusive lock of a folder; None: another process holds it, or the file system has no locks."""
    lock = FileLock(folder, create=False)
    try:
        if folder.is_dir() and lock.acquire(wait=wait):
            return lock
    except FathometerError:
        return None
    lock.close()
    return None
