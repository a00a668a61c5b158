"""`fathometer migrate-time`: Kirchhoff prestack time migration of a survey, from its gathers to an image in time.

    blocks to groups:   each group of ranks takes the next block of traces and sums it (worker.py), until none is left
    groups to sum:      the partial images of all blocks are added up, exactly
    sum to image:       image, fold, velocities, image in depth, picture (products.py)

A journal in the folder of the results remembers each finished block (runs/).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import naming
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.groups import split_into_groups
from fathometer.parallel.heartbeat import watched
from fathometer.parallel.threads import thread_counts
from fathometer.runs.context import Context, Outcome
from fathometer.runs.journal import Journal
from fathometer.runs.journal_folder import conclude, earlier_files, require_own, results_of
from fathometer.runs.lifecycle import Lock, ResumableRun, locked_folder, remove_record, unfinished_record
from fathometer.runs.options import RunKind
from fathometer.runs.task_loop import GroupWork, Volumes, run_tasks
from fathometer.seismic.kirchhoff.layout import TimeLayout, compared, in_own_folder
from fathometer.seismic.kirchhoff.products import (
    block_velocities,
    emptiness,
    is_product,
    product_files,
    summed,
    write_products,
)
from fathometer.seismic.kirchhoff.results import finish, known_run
from fathometer.seismic.kirchhoff.setup import TimeSetup, prepare
from fathometer.seismic.kirchhoff.worker import STEPS, BlockCounts, BlockWorkers
from fathometer.seismic.setup.fingerprint import MigrationInput
from fathometer.seismic.setup.finished_run import publish
from fathometer.seismic.setup.results_files import earlier_outcome, remove_outdated
from fathometer.seismic.setup.run_files import protect_inputs
from fathometer.seismic.shots.offsets import ALL
from fathometer.seismic.survey import Survey
from fathometer.storage.folder import results_folder
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import check_writable

TIME_MIGRATION = RunKind(
    name="time migration",
    task="block",
    input="survey, files",
    contribution="partial image",
    volumes="images",
    repairable="traces",
    result=ALL,
    not_finite="traces are too strong",
)


@dataclass
class BlockWork:
    """What a rank did: tasks of its group, what it counted."""

    tasks: GroupWork
    counts: BlockCounts


def run_migrate_time(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Migrate the survey's gathers in time; write image, fold, velocities, a picture and the record.

    Raises InputError and FathometerError, the same on all ranks.
    """
    survey = in_own_folder(survey)
    output, files = survey.output_directory, product_files(survey)
    with ledger.phase("set up"):
        protect_inputs(survey, files.values())
        require_own(output)
        with naming(f"{survey.path}: [storage] write"):
            check_writable(files[ALL], Strategy.of(survey.storage.write), comm.size)
    with (
        results_folder(output, comm),
        watched(output, survey.parallel.patience, comm, context.say),
        locked_folder(output, context.options, TIME_MIGRATION, files.values(), comm) as lock,
    ):
        earlier: Mapping[str, Any] = {}
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                earlier = earlier_files(output, context.options)
        with MigrationInput(survey, compared(survey), comm, context, earlier) as inputs:

            def begin(layout: TimeLayout) -> None:
                inputs.begin(layout.acquisition, dict(enumerate(layout.blocks)), layout.velocities.files)

            setup = prepare(survey, comm, context, begin)
            inputs.finish()
        return _migrate(setup, context, lock, inputs)


def _migrate(setup: TimeSetup, context: Context, lock: Lock | None, inputs: MigrationInput) -> Outcome:
    survey, comm, output = setup.survey, setup.comm, setup.survey.output_directory
    files, blocks = product_files(survey), list(range(len(setup.layout.blocks)))
    run = ResumableRun(output, TIME_MIGRATION, blocks, inputs, lock, comm, context)
    if run.journal.finished:
        return earlier_outcome(output, files, comm, context)
    with unfinished_record(output, comm, partial(known_run(setup).partial_record, context)):
        work = run.all_tasks(partial(migrate_blocks, setup, context))  # blocks to groups
        if work is None:
            return Outcome({}, {})
        with ledger.phase("sum images"):  # groups to sum
            errors = {block: error for rank in work for block, error in rank.tasks.errors.items()}
            journal = run.complete(errors)
            inputs.require_unchanged(journal.inputs)
            rms = block_velocities(setup)
            images = summed(setup, journal, rms)
        with ledger.phase("write image"):  # sum to image
            outdated = results_of(output)
            remove_record(survey.output_directory, comm)
        empty = emptiness(setup, images)
        facts, still = write_products(setup, files, images, rms)
        empty = empty.with_notes(still)
        facts |= empty.facts(setup.layout.notes)
        done, identity = work_done(work), inputs.record()
        outcome, panels = finish(setup, context, files, done, facts, empty.reasons, journal, identity)
    publish(comm, context, outcome, panels)
    with ledger.phase("finish"), collective_errors(comm):
        if comm.rank == 0:
            conclude(journal)
            remove_outdated(survey, outdated, outcome.files.values(), is_product)
    return replace(outcome, failed=dict(sorted(journal.failed.items())), nothing=empty.nothing)


def migrate_blocks(setup: TimeSetup, context: Context, journal: Journal) -> BlockWork:
    """Collective. Sum the blocks that are not done, each by one group of ranks; returns when all groups are ready.

    Raises FathometerError and InputError, on all ranks of a group, for what no block of its own is at fault for.
    """
    comm, layout = setup.comm, setup.layout
    group, ranks = split_into_groups(comm, setup.ranks_per_block)
    threads = thread_counts(setup.survey.threads.model_dump(), context.binding, "[threads]")
    workers = BlockWorkers(layout, ranks, threads)
    volumes = Volumes(layout.volumes, layout.grid.shape, 4)
    blocks = list(range(len(layout.blocks)))
    left = len(journal.left(blocks))
    with Progress(left, now=now, rank=comm.rank, quiet=context.quiet, label="migrate", task="block") as progress:
        tasks = run_tasks(blocks, workers, journal, volumes, comm, group, ranks, progress, STEPS)
    return BlockWork(tasks, workers.counts)


def work_done(work: Sequence[BlockWork]) -> dict[str, Any]:
    """Samples, traces and blocks of all ranks."""
    return {
        "samples": sum(rank.counts.samples for rank in work),
        "traces": sum(rank.counts.traces for rank in work),
        "blocks": sorted({block for rank in work for block in rank.tasks.done}),
    }
