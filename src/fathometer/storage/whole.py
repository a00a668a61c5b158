"""Files that appear whole or not at all: written beside the target under another name, flushed, renamed
into place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from fathometer import ledger
from fathometer.errors import FathometerError

LARGEST_PIECE = 1 << 30  # bytes in one system call; Linux moves at most 2 GiB in one


def write(target: Path, data: bytes) -> None:
    """Write a small file; FathometerError that names it where that fails."""
    try:
        with ledger.io(bytes=len(data)):
            part = create_part(target, len(data))
        try:
            with part.open("r+b") as file:
                with ledger.io():
                    file.write(data)
                    file.flush()
                with ledger.flush():
                    os.fsync(file.fileno())
            with ledger.flush():
                place(part, target)
        except BaseException:
            remove(part)
            raise
    except OSError as error:
        raise failure(target, error) from error


def create_part(target: Path, size: int) -> Path:
    """Create an empty file `.NAME.….part` beside `target` and reserve `size` bytes, so that a full disk
    shows now.

    OSError where that fails; nothing is left behind then.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        try:
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(handle, 0o666 & ~mask)  # mkstemp allows the owner only
            reserve(handle, size)
        finally:
            os.close(handle)
    except BaseException:
        remove(Path(name))
        raise
    return Path(name)


def reserve(handle: int, size: int) -> None:
    """Reserve `size` bytes of disk for an open file; only set its length where the file system cannot
    reserve.
    """
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        os.ftruncate(handle, size)


def write_at(handle: int, data: memoryview, offset: int) -> None:
    """Write all bytes of `data` (format "B") at `offset`, however few of them each system call takes."""
    done = 0
    while done < len(data):
        count = os.pwrite(handle, data[done : done + LARGEST_PIECE], offset + done)
        if count == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        done += count


def place(part: Path, target: Path) -> None:
    """Rename a finished file to its target's name, and flush the folder so that the name lasts."""
    part.rename(target)
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder; the file is there nevertheless
        handle = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def replaces(target: Path, path: Path) -> bool:
    """Whether placing `target` would replace the file that `path` names, or the link that it is."""

    def itself(one: Path) -> Path:
        return Path(os.path.realpath(one.parent)) / one.name

    return itself(target) in (itself(path), Path(os.path.realpath(path)))


def remove(path: Path) -> None:
    """Remove a file that may be absent; a failure to do so must not hide the error that led here."""
    with contextlib.suppress(OSError):
        path.unlink()


def failure(path: Path, error: OSError | MemoryError) -> FathometerError:
    """The one line of a write that failed."""
    reason = (error.strerror or error) if isinstance(error, OSError) else "not enough memory"
    return FathometerError(f"{path}: cannot be written: {reason}")
