"""Temporary folders that go with their process; where that is killed, with the next one that makes such a folder."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fathometer.base.errors import FathometerError
from fathometer.base.removal import Mark, remove_tree

STALE_SECONDS = 5.0  # a folder is locked much sooner after it was made
MARK = Mark("fathometer-temporary", b"")  # empty: it is there on a full disk too


@contextmanager
def owned_folder(place: Path, prefix: str) -> Iterator[Path]:
    """Context of a new folder in `place`, locked while it is in use, with all that is in it.

    Folders of the same prefix that nobody holds any more are removed. Raises OSError where there can be none.
    """
    from tempfile import mkdtemp

    for left in place.glob(f"{prefix}*"):
        _remove_abandoned(left)
    folder = mkdtemp(prefix=prefix, dir=place)
    lock = None
    try:
        mark_temporary(Path(folder))
        with suppress(OSError):  # as on NFS: then nobody takes it for abandoned either
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(folder)
    finally:
        remove_temporary(Path(folder))
        if lock is not None:
            os.close(lock)


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder of this user that is no link and that no process holds."""
    with suppress(OSError):
        status = folder.lstat()
        if status.st_uid != os.geteuid() or time.time() - status.st_mtime < STALE_SECONDS:
            return
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_temporary(folder)
        finally:
            os.close(lock)


def mark_temporary(folder: Path) -> None:
    """Mark a new folder as one that `remove_temporary` may remove. Raises OSError."""
    (folder / MARK.name).touch(exist_ok=False)


def remove_temporary(folder: Path) -> None:
    """Remove a temporary folder of this program. No error is raised."""
    with suppress(FathometerError):
        remove_tree(folder, folder.parent, MARK)
