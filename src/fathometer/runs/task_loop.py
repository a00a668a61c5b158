"""The loop of a group of ranks over the tasks of a resumable run.

while there are tasks:      take the next; work on it; write its contribution, then a line of the journal
from time to time:          flush contributions to the device; fold them into one sum where they take too much disk
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, NotFiniteError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import barrier, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.groups import Group
from fathometer.runs.contributions import Window, contribute, flush
from fathometer.runs.journal import Contribution, Journal
from fathometer.runs.sum_file import max_loose_bytes
from fathometer.runs.summation import Terms, fold

FLUSH_PAUSE = 100  # time between flushes, in durations of a flush


class TaskWorker(Protocol):
    """An application's work on the tasks of one group of ranks; all methods but `abandon` are collective."""

    def prepare(self, task: int, tasks: int) -> None:
        """Prepare for a task; tasks: the maximum number for this group. Raises errors that are not the task's own."""

    def work(self, task: int, progress: Progress) -> Window:
        """Do the task; returns its contribution, valid until the next call.

        Raises InputError or NotFiniteError for errors of this task alone.
        """

    def reset(self) -> None:
        """Discard the unfinished work of a task that has failed."""

    def input_of(self, task: int) -> str:
        """Hash of what a task reads; "" where it cannot be read. On one rank alone, not collective."""

    def close(self) -> None:
        """Free everything, after all tasks."""

    def abandon(self) -> None:
        """Free what would outlast the process, after any other error; on this rank alone."""


@dataclass(frozen=True)
class Volumes:
    """The volumes of the results: their names, cells of each (nx, ny, nz), bytes of a cell."""

    names: Sequence[str]
    shape: Index3
    itemsize: int


@dataclass
class GroupWork:
    """What a group has done: on its first rank the finished tasks, and the errors of failed tasks by number."""

    done: list[int] = field(default_factory=list)
    errors: dict[int, FathometerError] = field(default_factory=dict)


def run_tasks(
    tasks: Sequence[int],
    worker: TaskWorker,
    journal: Journal,
    volumes: Volumes,
    comm: MPI.Intracomm,
    group: Group,
    ranks: MPI.Intracomm,
    progress: Progress,
    steps: int,
) -> GroupWork:
    """Collective. Do those of the tasks that are not in the journal, each by one group; returns when all are finished.

    Args:
        tasks: in the order in which they are started. comm: all ranks. group, ranks: this rank's group and its
            communicator. steps: of a task, for the progress display.

    Raises FathometerError and InputError, on all ranks of a group, for errors that are not a task's own.
    """
    loop = _GroupLoop(worker, journal, volumes, comm, group, ranks)
    left = journal.left(tasks)
    try:
        loop.run(left, progress, steps)
        worker.close()
    except BaseException:
        worker.abandon()
        raise
    with ledger.phase("wait for other groups"):
        barrier(comm)
    progress.complete()
    return loop.done


class _GroupLoop:
    def __init__(
        self,
        worker: TaskWorker,
        journal: Journal,
        volumes: Volumes,
        comm: MPI.Intracomm,
        group: Group,
        ranks: MPI.Intracomm,
    ) -> None:
        self.worker, self.journal, self.volumes = worker, journal, volumes
        self.first = comm.rank == 0
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
            window = self.worker.work(task, progress)
            with ledger.phase(self._writing):
                contribution = contribute(self.journal, self.group.number, task, window, now() - begin, self.comm)
        except (InputError, NotFiniteError) as error:  # of this task alone
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


def merged(before: Mapping[str, Any], more: Mapping[str, Any], added: Sequence[str]) -> dict[str, Any]:
    """Numbers of two pieces of work combined: sums for the names in `added`, maxima for the others."""
    values = dict(before)
    for name, value in more.items():
        values[name] = values.get(name, 0) + value if name in added else max(values.get(name, 0), value)
    return values
