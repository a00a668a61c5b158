"""`fathometer migrate`: reverse time migration of a survey, from its gathers to its image.

    shots to groups:    each group of ranks takes the next shot and migrates it (shot.py), until none is left
    groups to sum:      the partial images of all shots are added up (image_sum.py)
    sum to image:       imaging condition, image, Laplacian-filtered image, illumination, picture (products.py)

A journal in the folder of the results remembers each finished shot (runs/).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError, naming
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import allgather, barrier, collective_errors
from fathometer.parallel.groups import split_into_groups
from fathometer.parallel.heartbeat import watched
from fathometer.runs.context import Context, Outcome
from fathometer.runs.journal import Journal
from fathometer.runs.journal_folder import conclude, earlier_files, has_journal, results_of
from fathometer.runs.lifecycle import Lock, ResumableRun, locked_folder, remove_record, unfinished_record
from fathometer.runs.options import RunKind
from fathometer.runs.task_loop import Volumes, run_tasks
from fathometer.seismic.history.opening import choose
from fathometer.seismic.page.panels import panels
from fathometer.seismic.rtm.dependence import compared, hashed_files
from fathometer.seismic.rtm.image_sum import image_sum_bytes, summed_image
from fathometer.seismic.rtm.products import is_product, product_files, write_products
from fathometer.seismic.rtm.results import (
    MigrationWork,
    failed_shots,
    illumination_facts,
    migration_results,
    task_errors,
)
from fathometer.seismic.rtm.worker import ShotWorkers, history_request, steps_with
from fathometer.seismic.setup.emptiness import emptiness_of_images, ranges_of
from fathometer.seismic.setup.fingerprint import MigrationInput
from fathometer.seismic.setup.finished_run import publish
from fathometer.seismic.setup.layout import SurveyLayout
from fathometer.seismic.setup.rank_groups import largest_first
from fathometer.seismic.setup.results_files import earlier_outcome, remove_outdated
from fathometer.seismic.setup.run_files import prepared, protect_inputs
from fathometer.seismic.setup.run_record import finish, known_run
from fathometer.seismic.setup.setup import Setup, on_shot
from fathometer.seismic.setup.tuned import start_tiling, tuned_for
from fathometer.seismic.shots.offsets import ALL, volumes_of
from fathometer.seismic.survey import Survey
from fathometer.storage.folder import results_folder
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import check_writable

MIGRATION = RunKind(
    name="migration",
    task="shot",
    input="survey, files",
    contribution="partial image",
    volumes="images",
    repairable="traces",
    result=ALL,
    not_finite="[wavelet] or traces are too strong",
)

NOTHING = (
    "no wave of a source met one of a trace; see [propagation] duration, [acquisition] mute and conditioning, "
    "[imaging] aperture, and the traces themselves"
)


def run_migrate(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Migrate the survey's gathers; write the image, what derives from it, a picture and the record.

    Raises InputError and FathometerError, the same on all ranks.
    """
    survey.require_acoustic("migrate")
    if survey.acquisition.gathers is None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: missing; `migrate` needs recorded shots (SEG-Y); "
            "`fathometer model` makes them from a geometry"
        )
    output, files = survey.output_directory, product_files(survey)
    with ledger.phase("set up"):
        protect_inputs(survey, files.values())
        with naming(f"{survey.path}: [storage] write"):
            check_writable(files[ALL], Strategy.of(survey.storage.write), comm.size)
    with (
        results_folder(output, comm),
        watched(output, survey.parallel.patience, comm, context.say),
        locked_folder(output, context.options, MIGRATION, files.values(), comm) as lock,
    ):
        earlier: Mapping[str, Any] = {}
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                earlier = earlier_files(output, context.options)
        with MigrationInput(survey, compared(survey), comm, context, earlier) as inputs:

            def begin(layout: SurveyLayout) -> None:
                tasks = {shot.index: (shot,) for shot in layout.acquisition.shots}
                inputs.begin(layout.acquisition, tasks, partial(hashed_files, layout))

            setup = prepared(survey, comm, context, True, image_sum_bytes, before_reading=begin)
            with ledger.phase("set up"):
                if context.options.overwrite and any(allgather(comm, comm.rank == 0 and has_journal(output))):
                    with ledger.Ledger():  # none of its work is the run's
                        check_startable(setup, context)
            inputs.finish()
        return _migrate(setup, context, lock, inputs)


