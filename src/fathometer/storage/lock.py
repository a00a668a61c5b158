"""File locks between processes (flock), which the system drops when a process ends, however it ends.

Between hosts they hold where the file system passes flock on, as NFS does, and Lustre mounted with flock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from fathometer.base.errors import FathometerError


class LockError(FathometerError):
    """The file system refuses the lock, as one without flock does.

    Attributes:
        reason: the system's message.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: cannot be locked: {reason}")
        self.path, self.reason = path, reason

    def __reduce__(self) -> tuple[type[Self], tuple[Path, str]]:
        """Ranks send each other their errors; by default only the message would be sent."""
        return type(self), (self.path, self.reason)


class FileLock:
    """Exclusive or shared lock of a file or folder; a context manager, which lets go at the end.

        with FileLock(folder / "lock") as lock:
            if not lock.acquire():
                raise InputError(f"{folder}: is in use by {lock.read() or 'another process'}")
            lock.write(this_process())

    Two FileLocks of one path exclude each other in one process too. A child process that is forked keeps the lock.

    Args:
        path: of the file that is locked. create: it is made, with its folder, where it is missing, and may be no link:
            what a link names is not written into; else it must exist and may be a folder (NFS lets no folder be locked
            exclusively).

    Attributes:
        held: "exclusive", "shared" or None.

    FathometerError from any method: the file cannot be opened, read or written; LockError: it cannot be locked.
    """

    def __init__(self, path: Path, create: bool = True) -> None:
        self.path = path
        self.held: str | None = None
        self._create = create
        self._handle = -1

    def acquire(self, shared: bool = False, wait: bool = False) -> bool:
        """Take the lock, or change its kind; False where another process holds it and `wait` is not set.

        False leaves nothing held. Changing the kind is not atomic: another process may take the lock in between.
        """
        operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        try:
            while True:
                if self._handle < 0:
                    self._open()
                try:
                    fcntl.flock(self._handle, operation)
                except BlockingIOError:
                    self.release()
                    return False
                except OSError as error:
                    self.close()
                    raise LockError(self.path, _reason(error)) from None
                if self._at_path():
                    break
                self.close()  # its holder removed or replaced the file meanwhile: the one that is there now is locked
        except OSError as error:
            self.close()
            raise self._failure("written" if self._create else "locked", error) from None
        self.held = "shared" if shared else "exclusive"
        return True

    def release(self) -> None:
        """Let go of the lock; the file stays open, to be read or locked again."""
        self.held = None
        if self._handle >= 0:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_UN)
            except OSError as error:
                self.close()  # which lets go of it too
                raise LockError(self.path, _reason(error)) from None

    def read(self) -> str:
        """The file's first line: who holds the lock, where the holder wrote that; "" for nothing."""
        try:
            if self._handle < 0:
                self._open()
            return os.pread(self._handle, 4096, 0).decode(errors="surrogateescape").partition("\n")[0].strip()
        except OSError as error:
            raise self._failure("read", error) from None

    def write(self, text: str, sync: bool = False) -> None:
        """Replace the file's text by a line; the lock must be held. sync: onto the device, for other hosts to see."""
        assert self.held is not None, "only the holder writes"
        line = f"{text}\n".encode(errors="surrogateescape")
        try:
            # Cut afterwards: on a full disk the line finds room in the block that the file has.
            if os.pwrite(self._handle, line, 0) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.ftruncate(self._handle, len(line))
            if sync:
                os.fsync(self._handle)
        except OSError as error:
            raise self._failure("written", error) from None

    def close(self) -> None:
        """Let go of the lock and of the file; `acquire` opens it again."""
        handle, self._handle, self.held = self._handle, -1, None
        if handle >= 0:
            with suppress(OSError):  # the lock is gone all the same; what may be lost is the name of its last holder
                os.close(handle)

    def _open(self) -> None:
        if not self._create:
            self._handle = os.open(self.path, os.O_RDONLY)
            return
        self.path.parent.mkdir(exist_ok=True)  # its last holder may have removed it
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise OSError(errno.ELOOP, "it is a link, and what it names is not this program's") from None
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(handle)
            raise OSError(errno.EEXIST, "it is no file of its own, but a device or another name of a file")
        self._handle = handle

    def _at_path(self) -> bool:
        """Whether the open file is still the one that the path names."""
        with suppress(OSError):
            named = os.lstat(self.path) if self._create else os.stat(self.path)
            return os.path.samestat(os.fstat(self._handle), named)
        return False

    def _failure(self, what: str, error: OSError) -> FathometerError:
        return FathometerError(f"{self.path}: cannot be {what}: {error.strerror or error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    without = error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
    return f"{reason}; needed: a file system with flock" if without else reason


def this_process() -> str:
    """Names this process and its host, as a holder does in the file of its lock."""
    return f"process {os.getpid()} on {socket.gethostname()}"
