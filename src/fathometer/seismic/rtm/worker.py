"""How a group of ranks migrates its shots: model, wavefields, history and image on the grid of a shot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.grid.tiling import Tuned
from fathometer.grid.trials import Trials
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import ThreadCounts
from fathometer.runs.context import Context
from fathometer.runs.contributions import Window
from fathometer.seismic.history.card import CARD_STORES
from fathometer.seismic.history.choice import HistoryChoice
from fathometer.seismic.history.opening import choose, open_history
from fathometer.seismic.history.strategies import STORES, HistoryRequest
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.ready import ReadyShot, read_ahead, ready_shot, steps_of_advance
from fathometer.seismic.rtm.results import MigrationFigures
from fathometer.seismic.rtm.shot import migrate_shot
from fathometer.seismic.setup.cone import Saved
from fathometer.seismic.setup.fingerprint import traces_hash
from fathometer.seismic.setup.setup import Setup, on_shot
from fathometer.seismic.setup.tuned import start_tiling, tuned_by, tuned_for
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.hashing import PHASE

BESIDE = 2  # threads beside the time steps of a card: the next shot is read, the image of the one before written
ADDED = ("snapshots", "logical_bytes", "stored_bytes")  # of a history's figures; the others are largest values


class Worker:
    """Collective, each of its methods too. What shots on the same grid share: wavefield, history, image.

    Args:
        setup: on the grid of its shots. shots: how many there are to come. tuned, trials: of another worker of the
            run.

    Attributes:
        tuned: the tiling, and what trials have found when it is closed. trials: of other tilings.

    Raises FathometerError or InputError on all ranks: a history that does not fit, a disk that is full.
    """

    def __init__(
        self,
        setup: Setup,
        context: Context,
        shots: int,
        tuned: Tuned | None = None,
        trials: Trials | None = None,
    ) -> None:
        self.setup, self._context = setup, context
        with ledger.phase("set up"):
            self._wavefield = setup.propagator()
        self._cone = setup.cone()
        with ledger.phase("set up"):
            shape, dtype, imaging = self._wavefield.image_shape, setup.scheme.dtype, setup.survey.imaging
            self.condition = condition_of(imaging)(volumes_of(imaging), shape, dtype)
        start_tiling(setup, self._wavefield, context, setup.time.every)
        with ledger.phase("set up"):
            request = history_request(setup, self._wavefield, context)
            self.choice = choose(request)
        self._steps = steps_with(setup, self.choice)
        self.tuned = tuned_for(setup, self._wavefield, context, self._steps, 2 * shots, tuned, trials)
        self.trials = self._wavefield.trials
        self._one_by_one = setup.survey.imaging.aperture is not None  # the next shot may be on another grid
        if not self._one_by_one and self.trials is not trials:
            self._expect(shots)
        with ledger.phase("set up"):
            self._history, self._source_wavefield = open_history(request, self.choice)

    def ready(self, shot: Shot) -> ReadyShot:
        """The shot, its traces to be read when they are asked for."""
        return ready_shot(self.setup, self._wavefield.threads, self._cone, shot)

    def reader(self) -> Callable[[Shot], ReadyShot]:
        """What reads a shot beside another one; called by another thread, on this rank alone."""
        return partial(read_ahead, self.setup, self._wavefield.threads, self._cone)

    def migrate(
        self, ready: ReadyShot, progress: Progress, written: Callable[[], None]
    ) -> tuple[str, dict[str, Saved]]:
        """Make the image of a shot in `condition`; the hash of its traces, and the updates of cells of its loops.

        written: called before the volumes of `condition` are changed.
        """
        if self._one_by_one:
            self._expect(1)
        updates = migrate_shot(
            setup=self.setup,
            wavefield=self._wavefield,
            ready=ready,
            cone=self._cone,
            history=self._history,
            condition=self.condition,
            progress=progress,
            written=written,
            source_wavefield=self._source_wavefield,
        )
        with ledger.phase(PHASE):
            return ready.hashes.combined(self.setup.comm), updates

    def close(self) -> dict[str, Any]:
        """Free everything, which takes its time where it is large; what became of this rank's snapshots."""
        self.tuned = tuned_by(self._wavefield, self.tuned, self._context)
        with ledger.phase("finish"):
            figures = self._history.statistics()
            self.abandon()
            for wavefield in (self._wavefield, self._source_wavefield):
                if wavefield is not None:
                    wavefield.close()
        return figures

    def _expect(self, shots: int) -> None:
        if self.trials is not None:
            self.trials.expect(2 * shots * (self.setup.time.steps // self._steps))

    def abandon(self) -> None:
        """Let go of what would outlast the process, on this rank alone."""
        self._history.close()


def steps_with(setup: Setup, choice: HistoryChoice) -> int:
    """Time steps that are taken at a time with a history."""
    return steps_of_advance(setup) if choice.several else setup.time.every


def history_request(setup: Setup, wavefield: Propagator, context: Context) -> HistoryRequest:
    """What a migration asks of its history."""
    return HistoryRequest(
        table=setup.survey.history,
        where=str(setup.survey.path),
        folder=setup.scratch_folder,
        snapshots=setup.time.snapshots,
        every=setup.time.every,
        spare_bytes=setup.spare_bytes,
        ranks_on_host=context.binding.ranks_on_host,
        comm=setup.comm,
        wavefield=wavefield,
        another=setup.propagator,
        stores=STORES if setup.processor.card is None else CARD_STORES,
        card_bytes=setup.card_bytes_left(volumes_of(setup.survey.imaging)),
        card_twin=setup.card_bytes,
    )


class ShotWorkers:
    """The worker of a group of ranks for its present shot (runs/tasks.TaskWorker); task numbers are shots' indices."""

    beside: ThreadPoolExecutor | None

    def __init__(self, survey: Setup, ranks: MPI.Intracomm, shots: Mapping[int, Shot], context: Context) -> None:
        cpus = tuple(context.binding.cpus) if context.binding.pinned else ()
        on_card = survey.processor.card is not None
        self.beside = ThreadCounts(1, 1, 1, cpus).pool("beside", BESIDE, context.binding.threads) if on_card else None
        self._next: int | None = None
        self._coming: dict[int, Future[ReadyShot]] = {}
        self._survey, self._ranks, self._shots, self._context = survey, ranks, shots, context
        self._worker: Worker | None = None
        self._trials: Trials | None = None
        self._figures = MigrationFigures()

    def prepare(self, task: int, tasks: int) -> None:
        """The present worker serves where the shot's grid is the same; else there is another one."""
        survey, shot = self._survey, self._shots[task]
        if self._worker is not None:
            if survey.survey.imaging.aperture is None or self._worker.setup.grid == survey.layout.grid_of(shot):
                return
            self.reset()
        setup = survey if survey.model is not None else on_shot(survey, shot, self._ranks)
        self._worker = Worker(setup, self._context, tasks, self._figures.tuned, self._trials)
        self._figures.tuned, self._trials = self._worker.tuned, self._worker.trials
        if self._figures.choice is None:
            self._figures.choice = self._worker.choice
            self._context.say(str(self._worker.choice))

    def expect(self, task: int) -> None:
        """The shot is read beside the present one, once that is ready."""
        self._next = task

    def work(self, task: int, progress: Progress, written: Callable[[], None]) -> Window:
        """Migrate the shot; its image and illumination on its window of the model."""
        assert self._worker is not None
        setup = self._worker.setup
        coming = self._coming.pop(task, None)
        following, self._next = self._next, None
        if coming is None:
            ready = self._worker.ready(self._shots[task])
        else:
            with ledger.phase("read traces"), collective_errors(self._ranks):
                ready = ledger.awaited(coming)
        if following is not None:
            self._read_ahead(following)
        hashed, self._figures.updates[task] = self._worker.migrate(ready, progress, written)
        start, _ = setup.grid.model_box(setup.block)
        return Window(setup.grid, start, self._worker.condition.volumes, hashed)

    def _read_ahead(self, task: int) -> None:
        """Have a shot read beside the present one, where both are on one grid."""
        assert self._worker is not None
        if self.beside is not None and self._survey.layout.reads_ahead(on_card=True):
            read = ledger.carried(self._worker.reader())
            self._coming[task] = self.beside.submit(read, self._shots[task])

    def input_of(self, task: int) -> str:
        """The hash of the shot's traces."""
        with ledger.phase(PHASE):
            return traces_hash(self._survey.survey, self._survey.acquisition, self._shots[task])

    def reset(self) -> None:
        """Close the present worker, whose history may be in the middle of a shot."""
        worker, self._worker = self._worker, None
        if worker is not None:
            self._figures.history = _combined(self._figures.history, worker.close())
            self._figures.tuned = worker.tuned

    def close(self) -> None:
        self.reset()
        if self.beside is not None:
            self.beside.shutdown()

    def abandon(self) -> None:
        """Let go of the history of the present shot, on this rank alone."""
        if self.beside is not None:
            self.beside.shutdown(wait=False, cancel_futures=True)
        if self._worker is not None:
            self._worker.abandon()

    def figures(self) -> MigrationFigures:
        """What this rank has counted."""
        return self._figures


def _combined(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of the history of two workers: sums for the names in ADDED, maxima for the others."""
    values = dict(before)
    for name, value in more.items():
        values[name] = values.get(name, 0) + value if name in ADDED else max(values.get(name, 0), value)
    return values
