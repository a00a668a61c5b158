"""Folders: that of a run's results, and the user's cache folder."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.removal import remove_empty
from fathometer.parallel.collectives import collective_errors

if TYPE_CHECKING:
    from mpi4py import MPI


def cache_folder() -> Path | None:
    """The user's cache folder: $XDG_CACHE_HOME/fathometer, ~/.cache/fathometer where that is no absolute path; None
    without a home."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "fathometer"
    except RuntimeError:
        return None


@contextlib.contextmanager
def results_folder(folder: Path, comm: MPI.Intracomm) -> Iterator[None]:
    """Collective. Create the folder, with its parents; where the block fails, those created are removed if empty.

    Raises InputError, the same on all ranks, where the folder cannot be created or nothing can be written into it.
    """
    created: list[Path] = []
    try:
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                _create(folder, created)
                _check_writable(folder)
        yield
    except BaseException:
        for new_folder in reversed(created):
            remove_empty(new_folder)
        raise


def _create(folder: Path, created: list[Path]) -> None:
    """Create the folder with its parents; those that are new are appended to `created`, outermost first."""
    for path in (*reversed(folder.parents), folder):
        try:
            if not path.is_dir():
                path.mkdir(exist_ok=True)  # another run may be faster
                created.append(path)
        except OSError as error:
            reason = "a link that leads nowhere" if path.is_symlink() and not path.exists() else _reason(error)
            allowed = "[output] directory, or --output, names a folder that can be made and written to"
            raise InputError(f"{folder}: cannot make the output directory: {path}: {reason}; {allowed}") from None


def _check_writable(folder: Path) -> None:
    """InputError unless a file can be written: permissions do not show that a file system is read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{folder}: the output directory cannot be written to: {_reason(error)}; "
            "allowed: a folder of one's own, by [output] directory or --output"
        ) from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
