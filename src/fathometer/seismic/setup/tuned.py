"""Threads and tiling of a wavefield's time steps, as the survey asks for them."""

from __future__ import annotations

from typing import Protocol

from fathometer.base import ledger
from fathometer.base.errors import naming
from fathometer.grid.tiling import PLAIN, Tuned
from fathometer.grid.trials import Trials
from fathometer.grid.tuning import TimeStepper, learned, modelled_tiling, tune
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import ThreadCounts, thread_counts
from fathometer.runs.context import Context
from fathometer.seismic.setup.setup import Setup


class Wavefield(TimeStepper, Protocol):
    """Fields of any wave equation, with the threads of each task."""

    threads: ThreadCounts

    @property
    def tiled(self) -> bool:
        """Whether sweeps of several steps go in tiles."""

    def close(self) -> None:
        """Free it."""


def set_threads(setup: Setup, wavefield: Wavefield, context: Context) -> None:
    """Collective. Threads of a wavefield, as the survey asks for them."""
    survey = setup.survey
    with naming(str(survey.path)), ledger.phase("tuning"), collective_errors(setup.comm):
        wavefield.threads = thread_counts(survey.threads.model_dump(), context.binding, "[threads]")


def start_tiling(setup: Setup, wavefield: Wavefield, context: Context, steps: int) -> None:
    """Collective. Threads of a wavefield, and the tiling that the sizes of the caches suggest."""
    set_threads(setup, wavefield, context)
    if not wavefield.tiled:
        return
    with ledger.phase("tuning"):
        wavefield.tiling = modelled_tiling(wavefield, steps, wavefield.threads.propagate)


def tuned_for(
    setup: Setup,
    wavefield: Wavefield,
    context: Context,
    steps: int,
    propagations: int,
    earlier: Tuned | None = None,
    trials: Trials | None = None,
) -> Tuned:
    """Collective. Tiling of a wavefield that takes `steps` time steps at a time, and trials of other tilings where the
    survey allows for them; earlier, trials: those of another wavefield of this run."""
    survey = setup.survey
    if not wavefield.tiled:
        return Tuned(PLAIN, "processor")
    with naming(str(survey.path)), ledger.phase("tuning"):
        if earlier is not None and trials is None:
            wavefield.tiling = earlier.tiling
            return earlier
        total, threads = setup.time.steps * propagations, wavefield.threads.propagate
        tuned = tune(wavefield, survey.tuning, steps, total, threads, context.say, earlier=trials)
    if earlier is None:
        context.say(str(tuned))
    return tuned


def tuned_by(wavefield: Wavefield, tuned: Tuned, context: Context) -> Tuned:
    """After the last step: what `tuned_for` chose, or trials have found meanwhile, which is kept for later runs."""
    if wavefield.trials is None:
        return tuned
    with ledger.phase("tuning"):
        return learned(wavefield.trials, context.say)
