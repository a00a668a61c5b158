"""Files that appear whole or not at all: written beside the target under another name, flushed, renamed
into place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError

LARGEST_PIECE = 1 << 30  # bytes in one system call; Linux moves at most 2 GiB in one


@dataclass(frozen=True)
class Piece:
    """One of the files, or the folder, that make up a volume: its first bytes, and how many are to follow."""

    target: Path
    head: bytes = b""
    size: int = 0
    folder: bool = False

    def create(self, sync: bool = True) -> Path:
        """An unfinished one beside the target: space reserved, head written. OSError where that fails."""
        if self.folder:
            return create_part_folder(self.target)
        with ledger.io(bytes=len(self.head)):
            part = create_part(self.target, len(self.head) + self.size)
        try:
            with part.open("r+b") as file:
                with ledger.io():
                    file.write(self.head)
                    file.flush()
                if sync and self.head:
                    with ledger.flush():
                        os.fsync(file.fileno())
        except BaseException:
            remove(part)
            raise
        return part


def write(target: Path, data: bytes) -> None:
    """Write a small file; FathometerError that names it where that fails."""
    with writing(target):
        part = Piece(target, data).create()
        try:
            with ledger.flush():
                place(part, target)
        except BaseException:
            remove(part)
            raise


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


def create_part_folder(target: Path) -> Path:
    """The same for a folder."""
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o777 & ~mask)
    return part


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


def require_space(part: Path, size: int) -> None:
    """OSError where a file system has less free than `size` bytes: for libraries that reserve nothing themselves."""
    if shutil.disk_usage(part.parent).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def octets(array: NDArray[Any]) -> memoryview:
    """The bytes of a C-contiguous array, shared with it."""
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(bytearray())


def write_at(handle: int, data: memoryview, offset: int) -> None:
    """Write all bytes of `data` (format "B") at `offset`, however few of them each system call takes."""
    done = 0
    while done < len(data):
        count = os.pwrite(handle, data[done : done + LARGEST_PIECE], offset + done)
        if count == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        done += count


def read_at(handle: int, data: memoryview, offset: int) -> int:
    """Fill `data` (format "B") from `offset`, however few bytes each system call brings; how many the file had."""
    done = 0
    while done < len(data) and (count := os.preadv(handle, [data[done : done + LARGEST_PIECE]], offset + done)):
        done += count
    return done


def place(part: Path, target: Path, sync: bool = True) -> None:
    """Rename a finished file or folder to its target's name; sync: flush the folder too, so that the name lasts."""
    if part.is_dir() and os.path.lexists(target):
        _replace_folder(part, target)
    else:
        part.rename(target)
    if sync:
        flush_folder(target.parent)


def flush_file(path: Path) -> None:
    """Flush a file that is closed already. OSError where that fails."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _replace_folder(part: Path, target: Path) -> None:
    """A folder that holds something, or a link, cannot be replaced by renaming: it goes aside, and back where that
    was in vain."""
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    old = create_part_folder(target)
    aside = old / target.name
    try:
        target.rename(aside)
        part.rename(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            aside.rename(target)
        old.rmdir()
        raise
    remove(old)


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder."""
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder; the files are there nevertheless
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
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
    """Remove a file or folder that may be absent; a failure to do so must not hide the error that led here."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def failure(path: Path, error: OSError | MemoryError) -> FathometerError:
    """The one line of a write that failed."""
    reason = (error.strerror or error) if isinstance(error, OSError) else "not enough memory"
    return FathometerError(f"{path}: cannot be written: {reason}")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the system inside the block into the one line of a write that failed."""
    try:
        yield
    except (OSError, MemoryError) as error:
        raise failure(path, error) from None
