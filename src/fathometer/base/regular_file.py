"""Files that somebody has named: regular ones, since a pipe would keep the reader waiting and a device has no end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def require_regular(path: Path) -> None:
    """Raises OSError where `path` cannot be opened for reading as a regular file; a folder is left to its reader."""
    if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "is not a file", os.fspath(path))
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))  # it may have been replaced meanwhile


def read_regular(path: Path) -> bytes:
    """All bytes of a file. Raises OSError as `require_regular`."""
    require_regular(path)
    return path.read_bytes()
