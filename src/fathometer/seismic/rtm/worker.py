"""Where a group of ranks migrates shots: the model of a window, wavefields, history and image in it."""

from __future__ import annotations

from typing import Any

from fathometer.base import ledger
from fathometer.base.errors import naming
from fathometer.base.progress import Progress
from fathometer.grid.tuning import Tuned, tune
from fathometer.parallel.collectives import together
from fathometer.parallel.threads import tasks_of
from fathometer.runs.outcome import Settings
from fathometer.seismic.history.opening import choose, open_history
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.shot import migrate_shot
from fathometer.seismic.setup.experiment import Experiment
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.waves.propagator import Propagator


class Stage:
    """Collective, each of its methods too. What shots with the same grid share.

    Args:
        experiment: on the grid of its shots. shots: how many there are to come. tuned: an earlier stage's tiling.

    Raises FathometerError or InputError on all ranks: a history that does not fit, a disk that is full.
    """

    def __init__(self, experiment: Experiment, settings: Settings, shots: int, tuned: Tuned | None = None) -> None:
        self.experiment = experiment
        with ledger.phase("set up"):
            self._wavefield = experiment.propagator()
        self.tuned = tuned_for(experiment, self._wavefield, settings, experiment.time.every, 2 * shots, tuned)
        with ledger.phase("set up"):
            shape, dtype, imaging = self._wavefield.image_shape, experiment.scheme.dtype, experiment.survey.imaging
            self.condition = condition_of(imaging)(volumes_of(imaging), shape, dtype)
            self.kept = choose(experiment, self._wavefield, settings.binding)
            self._history, self._source_wavefield = open_history(
                experiment, self._wavefield, self.kept, settings.binding
            )

    def migrate(self, shot: Shot, progress: Progress) -> None:
        """Make the image of a shot in `condition`."""
        migrate_shot(
            self.experiment,
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
    experiment: Experiment,
    wavefield: Propagator,
    settings: Settings,
    steps: int,
    propagations: int,
    tuned: Tuned | None = None,
) -> Tuned:
    """Collective. Threads and tiling of a wavefield that takes `steps` time steps at a time; `tuned`, if known."""
    survey = experiment.survey
    with naming(str(survey.path)), ledger.phase("tuning"):
        with together(experiment.comm):
            wavefield.threads = tasks_of(survey.threads.model_dump(), settings.binding)
        if tuned is not None:
            wavefield.tiling = tuned.tiling
            return tuned
        total = experiment.time.steps * propagations
        found = tune(wavefield, survey.tuning, steps, total, wavefield.threads.propagate, settings.say)
    settings.say(str(found))
    return found
