"""`fathometer migrate-time`: Kirchhoff prestack time migration of a survey, from its gathers to an image in time.

    blocks to groups:   each group of ranks takes the next block of traces and sums it (worker.py), until none is left
    groups to sum:      the partial images of all blocks are added up, exactly
    sum to image:       image, fold, velocities, image in depth, picture (products.py)

A journal in the folder of the results remembers each finished block (runs/).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import naming
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import thread_counts
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.journal import Journal
from fathometer.runs.journal_folder import require_own
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.options import RunKind
from fathometer.runs.task_run import do_tasks
from fathometer.runs.tasks import GroupWork, Volumes
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
from fathometer.seismic.kirchhoff.time_layout import TimeLayout, compared, in_own_folder
from fathometer.seismic.kirchhoff.worker import STEPS, BlockCounts, BlockWorkers
from fathometer.seismic.setup.conditioned import conditioned_notes
from fathometer.seismic.setup.fingerprint import SurveyInput
from fathometer.seismic.setup.run_files import protect_inputs
from fathometer.seismic.setup.survey_tasks import SurveyTasks
from fathometer.seismic.shots.offsets import ALL
from fathometer.seismic.survey import Survey
from fathometer.storage.volumes.registry import writable_suffixes
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import check_stored, check_writable

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


def run_migrate_time(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Migrate the survey's gathers in time; write image, fold, velocities, a picture and the record.

    Raises InputError and FathometerError, the same on all ranks.
    """
    return do_tasks(TimeMigration(in_own_folder(survey), comm, context))


class TimeMigration(SurveyTasks):
    """The blocks of traces of a time migration; see Tasks."""

    KIND, LABEL = TIME_MIGRATION, "migrate"
    inputs: SurveyInput
    setup: TimeSetup

    def check(self) -> None:
        """Results replace no input, their format can be written so, and their folder is this user's."""
        protect_inputs(self.survey, self.files.values())
        require_own(self.output)
        with naming(f"{self.survey.path}: [storage] write"):
            check_writable(self.files[ALL], Strategy.of(self.survey.storage.write), self.comm.size)

    def prepare(self, earlier: Mapping[str, Any]) -> None:
        """Read velocities and what there is of traces but their samples."""
        survey, comm, context = self.survey, self.comm, self.context
        with SurveyInput(survey, compared(survey), comm, context, earlier) as self.inputs:

            def begin(layout: TimeLayout) -> None:
                self.inputs.begin(layout.acquisition, dict(enumerate(layout.blocks)), layout.velocities.files)

            self.setup = prepare(survey, comm, context, begin)
            image = volume_info(self.setup.layout.grid, np.dtype(np.float32), "")
            with ledger.phase("set up"), collective_errors(comm), naming(f"{survey.path}: [storage] write"):
                check_stored(self.files[ALL], image, Strategy.of(survey.storage.write))
            self.inputs.finish()

    @property
    def files(self) -> dict[str, Path]:
        """Images, fold, velocities, image in depth and picture."""
        return product_files(self.survey)

    @property
    def numbers(self) -> Sequence[int]:
        """Numbers of the blocks."""
        return range(len(self.setup.layout.blocks))

    @property
    def volumes(self) -> Volumes:
        """Images of all offsets or their bins, and the fold."""
        layout = self.setup.layout
        return Volumes(layout.volumes, layout.grid.shape, 4)

    @property
    def ranks_per_task(self) -> int:
        """Ranks that share the image of a block."""
        return self.setup.ranks_per_block

    @property
    def steps(self) -> int:
        """Parts of a block, for the display of progress."""
        return STEPS

    @property
    def known(self) -> KnownRun:
        """What is known of the run before its end."""
        return known_run(self.setup)

    def worker(self, ranks: MPI.Intracomm, left: int) -> BlockWorkers:
        """Who sums blocks in a group of ranks."""
        threads = thread_counts(self.survey.threads.model_dump(), self.context.binding, "[threads]")
        return BlockWorkers(self.setup.layout, ranks, threads)

    def combine(self, journal: Journal) -> None:
        """Sum the partial images, and divide by what the traces stand for."""
        self._rms = block_velocities(self.setup)
        self._images = summed(self.setup, journal, self._rms)

    def write(self, journal: Journal, work: Sequence[GroupWork]) -> tuple[Outcome, list[Panel]]:
        """Write image, what derives from it, picture and record."""
        setup, files = self.setup, self.files
        with ledger.phase("write image"):
            remove_record(self.output, self.comm)
        empty = emptiness(setup, self._images)
        facts, still = write_products(setup, files, self._images, self._rms)
        empty = empty.with_notes([*still, *conditioned_notes(setup.layout.acquisition, self.comm)])
        facts |= empty.facts(setup.layout.notes)
        done, identity = work_done(work), self.inputs.record()
        outcome, panels = finish(setup, self.context, files, done, facts, empty.reasons, journal, identity)
        return replace(outcome, failed=dict(sorted(journal.failed.items())), nothing=empty.nothing), panels

    def replaceable(self, kind: str, path: Path) -> bool:
        """Images and what derives from them; no other volume is in a record that a run has written."""
        return is_product(kind) and path.suffix in writable_suffixes()


def work_done(work: Sequence[GroupWork]) -> dict[str, Any]:
    """Samples, traces and blocks of all ranks."""
    counts: list[BlockCounts] = [rank.figures for rank in work]
    return {
        "samples": sum(rank.samples for rank in counts),
        "traces": sum(rank.traces for rank in counts),
        "blocks": sorted({block for rank in work for block in rank.done}),
    }
