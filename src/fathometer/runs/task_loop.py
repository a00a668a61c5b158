"""The loop of a group of ranks over the tasks of a resumable run.

while there are tasks:      take the next; work on it; write its contribution, then a line of the journal
from time to time:          flush contributions to the device; fold them into one sum where they take too much disk
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError, NotFiniteError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import barrier, collective_errors
from fathometer.parallel.groups import Group
from fathometer.runs.contributions import contribute, flush
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
        loop.run(journal.left(tasks.numbers), progress, tasks.steps)
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
        self.worker, self.journal, self.volumes = worker, journal, tasks.volumes
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

    def run(self, left: Sequence[int], progress: Progress, steps: int) -> None:
        """Do those of the tasks that no other group takes."""
        most = -(-len(left) // self.group.groups)
        for task, begun in self._taken(left):
            progress.start_task(begun, steps)
            self._do(task, most, progress)
            progress.finish_task()

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

    def _do(self, task: int, most: int, progress: Progress) -> None:
        begin = now()
        self.worker.prepare(task, most)
        try:
            result = self.worker.work(task, progress)
            with ledger.phase(self._writing):
                contribution = contribute(self.journal, self.group.number, task, result, now() - begin, self.comm)
        except (InputError, NotFiniteError) as error:  # of this task alone
            if not self.journal.kind.partial:
                raise
            with ledger.phase(self._writing), collective_errors(self.comm):
                if self.comm.rank == 0:
                    self.journal.set_aside(self.group.number, task, str(error), self.worker.input_of(task))
            self.done.errors[task] = error
            self.worker.reset()
            return
        if self.comm.rank == 0:
            self.done.done.append(task)
        self._waiting.append(contribution)
        self._unflushed.append(contribution)
        self._flush_if_due()
        self._fold_if_full()

    def _flush_if_due(self) -> None:
        """Flush, but so seldom that this takes at most a hundredth of the time, however short the tasks are."""
        due = now() - self._flushed_at >= FLUSH_PAUSE * self._flush_seconds
        with ledger.communication(self._writing):
            due = self.comm.bcast(due)
        if due:
            begin = now()
            with ledger.phase(self._writing):
                flush(self.journal, self.group.number, self._unflushed, self.comm)
            self._unflushed = []
            self._flushed_at, self._flush_seconds = now(), now() - begin

    def _fold_if_full(self) -> None:
        """Fold contributions into a sum where they take more than FOLD_RATIO times its bytes."""
        if self.volumes is None:
            return
        shape = self.volumes.shape
        waiting = sum(int(np.prod(np.subtract(c.hi, c.lo))) for c in self._waiting) * self.volumes.itemsize
        if waiting < max_loose_bytes(math.prod(shape)):
            return
        with ledger.phase(f"sum {self.journal.kind.volumes}"):
            self._folds += 1
            path = self.journal.folder / f"{self.journal.run}-{self.group.number:04d}-{self._folds}.sum"
            terms = Terms(self.journal, tuple(self._sums), tuple(self._waiting))
            self._sums = [fold(terms, self.volumes.names, shape, path, self.comm)]
            self._waiting, self._unflushed = [], []
