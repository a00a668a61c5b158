"""The lock of a run's journal: of one run alone, or shared by the runs of one name (--share).

A shared lock keeps out all runs of another name or of none. The first run holds it exclusively until it has opened and
tidied the journal; the others wait for that. The file names the holder, for the message of a run that is kept out.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import sleep

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_empty, remove_file
from fathometer.runs.journal import read_fingerprint, read_journal
from fathometer.runs.journal_folder import MARK, erase, require_journal
from fathometer.runs.results_lock import remove_untaken, require_own_lock
from fathometer.storage.lock import FileLock, LockError, this_process

POLL_SECONDS = 0.1  # between attempts to take a shared lock
NAME_SECONDS = 10.0  # that the holder has to write its name into the file


class FolderLock:
    """The exclusive lock of a run's journal: no other run uses the folder.

    Args:
        folder: of the journal; made where it is missing, inside an existing one.

    Attributes:
        alone: no other run holds it. shared: runs of one name may hold it at the same time.

    Raises InputError where another run holds it or the folder is no journal of this user's, or the file no lock of a
    run, before anything is written there, FathometerError where the file cannot be written or locked.
    """

    alone, shared = True, False

    def __init__(self, folder: Path) -> None:
        require_journal(folder)
        self._folder = folder
        self._lock = FileLock(folder / "lock")
        try:
            taken = self._lock.acquire()
        except LockError:
            remove_untaken(self._lock)
            remove_empty(folder)
            raise
        if not taken:
            with self._lock:
                raise in_use(folder, self._lock.read())
        require_own_lock(self._lock)
        try:
            self._lock.write(this_process())
        except BaseException:
            self.close()
            raise

    def share(self) -> None:
        """Let runs of the same name in: there are none, since the lock is exclusive."""

    def last(self) -> bool:
        """Whether no other run works in the folder any more: always."""
        return True

    def close(self) -> None:
        """Release it; a journal of this version in which nothing is written of any task is removed."""
        with suppress(FathometerError, OSError):
            journal = None
            if MARK.on(self._folder):
                read_fingerprint(self._folder)  # that of another version, or a damaged one, stays as it is
                journal = read_journal(self._folder)
            if journal is None or not (journal.finished or journal.any_lines):
                erase(self._folder)
                remove_file(self._lock.path)
                remove_empty(self._folder)
        self._lock.close()


class SharedFolderLock:
    """The lock of a run's journal, shared with the runs of the same name.

    Args:
        folder: of the journal; made where it is missing, inside an existing one. name: what --share was given.

    Attributes: as of FolderLock.

    Waits while another run of the name holds it exclusively. Raises InputError where another run holds it,
    FathometerError where the file cannot be written or locked.
    """

    shared = True

    def __init__(self, folder: Path, name: str) -> None:
        require_journal(folder)
        self._folder = folder
        self._lock = FileLock(folder / "lock")
        self.alone = True
        waited = 0.0
        while not self._lock.acquire():
            holder = self._lock.read()
            if holder.startswith(f"shared as {name} by process "):
                # Between the two the holder may have removed the folder: then this is another, empty lock.
                if self._lock.acquire(shared=True) and self._lock.read() == holder:
                    self.alone = False
                    return
            elif waited > NAME_SECONDS:
                self._lock.close()
                raise in_use(folder, holder)
            self._lock.close()
            sleep(POLL_SECONDS)
            waited += POLL_SECONDS
        require_own_lock(self._lock)
        try:
            self._lock.write(f"shared as {name} by {this_process()} and others", sync=True)
        except BaseException:
            self.close()
            raise

    def share(self) -> None:
        """Let runs of the same name in. Raises FathometerError where another run has taken the lock meanwhile."""
        if self.alone and not self._lock.acquire(shared=True):
            raise FathometerError(f"{self._folder.parent}: has just been taken by another run")
        self.alone = False

    def last(self) -> bool:
        """Whether no other run works in the folder any more: this one then holds the lock exclusively, else not."""
        self._lock.release()  # if both kept it, two runs would each wait for the other
        self.alone = self._lock.acquire()
        return self.alone

    def close(self) -> None:
        """Release it; a folder that holds nothing else is removed."""
        with suppress(OSError):  # another run may be faster
            if self.alone and [path.name for path in self._folder.iterdir()] == ["lock"]:
                remove_file(self._lock.path)
                remove_empty(self._folder)
        self._lock.close()


def in_use(folder: Path, holder: str) -> InputError:
    """The error of a run that is kept out of the journal's folder; holder: text of its lock."""
    return InputError(
        f"{folder.parent}: is in use by another run ({holder or 'another process'}); allowed: to wait for its end, or "
        "another [output] directory"
    )
