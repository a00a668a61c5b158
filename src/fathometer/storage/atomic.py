"""Files and folders written atomically: beside the target under another name, flushed, renamed into place."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.removal import Mark, remove_empty, remove_file, remove_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

PART = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.part")  # name of an unfinished file or folder, with that of its target
LARGEST_CALL = 1 << 30  # bytes in one system call; Linux moves at most 2 GiB in one


@dataclass(frozen=True)
class NewFile:
    """A file, or folder, that is to appear at `target`.

    Attributes:
        head, size: of a file, its first bytes, and how many bytes are to follow. folder: of a folder, the mark that it
            will bear, as one must that it is to replace; None: a file.
    """

    target: Path
    head: bytes = b""
    size: int = 0
    folder: Mark | None = None

    def create(self, sync: bool = True) -> Path:
        """An unfinished one beside the target: space reserved, head written, with `sync` flushed.

        OSError where that fails; nothing is left behind then.
        """
        if self.folder is not None:
            require_mark(self.target, self.folder)
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
            remove_file(part)
            raise
        return part


class Parts:
    """New files and folders, unfinished beside their targets, that get their names together or not at all.

    A context manager: a block that ends well places them, one that fails removes them. Errors are OSErrors; whoever
    fills the parts flushes them.

    Args:
        sync: flush heads and the folders' entries.
    """

    def __init__(self, sync: bool = True) -> None:
        self._sync = sync
        self._parts: list[tuple[Path, NewFile]] = []

    def create(self, new: NewFile) -> Path:
        """Add a file or folder; the path of its part."""
        part = new.create(self._sync)
        self._parts.append((part, new))
        return part

    def drop(self, part: Path) -> None:
        """Remove one of the parts."""
        self._parts = [(path, new) for path, new in self._parts if path != part]
        _remove_part(part)

    def place(self) -> None:
        """Rename all to their targets; where one fails, those placed before become parts again."""
        placed: list[tuple[Path, Path]] = []
        try:
            for part, new in self._parts:
                with ledger.flush():
                    place(part, new.target, self._sync, new.folder)
                placed.append((part, new.target))
        except OSError:
            for part, target in placed:
                with contextlib.suppress(OSError):
                    target.rename(part)
            raise
        self._parts = []

    def discard(self) -> None:
        """Remove all that are not placed."""
        for part, _ in self._parts:
            _remove_part(part)
        self._parts = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.place()
        finally:
            self.discard()


def write(target: Path, data: bytes) -> None:
    """Write a small file; FathometerError that names it where that fails."""
    with writing(target), Parts() as parts:
        parts.create(NewFile(target, data))


def create_part(target: Path, size: int) -> Path:
    """Create a file `.NAME.….part` beside `target` and reserve `size` bytes, so that a full disk is noticed now.

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
        remove_file(Path(name))
        raise
    return Path(name)


def create_part_folder(target: Path) -> Path:
    """Create a folder `.NAME.….part` beside `target`. OSError where that fails."""
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o777 & ~mask)
    return part


def remove_parts(folder: Path, targets: re.Pattern[str]) -> None:
    """Remove the unfinished files and folders beside targets with such names, which runs have left that were killed.

    For the run that holds the lock of the folder's results: those of a run at work are its unfinished results.
    """
    with contextlib.suppress(OSError):  # there is no such folder
        for path in list(folder.iterdir()):
            if (part := PART.fullmatch(path.name)) and targets.fullmatch(part[1]):
                _remove_part(path)


def _remove_part(part: Path) -> None:
    """Remove an unfinished file or folder. No error is raised, so that none hides the error that led here."""
    with contextlib.suppress(FathometerError):
        remove_tree(part, part.parent, PART)


def reserve(handle: int, size: int) -> None:
    """Reserve `size` bytes of disk for an open file; where the file system cannot reserve, set its length only."""
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        os.ftruncate(handle, size)


def require_space(part: Path, size: int) -> None:
    """OSError where the file system of `part` has less than `size` bytes free: for libraries that reserve nothing."""
    if shutil.disk_usage(part.parent).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def octets(array: NDArray[Any]) -> memoryview:
    """View of the bytes of a C-contiguous array."""
    return array.reshape(-1).view("u1").data if array.size else memoryview(bytearray())


def write_at(handle: int, data: memoryview, offset: int) -> None:
    """Write all of `data` (format "B") at byte `offset` of an open file, in as many system calls as it takes."""
    done = 0
    while done < len(data):
        count = os.pwrite(handle, data[done : done + LARGEST_CALL], offset + done)
        if count == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        done += count


def read_at(handle: int, data: memoryview, offset: int) -> int:
    """Fill `data` (format "B") from byte `offset` of an open file; the number of bytes read, fewer at its end."""
    done = 0
    while done < len(data) and (count := os.preadv(handle, [data[done : done + LARGEST_CALL]], offset + done)):
        done += count
    return done


def place(part: Path, target: Path, sync: bool = True, mark: Mark | None = None) -> None:
    """Rename a finished file or folder to `target`.

    sync: flush the folder's entry too, so that the name lasts. mark: of a folder, see NewFile.
    """
    if mark is not None and os.path.lexists(target):
        require_mark(target, mark)
        _replace_folder(part, target)
    else:
        part.rename(target)
    if sync:
        flush_folder(target.parent)


def flush_file(path: Path) -> None:
    """Flush what this host wrote into a file to the device. OSError where that fails."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def require_mark(target: Path, mark: Mark) -> None:
    """OSError where a folder would be replaced that is none of this program's."""
    if target.is_dir() and not target.is_symlink() and not mark.on(target) and any(target.iterdir()):
        found = f"{mark.name} without the mark of this program" if (target / mark.name).exists() else "other files"
        raise OSError(
            errno.ENOTEMPTY,
            f"found a folder with {found}, made by others or by an early version, which is not replaced; allowed: "
            "another name, or remove it yourself",
        )


def _replace_folder(part: Path, target: Path) -> None:
    """Put a folder in the place of another one, or of a link to one, which renaming alone cannot do: the old one is
    moved aside, and back if that fails."""
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
        remove_empty(old)
        raise
    _remove_part(old)


def flush_folder(folder: Path) -> None:
    """Flush a folder's entries (the names of its files) to the device, where the file system can."""
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def replaces(target: Path, path: Path) -> bool:
    """Whether placing `target` would replace the file that `path` names, or the link that it is."""

    def unfollowed(name: Path) -> Path:  # resolved, except for a link in its last component
        return Path(os.path.realpath(name.parent)) / name.name

    return unfollowed(target) in (unfollowed(path), Path(os.path.realpath(path)))


def failure(path: Path, error: OSError | MemoryError) -> FathometerError:
    """The error of a write that failed: one line."""
    reason = (error.strerror or error) if isinstance(error, OSError) else "not enough memory"
    return FathometerError(f"{path}: cannot be written: {reason}")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError or MemoryError inside the block into a FathometerError that names `path`."""
    try:
        yield
    except (OSError, MemoryError) as error:
        raise failure(path, error) from None
