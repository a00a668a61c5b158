"""All that this program removes goes through this module: its own files, and folders that bear a mark of it.

A file is removed by its name; never what a link leads to, never a folder. A folder goes with all that is in it only
where all of this holds: it is this user's; it lies inside of a folder where this program keeps such; it bears a mark;
and nothing is mounted in it, whose files would go as well.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import FathometerError

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")  # a blank or the like in a name there


@dataclass(frozen=True)
class Mark:
    """A file by which a folder is known as one that this program has made.

    Attributes:
        name: of the file. begins: the bytes with which this program begins it, in any version.
    """

    name: str
    begins: bytes

    def on(self, folder: Path) -> bool:
        """Whether a folder bears it: the file itself, not a link to one."""
        path = folder / self.name
        with suppress(OSError):
            if stat.S_ISREG(path.lstat().st_mode):
                with path.open("rb") as file:
                    return file.read(len(self.begins)) == self.begins
        return False


def remove_file(path: Path) -> None:
    """Remove a file of this program, or a link; no folder. No error is raised, so that none hides the one before it."""
    with suppress(OSError):
        path.unlink()


def remove_empty(folder: Path) -> None:
    """Remove a folder of this program where nothing is in it. No error is raised."""
    with suppress(OSError):
        folder.rmdir()


def remove_tree(path: Path, root: Path, mark: Mark | re.Pattern[str], keep: Collection[str] = ()) -> None:
    """Remove a folder of this program with all that is in it; of links in it only these. A file or a link in its place
    goes alone, and where there is nothing nothing happens.

    The mark goes last, so that a removal that was broken off can be taken up again.

    Args:
        root: a folder of this program in which it lies, directly or deeper.
        mark: that it bears, or one of the folders around it up to the root; a pattern: of its name. A folder in which
            nothing is needs none.
        keep: files of these names stay, with the folders that they are in.

    Raises FathometerError where it is not removed: one line that says why.
    """
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            path.unlink()
            return
        folder = path.resolve()
        if reason := _foreign(folder, status, root.resolve(), mark):
            raise FathometerError(f"{path}: is not removed: {reason}")
        last = mark.name if isinstance(mark, Mark) and mark.on(folder) else ""
        _empty(folder, status.st_dev, keep, last)
        if not keep:
            if last and os.listdir(folder) == [last]:
                (folder / last).unlink()
            folder.rmdir()
    except FileNotFoundError:  # somebody else was faster
        return
    except OSError as error:
        raise FathometerError(f"{path}: is not removed: {error.strerror or error}") from None


def _foreign(folder: Path, status: os.stat_result, root: Path, mark: Mark | re.Pattern[str]) -> str:
    """Why a folder, given by its path without links, is not this program's to remove; "": it is."""
    if root not in folder.parents:
        return f"it does not lie in {root}"
    if status.st_uid != os.geteuid():
        return f"it belongs to another user (number {status.st_uid})"
    if isinstance(mark, re.Pattern):
        if not mark.fullmatch(folder.name):
            return "its name is none that this program gives"
    elif any(folder.iterdir()) and not any(mark.on(place) for place in _between(folder, root)):
        return f"it holds no {mark.name} of this program"
    if mounted := _mounted_in(folder):
        return f"{mounted} is mounted in it"
    return ""


def _between(folder: Path, root: Path) -> list[Path]:
    """The folder, and those around it up to the root."""
    return [place for place in (folder, *folder.parents) if place.is_relative_to(root)]


def _mounted_in(folder: Path) -> str:
    """Where something is mounted in a folder, or on it; "": nowhere."""
    with suppress(OSError):
        for line in _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            place = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), line.split(" ")[4])
            if f"{place}/".startswith(f"{folder}/"):
                return place
    return ""


def _empty(folder: Path, device: int, keep: Collection[str], last: str) -> None:
    """Remove what is in a folder, as far as it is on this device; but files to keep, and the file `last` of its own."""

    def failed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    for here, folders, files, handle in os.fwalk(folder, topdown=False, onerror=failed):
        if os.fstat(handle).st_dev != device:
            raise OSError(errno.EXDEV, f"another file system is mounted on {here}")
        kept = {*keep, last} if here == str(folder) else keep
        for name in files:
            if name not in kept:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=handle)
        for name in folders:
            try:
                os.rmdir(name, dir_fd=handle)
            except NotADirectoryError:  # a link to a folder
                os.unlink(name, dir_fd=handle)
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise
