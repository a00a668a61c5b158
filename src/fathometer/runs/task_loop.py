"""The loop of a group of ranks over the tasks of a resumable run.

while there are tasks:      take the next; work on it; write its contribution, then a line of the journal
from time to time:          flush contributions to the device; fold them into one sum where they take too much disk

Where a device does the work, a group takes a task while it works on the one before, so that what it reads is ready in
time; a group of one rank writes contributions beside the work on the next task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError, NotFiniteError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import barrier, collective_errors
from fathometer.parallel.groups import Group
from fathometer.runs.contributions import Kept, Window, contribute, flush
from fathometer.runs.journal import Contribution, Journal
from fathometer.runs.sum_file import max_loose_bytes
from fathometer.runs.summation import Terms, fold
from fathometer.runs.tasks import GroupWork, Tasks, TaskWorker

FLUSH_PAUSE = 100  # time between flushes, in durations of a flush


def run_tasks(
    tasks: Tasks, worker: TaskWorker, journal: Journal, group: Group, ranks: MPI.Intracomm, progress: Progress
) -> GroupWork:
    """Collective. Do those of the tasks that are not in the journal, each by one group; returns when all are finished.

    Args:
        group, ranks: this rank's group and its communicator.

    Raises FathometerError and InputError, on all ranks of a group, for errors that are not a task's own, and for those
    too where results of some tasks are of no use.
    """
    loop = _GroupLoop(tasks, worker, journal, group, ranks)
    try:
        try:
            loop.run(journal.left(tasks.numbers), progress, tasks.steps)
        finally:
            loop.end()
        worker.close()
    except BaseException:
        worker.abandon()
        raise
    with ledger.phase("wait for other groups"):
        barrier(tasks.comm)
    progress.complete()
    loop.done.figures = worker.figures()
    return loop.done


class _GroupLoop:
    def __init__(self, tasks: Tasks, worker: TaskWorker, journal: Journal, group: Group, ranks: MPI.Intracomm) -> None:
        self.worker, self.journal, self.volumes, self.held = worker, journal, tasks.volumes, tasks.held
        self.first = tasks.comm.rank == 0
        self.group, self.comm = group, ranks
        self.done = GroupWork()
        # Sums and contributions of earlier runs are divided among the groups, which fold them with their own.
        self._sums = journal.sums[group.number :: group.groups]
        self._waiting = journal.loose[group.number :: group.groups]  # in no sum yet
        self._folds = 0
        self._unflushed: list[Contribution] = []
        self._flushed_at, self._flush_seconds = 0.0, 0.0
        self._taking, self._writing = f"take a {journal.kind.task}", f"write {journal.kind.contribution}"
        # Another thread calls MPI: on one rank alone, which waits for none, and on a communicator of its own.
        beside = worker.beside is not None and ranks.size == 1 and MPI.Query_thread() == MPI.THREAD_MULTIPLE
        self._writer = worker.beside if beside else None
        self._writers = ranks.Dup() if beside else ranks
        self._written: Future[None] | None = None

    def run(self, left: Sequence[int], progress: Progress, steps: int) -> None:
        """Do those of the tasks that no other group takes."""
        most = -(-len(left) // self.group.groups)
        taken = self._taken(left)
        present = next(taken, None)
        while present is not None:
            task, begun = present
            begin = now()
            self.worker.prepare(task, most)
            following = None
            if self.worker.beside is not None and (following := next(taken, None)) is not None:
                self.worker.expect(following[0])
            progress.start_task(begun, steps)
            self._do(task, begin, progress)
            progress.finish_task()
            present = following if self.worker.beside is not None else next(taken, None)
        self._wait()

    def end(self) -> None:
        """Let what is being written come to its end; its errors have been raised, or do not matter any more."""
        if self._writer is not None:
            if self._written is not None:
                wait([self._written])
            self._writers.Free()

    def _taken(self, left: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The tasks that this group takes, the same on all of its ranks; with the number of those that any group has
        begun before, on rank 0, which alone displays the progress."""
        taken = self.journal.take(left)
        while True:
            task: int | None = None
            with ledger.phase(self._taking):
                with collective_errors(self.comm):
                    if self.comm.rank == 0:
                        task = next(taken, None)
                with ledger.communication():
                    task = self.comm.bcast(task)
                begun = self.journal.begun() - 1 if self.first and task is not None else 0
            if task is None:
                return
            yield task, begun

    def _do(self, task: int, begin: float, progress: Progress) -> None:
        try:
            result = self.worker.work(task, progress, self._wait)
        except (InputError, NotFiniteError) as error:  # of this task alone
            self._wait()
            self._set_aside(task, error)
            self.worker.reset()
            return
        self._wait()
        if self._writer is None:
            self._finish(task, result, now() - begin)
        else:
            self._written = self._writer.submit(ledger.carried(self._finish), task, result, now() - begin)

    def _wait(self) -> None:
        """Until the contribution of the task before is written. Raises what became of that."""
        work = self._written
        if work is None:
            return
        try:
            with ledger.phase(self._writing):
                ledger.awaited(work)
        finally:
            if work.done():  # not where an interrupt has ended the wait: `end` waits then
                self._written = None

    def _finish(self, task: int, result: Window | Kept, seconds: float) -> None:
        """Write a task's contribution, perhaps beside the next task."""
        try:
            with ledger.phase(self._writing):
                contribution = contribute(self.journal, self.group.number, task, result, seconds, self._writers)
        except (InputError, NotFiniteError) as error:  # of this task alone
            self._set_aside(task, error)
            return
        if self.held is not None and isinstance(result, Window):
            with ledger.phase(f"sum {self.journal.kind.volumes}"):
                self.held.add(contribution, result.volumes)
        if self.comm.rank == 0:
            self.done.done.append(task)
        self._waiting.append(contribution)
        self._unflushed.append(contribution)
        self._flush_if_due()
        self._fold_if_full()

    def _set_aside(self, task: int, error: InputError | NotFiniteError) -> None:
        if not self.journal.kind.partial:
            raise error
        with ledger.phase(self._writing), collective_errors(self._writers):
            if self.comm.rank == 0:
                self.journal.set_aside(self.group.number, task, str(error), self.worker.input_of(task))
        self.done.errors[task] = error

    def _flush_if_due(self) -> None:
        """Flush, but so seldom that this takes at most a hundredth of the time, however short the tasks are."""
        due = now() - self._flushed_at >= FLUSH_PAUSE * self._flush_seconds
        with ledger.communication(self._writing):
            due = self._writers.bcast(due)
        if due:
            begin = now()
            with ledger.phase(self._writing):
                flush(self.journal, self.group.number, self._unflushed, self._writers)
            self._unflushed = []
            self._flushed_at, self._flush_seconds = now(), now() - begin

    def _fold_if_full(self) -> None:
        """Fold contributions into a sum where they take too much disk."""
        if self.volumes is None:
            return
        shape = self.volumes.shape
        waiting = sum(int(np.prod(np.subtract(c.hi, c.lo))) for c in self._waiting) * self.volumes.itemsize
        if waiting < max_loose_bytes(math.prod(shape), self.held is not None):
            return
        with ledger.phase(f"sum {self.journal.kind.volumes}"):
            self._folds += 1
            path = self.journal.folder / f"{self.journal.run}-{self.group.number:04d}-{self._folds}.sum"
            terms = Terms(self.journal, tuple(self._sums), tuple(self._waiting), self.held)
            self._sums = [fold(terms, self.volumes.names, shape, path, self._writers)]
            self._waiting, self._unflushed = [], []
