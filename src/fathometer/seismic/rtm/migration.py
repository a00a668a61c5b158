"""The shots of a survey on groups of ranks, and the sum of what they add to the image.

each group, while there are shots:      take the next; migrate it; put what it adds on disk, a line into the journal
all ranks, when there are none left:    add up, in whatever order they came (exact.py)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, NotFiniteError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.grid.tuning import Tuned
from fathometer.parallel.collectives import barrier, collective_errors
from fathometer.parallel.groups import Group
from fathometer.runs.contributions import Terms, contribute, flush, fold, total
from fathometer.runs.journal import Entry, Journal
from fathometer.runs.outcome import Context
from fathometer.runs.sum_file import most_waiting
from fathometer.seismic.history.choice import HistoryChoice
from fathometer.seismic.history.opening import choose
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.worker import Worker, tuned_for
from fathometer.seismic.setup.rank_groups import largest_first
from fathometer.seismic.setup.setup import Setup, on_shot
from fathometer.seismic.shots.offsets import ALL, volumes_of
from fathometer.seismic.shots.shot import Shot

FLUSH_PAUSE = 100  # times the seconds of a flush: until the next


def rehearse(whole: Setup, context: Context) -> None:
    """Collective. Raises InputError where a migration could not begin, before anything of an earlier one is removed:
    for the shot that takes most, its tiling and history."""
    _, ranks = _grouped(whole)
    [shot] = whole.layout.largest.acquisition.shots
    setup = whole if whole.model is not None else on_shot(whole, shot, ranks)
    wavefield = setup.propagator()
    try:
        quiet = replace(context, say=lambda line: None)
        tuned_for(setup, wavefield, quiet, setup.time.every, 2)
        choose(setup, wavefield, context.binding)
    finally:
        wavefield.close()
    barrier(whole.comm)


def _grouped(whole: Setup) -> tuple[Group, MPI.Intracomm]:
    """Collective. This rank's group, and its ranks."""
    group = Group.of(whole.comm.rank, whole.comm.size, whole.ranks_per_shot)
    if group.groups == 1:
        return group, whole.comm
    barrier(whole.comm)
    return group, cast(MPI.Intracomm, whole.comm.Split(group.number, whole.comm.rank))


@dataclass
class Work:
    """What this rank did: the shots of its group, if it is the first rank of that, and the updates of cells; its
    snapshots; how time steps were tiled and the history kept (None without a shot). errors: of shots that failed."""

    led: list[int] = field(default_factory=list)
    updates: float = 0.0
    told: dict[str, Any] = field(default_factory=dict)
    tuned: Tuned | None = None
    kept: HistoryChoice | None = None
    errors: dict[int, FathometerError] = field(default_factory=dict)


def migrate_shots(whole: Setup, journal: Journal, context: Context) -> Work:
    """Collective. Migrate the shots that are not done, each by one group of ranks; returns when all groups are ready.

    Raises FathometerError and InputError, on all ranks of a group, for what no shot of its own can be blamed for.
    """
    group, ranks = _grouped(whole)
    shots = {shot.index: shot for shot in largest_first(whole.layout)}
    left = [shots[n] for n in shots if n not in journal.done and n not in journal.failed]
    at_work = _Group(whole, ranks, group, journal, context)
    with Progress(len(left), now=now, rank=whole.comm.rank, quiet=context.quiet, label="migrate") as progress:
        try:
            at_work.migrate(left, progress)
        finally:
            at_work.abandon()
        with ledger.phase("wait for other groups"):
            barrier(whole.comm)
        progress.complete()
    return at_work.work


class _Group:
    """A group of ranks at work."""

    def __init__(self, whole: Setup, comm: MPI.Intracomm, group: Group, journal: Journal, context: Context) -> None:
        self.whole, self.comm, self.group, self.journal, self.context = whole, comm, group, journal, context
        self.work = Work()
        self._worker: Worker | None = None
        # This group's part of what earlier runs left, so that it does not grow from run to run, and what it adds.
        self._sums = journal.sums[group.number :: group.groups]
        self._entries = journal.loose[group.number :: group.groups]  # in no sum yet
        self._folds = 0
        self._unflushed: list[Entry] = []
        self._flushed_at, self._flush_seconds = 0.0, 0.0

    def migrate(self, left: list[Shot], progress: Progress) -> None:
        """Those of the shots that no other group takes."""
        each = -(-len(left) // self.group.groups)
        for shot in self._taken(left):
            begun = self.journal.begun() - 1 if self.whole.comm.rank == 0 else 0  # who looks at the folder shows it
            progress.start_shot(begun, 2 * self.whole.time.steps)
            self._migrate(shot, each, progress)
            progress.finish_shot()
        self._close_worker()

    def abandon(self) -> None:
        """However it ended."""
        if self._worker is not None:
            self._worker.abandon()

    def _taken(self, left: list[Shot]) -> Iterator[Shot]:
        """The shots that this group takes, the same on all of its ranks."""
        shots = {shot.index: shot for shot in left}
        taken = self.journal.take(shots)
        while True:
            number: int | None = None
            with ledger.phase("take a shot"):
                with collective_errors(self.comm):
                    if self.comm.rank == 0:
                        number = next(taken, None)
                with ledger.communication():
                    number = self.comm.bcast(number)
            if number is None:
                return
            yield shots[number]

    def _migrate(self, shot: Shot, each: int, progress: Progress) -> None:
        begin = now()
        worker = self._worker_for(shot, each)
        setup, condition = worker.setup, worker.condition
        try:
            worker.migrate(shot, progress)
            with ledger.phase("write partial image"):
                start, _ = setup.grid.model_box(setup.block)
                entry = contribute(
                    self.journal,
                    self.group.number,
                    shot.index,
                    setup.grid,
                    start,
                    condition.volumes,
                    now() - begin,
                    self.comm,
                )
        except (InputError, NotFiniteError) as error:  # of this shot alone
            with collective_errors(self.comm):
                if self.comm.rank == 0:
                    self.journal.set_aside(self.group.number, shot.index, str(error))
            self.work.errors[shot.index] = error
            self._close_worker()  # whose history is left in the middle
            return
        if self.comm.rank == 0:
            self.work.led.append(shot.index)
            self.work.updates += 2.0 * self.whole.layout.cells_of(shot) * setup.time.steps
        self._entries.append(entry)
        self._unflushed.append(entry)
        self._flush_if_due()
        self._fold_if_full()

    def _worker_for(self, shot: Shot, each: int) -> Worker:
        """The present one where the shot's grid is the same."""
        whole = self.whole
        if self._worker is not None:
            if whole.survey.imaging.aperture is None or self._worker.setup.grid == whole.layout.grid_of(shot):
                return self._worker
            self._close_worker()
        setup = whole if whole.model is not None else on_shot(whole, shot, self.comm)
        self._worker = Worker(setup, self.context, each, self.work.tuned)
        self.work.tuned = self._worker.tuned
        if self.work.kept is None:
            self.work.kept = self._worker.kept
            self.context.say(str(self.work.kept))
        return self._worker

    def _close_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            for name, value in worker.close().items():
                before = self.work.told.get(name, 0)
                self.work.told[name] = before + value if name in SUMS else max(before, value)

    def _flush_if_due(self) -> None:
        """Flushing takes at most a hundredth of the time, however short the shots are."""
        due = now() - self._flushed_at >= FLUSH_PAUSE * self._flush_seconds
        with ledger.communication():
            due = self.comm.bcast(due)
        if due:
            begin = now()
            with ledger.phase("write partial image"):
                flush(self.journal, self.group.number, self._unflushed, self.comm)
            self._unflushed = []
            self._flushed_at, self._flush_seconds = now(), now() - begin

    def _fold_if_full(self) -> None:
        """So that partial images never take more than some times the bytes of the whole image."""
        shape, itemsize = self.whole.grid.shape, self.whole.layout.dtype.itemsize
        waiting = sum(int(np.prod(np.subtract(one.hi, one.lo))) for one in self._entries) * itemsize
        if waiting < most_waiting(math.prod(shape)):
            return
        with ledger.phase("sum images"):
            self._folds += 1
            path = self.journal.folder / f"{self.journal.run}-{self.group.number:04d}-{self._folds}.sum"
            terms = Terms(self.journal, tuple(self._sums), tuple(self._entries))
            names = volumes_of(self.whole.survey.imaging)
            self._sums = [fold(terms, names, shape, path, self.comm)]
            self._entries, self._unflushed = [], []


SUMS = ("snapshots", "logical_bytes", "stored_bytes")  # of what a history tells; the others are largest values


def summed(whole: Setup, journal: Journal) -> dict[str, np.ndarray]:
    """Collective. The image, those of bins of offset, and the illumination, of all shots that are done, on this rank's
    cells of the whole model.

    Raises FathometerError on all ranks: a partial image is damaged.
    """
    terms = Terms(journal, tuple(journal.sums), tuple(journal.loose))
    box = whole.grid.model_box(whole.block)
    with ledger.phase("sum images"):
        names = volumes_of(whole.survey.imaging)
        sums = {name: total(terms, name, box, whole.layout.dtype, whole.comm) for name in names}
        illumination = sums["illumination"]
        products = {name: one for name, one in sums.items() if one is not illumination}
        if ALL not in products:  # the image of all offsets in the bins
            products = {ALL: np.add.reduce(list(products.values()))} | products
        image = condition_of(whole.survey.imaging).image
        return {name: image(one, illumination, whole.comm) for name, one in products.items()} | {
            "illumination": illumination
        }
