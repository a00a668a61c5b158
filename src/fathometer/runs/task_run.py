"""The run of tasks: begun or resumed, done by groups of ranks, their results combined, written, ended.

the folder is locked; what the run reads is known          folder_lock.py, run_input.py
tasks that are not done, each by one group of ranks        task_loop.py; the journal remembers each
results of all tasks                                       summed (summation.py), or side by side (contributions.py)
at the end:                                                results, record, page; the journal goes, or says "finished"

Runs of a model in time have states instead of a journal, see time_run.py.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.groups import split_into_groups
from fathometer.parallel.heartbeat import watched
from fathometer.runs.claims import Claims
from fathometer.runs.context import Outcome
from fathometer.runs.finished_run import publish
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.runs.foreign import require_own_record, require_own_results
from fathometer.runs.journal import FOLDER, Journal, read_journal
from fathometer.runs.journal_folder import (
    check_options,
    conclude,
    earlier_files,
    earlier_inputs,
    erase,
    has_journal,
    open_journal,
    results_of,
)
from fathometer.runs.lifecycle import unfinished_record
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.results_lock import remove_unfinished
from fathometer.runs.task_loop import run_tasks
from fathometer.runs.tasks import GroupWork, Tasks
from fathometer.storage.folder import results_folder

Lock = FolderLock | SharedFolderLock
NAMED = 10  # tasks in a note


def do_tasks(tasks: Tasks) -> Outcome:
    """Collective. Run tasks; results and record are on disk afterwards. Where other runs share the tasks and write the
    results, the outcome is empty.

    Raises InputError and FathometerError, the same on all ranks.
    """
    comm, context, output, kind = tasks.comm, tasks.context, tasks.output, tasks.KIND
    with ledger.phase("set up"):
        tasks.check()
    known = list(tasks.results)
    with (
        results_folder(output, comm),
        watched(output, tasks.patience, comm, context.say),
        locked_folder(output, context.options, kind, known, comm) as lock,
    ):
        earlier: Mapping[str, Any] = {}
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                earlier = earlier_files(output, context.options)
        tasks.prepare(earlier)
        more = [path for path in tasks.results if path not in known]
        with ledger.phase("set up"), collective_errors(comm):
            if lock is not None and more:
                _take_over(output, more, context.options, lock)
        return _run(tasks, lock)


def _run(tasks: Tasks, lock: Lock | None) -> Outcome:
    comm, output = tasks.comm, tasks.output
    run = ResumableRun(tasks, lock)
    if run.journal.finished:
        return tasks.earlier_outcome()
    with unfinished_record(output, comm, partial(tasks.known.partial_record, tasks.context)), ExitStack() as opened:
        work = run.all_tasks(opened)
        if work is None:
            return Outcome({}, {})
        with ledger.phase(f"sum {tasks.KIND.volumes}" if tasks.volumes is not None else "finish"):
            journal = run.complete({task: error for rank in work for task, error in rank.errors.items()})
            tasks.inputs.require_unchanged(journal.inputs)
            tasks.combine(journal)
        with ledger.phase("finish"):
            outdated = results_of(output)
        outcome, panels = tasks.write(journal, work)
    publish(comm, tasks.context, outcome, lambda: panels)
    with ledger.phase("finish"), collective_errors(comm):
        if comm.rank == 0:
            conclude(journal)
            tasks.remove_outdated(outdated, outcome.files.values())
    return outcome


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


def _take_over(output: Path, results: Sequence[Path], options: RunOptions, lock: Lock) -> None:
    """On one rank: the same of further results, once they are known."""
    require_own_results(output, results, options)
    if lock.alone:
        remove_unfinished(output, results)


class ResumableRun:
    """A run's tasks and their journal; all methods are collective.

    Args:
        tasks: made ready, in a folder that is locked by `locked_folder`. lock: on rank 0, None on the others.

    Attributes:
        journal: as it was opened last.

    Raises InputError or FathometerError on all ranks, as `open_journal`.
    """

    def __init__(self, tasks: Tasks, lock: Lock | None) -> None:
        self._tasks, self._lock, self._kind = tasks, lock, tasks.KIND
        self._output, self._comm, self._context = tasks.output, tasks.comm, tasks.context
        self._numbers = sorted(tasks.numbers)
        self.journal = self._open(tasks.context.options)

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
                    read = self._tasks.inputs.now()
                    journal = open_journal(self._output, read, run, options, self._kind, lock.alone, changed)
                    for task in [task for task in journal.done if not self._tasks.whole(task)]:
                        journal.lose(task)
                    if not journal.finished and journal.left(self._numbers):
                        lock.share()
            journal = comm.bcast(journal)
        assert journal is not None
        if options.share:
            journal.claims = Claims(journal.folder)
        if journal.done or journal.failed:
            self._context.say(
                f"resumed: {len(journal.done)} of {len(self._numbers)} {self._kind.task}s are done"
                + f", {len(journal.failed)} set aside" * bool(journal.failed)
            )
        elif options.resume and not self._kind.lasting:
            self._context.say("nothing to resume: begins anew")
        if journal.damaged:
            self._context.say(
                f"note: {journal.damaged} lines of the journal are damaged: what they told of is computed again"
            )
        if journal.lost:
            numbers = ", ".join(str(task + 1) for task in sorted(journal.lost)[:NAMED])
            more = ", …" * (len(journal.lost) > NAMED)
            self._context.say(
                f"note: results of finished {self._kind.task}s are damaged or missing; computed again: {numbers}{more}"
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
        return self._tasks.inputs.changed(*earlier) if earlier is not None else []

    def all_tasks(self, opened: ExitStack) -> list[GroupWork] | None:
        """Do the tasks that are left: what each rank has done; None where another run writes the results.

        opened: gets what is open until the results are written.

        Of runs that share their tasks the last one also does the tasks of runs that have ended early.
        """
        results = self._work(opened)
        options = replace(self._context.options, retry_failed=False)
        while options.share:
            if not self._is_last():
                self._context.say(
                    f"{self._output}: others are at work on its last {self._kind.task}s, and make the results"
                )
                return None
            self.journal = self._open(options)
            if not self.journal.left(self._numbers):
                break
            results += self._work(None)
        return results

    def _work(self, opened: ExitStack | None) -> list[GroupWork]:
        """Do the tasks that are not done, each by one group of ranks; of all ranks, when all groups are ready.

        Raises FathometerError and InputError, on all ranks of a group, for what no task of its own is at fault for.
        """
        tasks, comm, context = self._tasks, self._comm, self._context
        group, ranks = split_into_groups(comm, tasks.ranks_per_task)
        left = len(self.journal.left(tasks.numbers))
        with Progress(
            left, now=now, rank=comm.rank, quiet=context.quiet, label=tasks.LABEL, task=self._kind.task
        ) as progress:
            worker = tasks.worker(ranks, left)
            if opened is not None:
                opened.enter_context(tasks.opened(self.journal))
            done = run_tasks(tasks, worker, self.journal, group, ranks, progress)
        with ledger.phase("wait for other groups"):
            return allgather(comm, done)

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
