"""The folder of a run's results: there before the work begins, gone again where the run leaves nothing in it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import collective_errors

if TYPE_CHECKING:
    from mpi4py import MPI


def cache_folder() -> Path | None:
    """The user's folder for what can be found out again: $XDG_CACHE_HOME/fathometer, in ~/.cache where that names no
    absolute path; None where there is no home."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (named if named.is_absolute() else Path.home() / ".cache") / "fathometer"
    except RuntimeError:
        return None


@contextlib.contextmanager
def results_folder(folder: Path, comm: MPI.Intracomm) -> Iterator[None]:
    """Collective. Makes the folder, with its parents; where the block fails, those that were made and are empty go.

    Raises InputError, the same on all ranks, where the folder cannot be made or nothing can be written into it.
    """
    made: list[Path] = []
    try:
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                _make(folder, made)
                _try(folder)
        yield
    except BaseException:
        for one in reversed(made):
            with contextlib.suppress(OSError):
                one.rmdir()
        raise


def _make(folder: Path, made: list[Path]) -> None:
    """Make the folder; the folders that are new join `made`, outermost first."""
    for one in (*reversed(folder.parents), folder):
        try:
            if not one.is_dir():
                one.mkdir(exist_ok=True)  # another run may be faster
                made.append(one)
        except OSError as error:
            reason = "a link that leads nowhere" if one.is_symlink() and not one.exists() else _reason(error)
            raise InputError(f"{folder}: cannot make the output directory: {one}: {reason}") from None


def _try(folder: Path) -> None:
    """Write into the folder: permissions alone do not tell of a file system that is read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder}: the output directory cannot be written to: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
