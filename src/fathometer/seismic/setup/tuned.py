"""Threads and tiling of a wavefield's time steps, as the survey asks for them."""

from __future__ import annotations

from fathometer.base import ledger
from fathometer.base.errors import naming
from fathometer.grid.tuning import Tuned, tune
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import thread_counts
from fathometer.runs.context import Context
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.waves.propagator import Propagator


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
            wavefield.threads = thread_counts(survey.threads.model_dump(), context.binding, "[threads]")
        if tuned is not None:
            wavefield.tiling = tuned.tiling
            return tuned
        total = setup.time.steps * propagations
        choice = tune(wavefield, survey.tuning, steps, total, wavefield.threads.propagate, context.say)
    context.say(str(choice))
    return choice
