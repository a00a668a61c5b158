"""The inputs of a run in this host's page cache, or out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from fathometer.lab.io.page_cache import drop_file

PIECE = 1 << 24  # bytes read at a time
KEPT_SHARE = 0.01  # of the inputs' bytes, from which a run that is to begin cold is marked


def prepare(paths: Sequence[Path], wanted: Literal["warm", "cold"]) -> list[str]:
    """Read all files, or drop them from the page cache; folders with all that is in them.

    Files that cannot be opened are left to the run that reads them. What was not as wanted, in words: file systems that
    live in memory, such as tmpfs, drop nothing.
    """
    kept = whole = 0
    for path in _files(paths):
        with suppress(OSError):
            if wanted == "cold":
                stayed, size = drop_file(path)
                kept, whole = kept + min(stayed, size), whole + size
            else:
                with path.open("rb", buffering=0) as file:
                    while file.read(PIECE):
                        pass
    if kept > KEPT_SHARE * whole:
        return [f"page cache not cold: {kept / whole:.0%} of the inputs' bytes stayed in memory"]
    return []


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (found for found in path.rglob("*") if found.is_file()) if path.is_dir() else (path,)
