"""The life of a resumable run in its folder: lock, journal, tasks alone or with other runs, what is left unfinished."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.record.envelope import RECORD, UNFINISHED, write_record
from fathometer.runs.claims import Claims
from fathometer.runs.context import Context
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.runs.journal import FOLDER, Journal, read_journal
from fathometer.runs.journal_folder import check_options, erase, open_journal
from fathometer.runs.options import RunKind, RunOptions
from fathometer.storage import atomic

Lock = FolderLock | SharedFolderLock
Work = TypeVar("Work")


@contextmanager
def locked_folder(output: Path, options: RunOptions, kind: RunKind, comm: MPI.Intracomm) -> Iterator[Lock | None]:
    """Collective. Hold the folder's lock; refuse a folder whose results must not be replaced. The lock, on rank 0."""
    lock: Lock | None = None
    try:
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                folder = output / FOLDER
                lock = SharedFolderLock(folder, options.share) if options.share else FolderLock(folder)
                check_options(output, options, kind)
        yield lock
    finally:
        if lock is not None:
            lock.close()


class ResumableRun:
    """Collective, each method. The journal of a run as its folder has it, and the run's tasks.

    Args:
        output: the folder of the results, which `locked_folder` holds. lock: on rank 0. tasks: numbers of all tasks.
        fingerprint: of what is computed; called on rank 0.

    Attributes:
        journal: as it was opened last.
    """

    def __init__(
        self,
        output: Path,
        kind: RunKind,
        tasks: Sequence[int],
        fingerprint: Callable[[], Mapping[str, Any]],
        lock: Lock | None,
        comm: MPI.Intracomm,
        context: Context,
    ) -> None:
        self._output, self._kind, self._tasks, self._fingerprint = output, kind, tasks, fingerprint
        self._lock, self._comm, self._context = lock, comm, context
        self.journal = self._opened(context.options)

    def _opened(self, options: RunOptions) -> Journal:
        journal: Journal | None = None
        comm, lock = self._comm, self._lock
        with ledger.phase("set up"):
            with collective_errors(comm):
                if lock is not None:
                    run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
                    if lock.shared:
                        run += f"-{socket.gethostname()}"  # processes of several hosts may have the same number
                    journal = open_journal(self._output, self._fingerprint(), run, options, self._kind, lock.alone)
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
        if journal.repaired:
            self._context.say(
                f"note: the {self._kind.repairable} have changed since; {self._kind.task}s that are done stay as they "
                "were"
            )
        return journal

    def all_tasks(self, work: Callable[[Journal], Work]) -> list[Work] | None:
        """What `work` returned on each rank, for this run's tasks; None where other runs make the results.

        A run that shares its tasks and is the last one at work does those of runs that have ended early, too.
        """
        done = allgather(self._comm, work(self.journal))
        options = replace(self._context.options, retry_failed=False)
        while options.share:
            if not self._last():
                self._context.say(
                    f"{self._output}: others are at work on its last {self._kind.task}s, and make the results"
                )
                return None
            self.journal = self._opened(options)
            if not self.journal.left(self._tasks):
                break
            done += allgather(self._comm, work(self.journal))
        return done

    def _last(self) -> bool:
        """Whether no other run that shares the tasks is at work any more."""
        last = True
        with collective_errors(self._comm):
            if self._lock is not None:
                last = self._lock.last()
        return all(allgather(self._comm, last))

    def complete(self, errors: Mapping[int, FathometerError]) -> Journal:
        """The journal as it is when all groups are ready; errors: of this run's tasks.

        Where all tasks have failed, the first one's error is raised, and nothing stays behind.
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
    """The record of the finished run in a folder. Raises FathometerError where it cannot be read."""
    path = output / RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FathometerError(f"{path}: cannot be read; --overwrite begins anew") from None
    return record


@contextmanager
def unfinished_record(output: Path, comm: MPI.Intracomm, record_of: Callable[[str], dict[str, Any]]) -> Iterator[None]:
    """Collective. A run whose input was accepted: should the block not reach its end, whatever ends it, there is a
    record of what is known, marked as unfinished, in the folder of the results. An earlier run's record stays.

    record_of: makes the record for a reason, on rank 0.
    """
    path = output / UNFINISHED

    def write(reason: str) -> None:
        if comm.rank == 0:
            with suppress(FathometerError):  # what hinders the results' writing is told where they are written
                write_record(path, record_of(f"unfinished: {reason}"))

    with ledger.phase("finish"):
        write("the run goes on, or it was killed")
    try:
        yield
    except BaseException as error:
        write(_words(error))
        raise
    if comm.rank == 0:
        atomic.remove(path)


def _words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return " ".join(str(error).split()) or type(error).__name__
