"""What modelling and migration share before their first time step: a survey made ready, inputs protected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.runs.application import protect
from fathometer.runs.context import Context
from fathometer.seismic.setup.input_files import named_files
from fathometer.seismic.setup.setup import Setup, SummingMemory, prepare
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.survey import Survey


def prepared(
    survey: Survey,
    comm: MPI.Intracomm,
    context: Context,
    imaging: bool,
    summing: SummingMemory | None = None,
    before_reading: Callable[[SurveyLayout], None] | None = None,
) -> Setup:
    """Collective. Make a survey ready; notes and a summary for people. Arguments as of `prepare`."""
    with ledger.phase("set up"):
        setup = prepare(survey, comm, imaging, summing, before_reading)
        announce(setup, context)
    return setup


def announce(setup: Setup, context: Context) -> None:
    """Notes and a summary for people."""
    context.tell(setup.warnings, setup.survey.path)
    for line in setup.summary():
        context.say(line)


def protect_inputs(survey: Survey, results: Iterable[Path], gathers: Sequence[Path] = ()) -> None:
    """Raises InputError where a result would replace one of the survey's input files.

    gathers: the files of its recorded gathers, where these are known.
    """
    protect(named_files(survey) | {f"[acquisition] gathers ({path})": path for path in gathers}, results)
