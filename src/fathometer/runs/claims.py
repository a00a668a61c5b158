"""Claims on tasks that several runs share, as the jobs of a job array do, without MPI between them.

A task belongs to the run that holds the lock of its file NNNNNN.claim; text in that file marks the task as settled,
done or set aside. The system releases the locks of a process that ends, however it ends: the task is free again.

A run that finds no more free tasks releases the lock of the journal (folder_lock.py) and tries to take it exclusively.
Of runs that do this at the same time the last one succeeds: it does the tasks of runs that died and writes the results;
the others have nothing left to do.
"""

from __future__ import annotations

from pathlib import Path

from fathometer.base import ledger
from fathometer.storage.lock import FileLock


class Claims:
    """The tasks that this process has claimed, of those that several runs share.

    Args:
        folder: of the journal, which holds the claims' files.

    FathometerError from any method: the file of a claim cannot be written or locked.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[int, FileLock] = {}

    def take(self, task: int) -> bool:
        """Claim a task; False where it is settled, or claimed by another process."""
        lock = FileLock(self._folder / f"{task:06d}.claim")
        with ledger.io():
            free = lock.acquire() and not lock.read()
            if not free:
                lock.close()
        if free:
            self._locks[task] = lock
        return free

    def settle(self, task: int) -> None:
        """Mark a claimed task as one whose outcome is in the journal."""
        lock = self._locks.pop(task, None)
        if lock is not None:
            with ledger.io(), lock:
                lock.write("settled")
