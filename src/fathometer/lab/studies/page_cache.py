"""The inputs of a run in this host's page cache, or out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

PIECE = 1 << 24  # bytes read at a time


def prepare(paths: Sequence[Path], wanted: Literal["warm", "cold"]) -> None:
    """Read all files, or drop them from the page cache; folders with all that is in them.

    Files that cannot be opened are left to the run that reads them.
    """
    for path in _files(paths):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                if wanted == "cold":
                    os.fsync(handle)  # pages that are not on the device yet cannot be dropped
                    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                else:
                    while os.read(handle, PIECE):
                        pass
            finally:
                os.close(handle)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (found for found in path.rglob("*") if found.is_file()) if path.is_dir() else (path,)
