"""Claims on tasks that several runs share, as the tasks of a job array do, without MPI between them.

claims      a task belongs to the run that holds the lock of its file NNNNNN.claim, and is settled once something stands
            in that. The system releases the locks of a run that ends, however it ends: its task is free again.
the end     a run that finds no more free tasks releases the journal's lock (folder_lock.py), and tries to have it
            alone. Of runs that do this at the same time one succeeds, which is the last: it looks for tasks of runs
            that died, does them, and makes the results. The others have nothing left to do.

The locks are those of the file system: it must share them between the hosts, as NFS and Lustre (mounted with flock) do.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from fathometer.base import ledger
from fathometer.storage import atomic


class Claims:
    """The tasks that this process has taken, of those that several runs share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[int, int] = {}

    def take(self, task: int) -> bool:
        """Whether the task was free, and is this process's now."""
        path = self._folder / f"{task:06d}.claim"
        with atomic.writing(path), ledger.io():
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
            free = False
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                free = os.fstat(handle).st_size == 0
            except BlockingIOError:
                pass
            finally:
                if not free:
                    os.close(handle)
        if free:
            self._held[task] = handle
        return free

    def settle(self, task: int) -> None:
        """The journal holds what became of the task."""
        handle = self._held.pop(task, None)
        if handle is not None:
            with atomic.writing(self._folder / f"{task:06d}.claim"), ledger.io():
                try:
                    os.pwrite(handle, b"settled\n", 0)
                finally:
                    os.close(handle)
