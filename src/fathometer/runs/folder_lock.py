"""The lock of a run's journal, of one run alone or shared by runs of one name.

A shared lock keeps out all runs that do not say its name (--share). Whoever comes first holds it alone until it has
opened and tidied the journal; those who come later wait for that.
"""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path
from time import sleep

from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.journal import read_journal
from fathometer.runs.journal_folder import erase
from fathometer.storage import atomic

NAP_SECONDS = 0.1
PATIENCE_SECONDS = 10.0  # for the first one to write its name


class FolderLock:
    """The exclusive lock of a run's journal: no other run uses the folder.

    Attributes:
        alone: no other run has it. shared: runs of one name may have it at the same time.
    """

    alone, shared = True, False

    def __init__(self, folder: Path) -> None:
        """Raises InputError where another run holds it."""
        self._folder = folder
        path = folder / "lock"
        while True:
            with atomic.writing(path):
                folder.mkdir(exist_ok=True)
                self._file = path.open("a+")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.seek(0)
                holder = self._file.read().strip() or "another process"
                self._file.close()
                raise InputError(
                    f"{folder.parent}: is in use by another run ({holder}); allowed: to wait for its end, or another "
                    "[output] directory"
                ) from None
            except OSError as error:  # a file system without locks
                self._file.close()
                raise atomic.failure(path, error) from None
            if os.fstat(self._file.fileno()).st_nlink:
                break
            self._file.close()  # its holder has removed it in the meantime
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        self._file.flush()

    def share(self) -> None:
        """Let others in: nobody, since it is exclusive."""

    def last(self) -> bool:
        """Whether no other run works here any more."""
        return True

    def close(self) -> None:
        """Release it; a journal of no task is removed."""
        with suppress(FathometerError):
            journal = read_journal(self._folder) if (self._folder / "survey.json").exists() else None
            if journal is None or not (journal.finished or journal.done or journal.failed):
                erase(self._folder)
                atomic.remove(self._folder / "lock")
                with suppress(OSError):  # something else is in it
                    self._folder.rmdir()
        self._file.close()


class SharedFolderLock:
    """The journal's lock, shared with runs of the same name. Attributes as of FolderLock."""

    shared = True

    def __init__(self, folder: Path, name: str) -> None:
        """Waits while another of its runs has it alone. InputError: a run that does not share holds it."""
        self._folder = folder
        path, waited = folder / "lock", 0.0
        sharing = f"shared as {name}"
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
                if holder.startswith(f"{sharing} by process "):
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
        self._file.write(f"{sharing} by process {os.getpid()} on {socket.gethostname()} and others\n")
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
        """Release it; a folder that holds nothing else is removed."""
        if self.alone and [path.name for path in self._folder.iterdir()] == ["lock"]:
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