def _migrate(setup: Setup, context: Context, lock: Lock | None, inputs: MigrationInput) -> Outcome:
    survey, comm, output = setup.survey, setup.comm, setup.survey.output_directory
    files, shots = product_files(survey), [shot.index for shot in setup.acquisition.shots]
    run = ResumableRun(output, MIGRATION, shots, inputs, lock, comm, context)
    if run.journal.finished:
        return earlier_outcome(output, files, comm, context)
    with unfinished_record(output, comm, partial(known_run(setup).partial_record, context)):
        work = run.all_tasks(partial(migrate_shots, setup, context))  # shots to groups
        if work is None:
            return Outcome({}, {})
        with ledger.phase("sum images"):  # groups to sum
            journal = run.complete(task_errors(work))
            inputs.require_unchanged(journal.inputs)
            images, level = summed_image(setup, journal)
        with ledger.phase("write image"):  # sum to image
            outdated = results_of(output)
            remove_record(survey.output_directory, comm)
        empty = emptiness_of_images(ranges_of(images, comm), NOTHING)
        write_products(setup, files, images)
        tuned, done, facts, reasons = migration_results(setup, journal, work, inputs.record())
        facts |= empty.facts(setup.warnings)
        facts |= illumination_facts(level, facts.get("notes", setup.warnings))
        outcome, shown = finish(setup, context, files, panels, tuned, done, facts, [*reasons, *empty.reasons])
    publish(comm, context, outcome, shown)
    with ledger.phase("finish"), collective_errors(comm):
        if comm.rank == 0:
            conclude(journal)
            remove_outdated(survey, outdated, outcome.files.values(), is_product)
    return replace(outcome, failed=failed_shots(setup, journal), nothing=empty.nothing)


def migrate_shots(setup: Setup, context: Context, journal: Journal) -> MigrationWork:
    """Collective. Migrate the shots that are not done, each by one group of ranks; returns when all groups are ready.

    Raises FathometerError and InputError, on all ranks of a group, for what no shot of its own is at fault for.
    """
    comm, layout = setup.comm, setup.layout
    group, ranks = split_into_groups(comm, setup.ranks_per_shot)
    shots = {shot.index: shot for shot in largest_first(layout)}
    workers = ShotWorkers(setup, ranks, shots, context)
    volumes = Volumes(volumes_of(setup.survey.imaging), setup.grid.shape, layout.dtype.itemsize)
    left = len(journal.left(shots))
    with Progress(left, now=now, rank=comm.rank, quiet=context.quiet, label="migrate", task="shot") as progress:
        tasks = run_tasks(list(shots), workers, journal, volumes, comm, group, ranks, progress, 2 * setup.time.steps)
    return MigrationWork(tasks, workers.history, workers.updates, workers.tuned, workers.choice)


def check_startable(setup: Setup, context: Context) -> None:
    """Collective. Choose tiling and history for the shot that takes most, before anything of an earlier migration is
    removed.

    Raises InputError where a migration could not begin.
    """
    _, ranks = split_into_groups(setup.comm, setup.ranks_per_shot)
    [shot] = setup.layout.largest.acquisition.shots
    of_shot = setup if setup.model is not None else on_shot(setup, shot, ranks)
    wavefield = of_shot.propagator()
    try:
        quiet = replace(context, say=lambda line: None)
        start_tiling(of_shot, wavefield, quiet, of_shot.time.every)
        choice = choose(history_request(of_shot, wavefield, context))
        tuned_for(of_shot, wavefield, quiet, steps_with(of_shot, choice), 2)
    finally:
        wavefield.close()
    barrier(setup.comm)
