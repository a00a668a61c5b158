"""Life cycle of a resumable run in its output folder: lock, journal, shared tasks, record of an unfinished run."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.base.signals import last_words
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.record.envelope import PAGE, RECORD, UNFINISHED, write_record
from fathometer.record.schema import problem_of
from fathometer.runs.claims import Claims
from fathometer.runs.context import Context
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.runs.foreign import require_own_record, require_own_results
from fathometer.runs.journal import FOLDER, Journal, read_journal
from fathometer.runs.journal_folder import (
    check_options,
    earlier_files,
    earlier_inputs,
    erase,
    has_journal,
    open_journal,
)
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.results_lock import remove_unfinished
from fathometer.runs.run_input import InputFiles
from fathometer.storage.json_text import json_values

Lock = FolderLock | SharedFolderLock
Work = TypeVar("Work")


@contextmanager
def locked_folder(
    output: Path, options: RunOptions, kind: RunKind, results: Iterable[Path], comm: MPI.Intracomm
) -> Iterator[Lock | None]:
    """Collective. Hold the folder's lock, on rank 0; refuse a folder whose results must not be replaced, and remove
    what killed runs have left unfinished of these results.

    Raises InputError or FathometerError on all ranks, as the locks (folder_lock.py) and `check_options`.
    """
    lock: Lock | None = None
    try:
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                require_own_record(output)
                results = list(results)
                require_own_results(output, results, options)
                folder = output / FOLDER
                lock = SharedFolderLock(folder, options.share) if options.share else FolderLock(folder)
                check_options(output, options, kind)
                if lock.alone:
                    remove_unfinished(output, results)
        yield lock
    finally:
        if lock is not None:
            with ledger.phase("finish"):
                lock.close()


class ResumableRun:
    """A resumable run and its journal; all methods are collective.

    Args:
        output: the output folder, locked by `locked_folder`. kind: the application's terms. tasks: all numbers.
        inputs: what the run reads. lock: on rank 0, None on the others.

    Attributes:
        journal: as it was opened last.

    Raises InputError or FathometerError on all ranks, as `open_journal`.
    """

    def __init__(
        self,
        output: Path,
        kind: RunKind,
        tasks: Sequence[int],
        inputs: InputFiles,
        lock: Lock | None,
        comm: MPI.Intracomm,
        context: Context,
    ) -> None:
        self._output, self._kind, self._tasks, self._inputs = output, kind, tasks, inputs
        self._lock, self._comm, self._context = lock, comm, context
        self.journal = self._open(context.options)

    def _open(self, options: RunOptions) -> Journal:
        journal: Journal | None = None
        comm, lock = self._comm, self._lock
        changed = self._changed(options)
        with ledger.phase("set up"):
            with collective_errors(comm):
                if lock is not None:
                    run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
                    if lock.shared:
                        run += f"-{socket.gethostname()}"  # processes of several hosts may have the same number
                    now = self._inputs.now()
                    journal = open_journal(self._output, now, run, options, self._kind, lock.alone, changed)
                    if not journal.finished and journal.left(self._tasks):
                        lock.share()
            journal = comm.bcast(journal)
        assert journal is not None
        if options.share:
            journal.claims = Claims(journal.folder)
        if journal.done or journal.failed:
            self._context.say(
                f"resumed: {len(journal.done)} of {len(self._tasks)} {self._kind.task}s are done"
                + f", {len(journal.failed)} set aside" * bool(journal.failed)
            )
        if journal.damaged:
            self._context.say(
                f"note: {journal.damaged} lines of the journal are damaged: what they told of is computed again"
            )
        if journal.repaired:
            self._context.say(
                f"note: the {self._kind.repairable} have changed since; {self._kind.task}s that are done stay as they "
                "were"
            )
        return journal

    def _changed(self, options: RunOptions) -> list[str]:
        """What of the input of the journal's tasks has changed, on rank 0."""
        earlier: tuple[Mapping[str, Any], dict[int, str]] | None = None
        with ledger.phase("set up"):
            with collective_errors(self._comm):
                if self._lock is not None and options.resume and has_journal(self._output):
                    inputs = earlier_inputs(self._output, self._lock.alone)
                    earlier = earlier_files(self._output, options), inputs
            earlier = self._comm.bcast(earlier)
        return self._inputs.changed(*earlier) if earlier is not None else []

    def all_tasks(self, work: Callable[[Journal], Work]) -> list[Work] | None:
        """The results of `work` on each rank for this run's tasks; None where another run writes the results.

        Of runs that share their tasks the last one also does the tasks of runs that have ended early.
        """
        results = self._of_all_ranks(work(self.journal))
        options = replace(self._context.options, retry_failed=False)
        while options.share:
            if not self._is_last():
                self._context.say(
                    f"{self._output}: others are at work on its last {self._kind.task}s, and make the results"
                )
                return None
            self.journal = self._open(options)
            if not self.journal.left(self._tasks):
                break
            results += self._of_all_ranks(work(self.journal))
        return results

    def _of_all_ranks(self, result: Work) -> list[Work]:
        with ledger.phase("wait for other groups"):
            return allgather(self._comm, result)

    def _is_last(self) -> bool:
        """Whether no other run that shares the tasks is at work any more."""
        last = True
        with ledger.phase(f"take a {self._kind.task}"):
            with collective_errors(self._comm):
                if self._lock is not None:
                    last = self._lock.last()
            return all(allgather(self._comm, last))

    def complete(self, errors: Mapping[int, FathometerError]) -> Journal:
        """The journal after all groups have finished; errors: of this run's tasks, by number.

        Where no task has succeeded, the journal is removed and the error of the first task raised, on all ranks.
        """
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                self.journal = replace(read_journal(self.journal.folder), kind=self._kind)
                if not self.journal.done:
                    if errors:
                        erase(self.journal.folder)
                        raise errors[min(errors)]
                    raise FathometerError(
                        f"{self._output}: all {self._kind.task}s were set aside; --retry-failed tries again"
                    )
        self.journal = self._comm.bcast(self.journal)
        return self.journal


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
