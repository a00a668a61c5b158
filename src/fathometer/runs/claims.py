"""Several runs on the shots of one migration, as the tasks of a job array, without MPI between them.

lock        shared (flock) by runs that say the same name (--share), so that it keeps out all others. Whoever comes
            first holds it alone until it has opened and tidied the journal; those who come later wait for that.
claims      a shot belongs to the run that holds the lock of its file NNNNNN.claim, and is settled once something stands
            in that. The system lets go of the locks of a run that ends, however it ends: its shot is free again.
the end     a run that finds no more free shots lets go of the journal's lock, and tries to have it alone. Of runs that
            do this at the same time one succeeds, which is the last: it looks for shots of runs that died, migrates
            them, and makes the image. The others are ready.

The locks are those of the file system: it must share them between the hosts, as NFS and Lustre (mounted with flock) do.
"""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from time import sleep

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import atomic

NAP_SECONDS = 0.1
PATIENCE_SECONDS = 10.0  # for the first one to say its name


class SharedLock:
    """The journal's lock, shared with runs of the same name.

    Attributes:
        alone: no other run has it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Waits while another of its runs has it alone. InputError: a run that does not share holds it."""
        self._folder = folder
        path, waited = folder / "lock", 0.0
        told = f"shared as {name}"
        while True:
            with atomic.writing(path):
                folder.mkdir(exist_ok=True)
                self._file = path.open("a+")
            if self._try(fcntl.LOCK_EX):
                if os.fstat(self._file.fileno()).st_nlink:
                    break
            else:
                self._file.seek(0)
                holder = self._file.read().strip()
                if holder.startswith(f"{told} by process "):
                    if self._try(fcntl.LOCK_SH):
                        self.alone = False
                        return
                elif waited > PATIENCE_SECONDS:
                    self._file.close()
                    raise InputError(
                        f"{folder.parent}: is in use by another run ({holder or 'another process'}); allowed: to wait "
                        "for its end, or another [output] directory"
                    )
            self._file.close()
            sleep(NAP_SECONDS)
            waited += NAP_SECONDS
        self._file.truncate(0)
        self._file.write(f"{told} by process {os.getpid()} on {socket.gethostname()} and others\n")
        self._file.flush()
        os.fsync(self._file.fileno())  # NFS would keep it on this host
        self.alone = True

    def share(self) -> None:
        """Let others in. FathometerError where another run has come between."""
        if self.alone and not self._try(fcntl.LOCK_SH):
            raise FathometerError(f"{self._folder.parent}: has just been taken by another run")
        self.alone = False

    def last(self) -> bool:
        """Whether no other run works here any more; then this one has the lock alone, and else not at all."""
        fcntl.flock(self._file, fcntl.LOCK_UN)  # keeping it, two runs would each wait for the other
        self.alone = self._try(fcntl.LOCK_EX)
        return self.alone

    def close(self) -> None:
        """Let go; where the journal holds nothing, it goes."""
        if self.alone and [one.name for one in self._folder.iterdir()] == ["lock"]:
            atomic.remove(self._folder)
        self._file.close()

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise FathometerError(f"{self._folder}: cannot be locked: {error.strerror}; --share needs flock") from None
        return True


class Claims:
    """The shots that this process has taken, of those that several runs share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[int, int] = {}

    def take(self, shot: int) -> bool:
        """Whether the shot was free, and is this process's now."""
        path = self._folder / f"{shot:06d}.claim"
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
            self._held[shot] = handle
        return free

    def settle(self, shot: int) -> None:
        """The journal tells what became of the shot."""
        handle = self._held.pop(shot, None)
        if handle is not None:
            with atomic.writing(self._folder / f"{shot:06d}.claim"), ledger.io():
                try:
                    os.pwrite(handle, b"settled\n", 0)
                finally:
                    os.close(handle)
