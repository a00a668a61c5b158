"""Life cycle of a resumable run in its output folder: lock, journal, shared tasks, record of an unfinished run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.base.signals import last_words
from fathometer.parallel.collectives import collective_errors
from fathometer.record.envelope import PAGE, RECORD, UNFINISHED, write_record
from fathometer.record.schema import problem_of
from fathometer.runs.foreign import require_own_record
from fathometer.storage.json_text import json_values


def finished_record_in(output: Path) -> dict[str, Any]:
    """The record of the finished run in an output folder. Raises FathometerError where it cannot be read."""
    path = output / RECORD
    try:
        record: dict[str, Any] = json_values(path.read_bytes())
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
    if wrong := problem_of(record):
        raise FathometerError(f"{path}: damaged: {wrong}; --overwrite begins anew")
    return record


def remove_record(output: Path, comm: MPI.Intracomm) -> None:
    """Remove, on rank 0, the record and the page of results that are about to be replaced."""
    if comm.rank == 0:
        for name in (RECORD, PAGE):
            remove_file(output / name)


@contextmanager
def unfinished_record(output: Path, comm: MPI.Intracomm, record_of: Callable[[str], dict[str, Any]]) -> Iterator[None]:
    """Collective. Context of a run whose input is valid: while it runs, and if it does not reach its end, for whatever
    reason, the output folder has a record marked as unfinished. An earlier run's record is not replaced.

    record_of: returns the record for a reason, on rank 0. Raises InputError on all ranks as `require_own_record`.
    """
    path = output / UNFINISHED

    def write(reason: str) -> None:
        if comm.rank == 0:
            with ledger.phase("finish"), suppress(FathometerError):  # that error is raised where results are written
                write_record(path, record_of(f"unfinished: {reason}"))

    with ledger.phase("set up"), collective_errors(comm):
        if comm.rank == 0:
            require_own_record(output)
    write("the run goes on, or it was killed")
    try:
        with last_words(partial(_mark_interrupted, path, comm.rank)):
            yield
    except BaseException as error:
        write(_reason(error))
        raise
    if comm.rank == 0:
        with ledger.phase("finish"):
            remove_file(path)


def _mark_interrupted(path: Path, rank: int) -> None:
    """Of a process that is ended in the middle of a call: the record that was written at its start."""
    if rank:
        return
    with suppress(OSError, ValueError, KeyError, TypeError):  # the unfinished record is damaged: it stays as it is
        record = json_values(path.read_bytes())
        record["validity"] |= {"reasons": [f"unfinished: {_reason(KeyboardInterrupt())}"], "times": []}
        write_record(path, record)


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return " ".join(str(error).split()) or type(error).__name__
