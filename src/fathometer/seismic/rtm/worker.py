"""Where a group of ranks migrates shots: the model of a window, wavefields, history and image in it."""

from __future__ import annotations

from typing import Any

from fathometer.base import ledger
from fathometer.base.errors import naming
from fathometer.base.progress import Progress
from fathometer.grid.tuning import Tuned, tune
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import tasks_of
from fathometer.runs.outcome import Context
from fathometer.seismic.history.opening import choose, open_history
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.shot import migrate_shot
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.waves.propagator import Propagator


class Worker:
    """Collective, each of its methods too. What shots with the same grid share.

    Args:
        experiment: on the grid of its shots. shots: how many there are to come. tuned: an earlier stage's tiling.

    Raises FathometerError or InputError on all ranks: a history that does not fit, a disk that is full.
    """

    def __init__(self, setup: Setup, context: Context, shots: int, tuned: Tuned | None = None) -> None:
        self.setup = setup
        with ledger.phase("set up"):
            self._wavefield = setup.propagator()
        self.tuned = tuned_for(setup, self._wavefield, context, setup.time.every, 2 * shots, tuned)
        with ledger.phase("set up"):
            shape, dtype, imaging = self._wavefield.image_shape, setup.scheme.dtype, setup.survey.imaging
            self.condition = condition_of(imaging)(volumes_of(imaging), shape, dtype)
            self.kept = choose(setup, self._wavefield, context.binding)
            self._history, self._source_wavefield = open_history(setup, self._wavefield, self.kept, context.binding)

    def migrate(self, shot: Shot, progress: Progress) -> None:
        """Make the image of a shot in `condition`."""
        migrate_shot(
            self.setup,
            self._wavefield,
            shot,
            self._history,
            self.condition,
            progress,
            self._source_wavefield,
        )

    def close(self) -> dict[str, Any]:
        """Let go of everything, which takes its time where it is large; what became of this rank's snapshots."""
        with ledger.phase("finish"):
            told = self._history.told()
            self.abandon()
            for one in (self._wavefield, self._source_wavefield):
                if one is not None:
                    one.close()
        return told

    def abandon(self) -> None:
        """Let go of what would outlast the process, on this rank alone."""
        self._history.close()


def tuned_for(
    setup: Setup,
    wavefield: Propagator,
    context: Context,
    steps: int,
    propagations: int,
    tuned: Tuned | None = None,
) -> Tuned:
    """Collective. Threads and tiling of a wavefield that takes `steps` time steps at a time; `tuned`, if known."""
    survey = setup.survey
    with naming(str(survey.path)), ledger.phase("tuning"):
        with collective_errors(setup.comm):
            wavefield.threads = tasks_of(survey.threads.model_dump(), context.binding)
        if tuned is not None:
            wavefield.tiling = tuned.tiling
            return tuned
        total = setup.time.steps * propagations
        found = tune(wavefield, survey.tuning, steps, total, wavefield.threads.propagate, context.say)
    context.say(str(found))
    return found
