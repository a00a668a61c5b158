"""From a survey that is ready to run to the record and the page of its run: what modelling and migration share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.grid.tiling import Tuned
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.record.envelope import PAGE, RECORD, write_record
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.journal_folder import has_journal
from fathometer.seismic.page.panels import panels
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.setup.input_files import named_files
from fathometer.seismic.setup.layout import SurveyLayout
from fathometer.seismic.setup.run_record import WorkDone, finished_record
from fathometer.seismic.setup.setup import Setup, SummingMemory, prepare
from fathometer.seismic.survey import Survey
from fathometer.storage import atomic


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
    inputs = named_files(survey) | {f"[acquisition] gathers ({path})": path for path in gathers}
    for result in results:
        for key, path in inputs.items():
            if atomic.replaces(result, path):
                raise InputError(
                    f"{survey.path}: [output]: {result} would replace {key}; allowed: another directory or name"
                )


def refuse_migration(survey: Survey, comm: MPI.Intracomm) -> None:
    """Collective. Raises InputError, the same on all ranks, where the folder of results holds a migration, whose record
    would be replaced."""
    output = survey.output_directory
    with ledger.phase("set up"):
        migrated = any(allgather(comm, comm.rank == 0 and has_journal(output)))
    if migrated:
        raise InputError(
            f"{survey.path}: [output] directory: found a migration in {output}; allowed: another directory"
        )


def shot_progress(setup: Setup, context: Context, label: str) -> Progress:
    """Progress over all shots of a survey."""
    return Progress(
        len(setup.acquisition.shots),
        now=now,
        rank=setup.comm.rank,
        quiet=context.quiet,
        label=label,
        task="shot",
    )


def finish(
    setup: Setup,
    context: Context,
    files: dict[str, Path],
    tuned: Tuned | None,
    done: WorkDone,
    facts: Mapping[str, Any] = MappingProxyType({}),
    reasons: Sequence[str] = (),
) -> tuple[Outcome, list[Panel]]:
    """Collective. Write run.json on rank 0; the outcome, and what its page will show.

    What the page shows of the files is read before the record is made, which so accounts for it.
    """
    comm, folder = setup.comm, setup.survey.output_directory
    if tuned is not None and tuned.trials:
        context.say(str(tuned))
    written, files = files, {**files, "record": folder / RECORD}
    if context.publish is not None:
        files["report"] = folder / PAGE
    shown: list[Panel] = []
    with ledger.phase("report"), collective_errors(comm):
        if comm.rank == 0 and context.publish is not None:
            shown = panels(RunData(setup.survey, lambda: setup.files, lambda: setup.acquisition, written))
    with ledger.phase("finish"):
        envelope = finished_record(setup, context, files, tuned, done, facts, reasons)
        with collective_errors(comm):
            if comm.rank == 0:
                write_record(files["record"], envelope)
    return Outcome(files, envelope), shown


def publish(comm: MPI.Intracomm, context: Context, outcome: Outcome, shown: list[Panel]) -> None:
    """Collective. Write the page of a finished run on rank 0."""
    with ledger.phase("report"), collective_errors(comm):
        if comm.rank == 0 and context.publish is not None:
            context.publish(outcome.files["report"], outcome.record, shown)
