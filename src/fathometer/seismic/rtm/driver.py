"""`fathometer migrate`: reverse time migration of a survey, from its gathers to its image.

    shots to groups:    each group of ranks takes the next shot and migrates it (shot.py), until none is left
    groups to sum:      the partial images of all shots are added up (image_sum.py)
    sum to image:       imaging condition, image, Laplacian-filtered image, illumination, picture (products.py)

A journal in the folder of the results remembers each finished shot (runs/).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError, naming
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.collectives import allgather, barrier, collective_errors
from fathometer.parallel.groups import split_into_groups
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.held_sums import HeldSums
from fathometer.runs.journal import Journal
from fathometer.runs.journal_folder import has_journal
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.options import RunKind
from fathometer.runs.task_run import do_tasks
from fathometer.runs.tasks import GroupWork, Volumes
from fathometer.seismic.history.opening import choose
from fathometer.seismic.page.panels import panels
from fathometer.seismic.rtm.dependence import compared
from fathometer.seismic.rtm.image_sum import image_sum_bytes, summed_image
from fathometer.seismic.rtm.products import is_product, product_files, write_products
from fathometer.seismic.rtm.results import (
    failed_shots,
    illumination_facts,
    migration_results,
)
from fathometer.seismic.rtm.worker import ShotWorkers, history_request, steps_with
from fathometer.seismic.setup.conditioned import conditioned_notes
from fathometer.seismic.setup.emptiness import emptiness_of_images, ranges_of
from fathometer.seismic.setup.fingerprint import SurveyInput
from fathometer.seismic.setup.input_files import model_and_wavelet
from fathometer.seismic.setup.rank_groups import largest_first
from fathometer.seismic.setup.run_files import prepared, protect_inputs
from fathometer.seismic.setup.run_record import finish, known_run
from fathometer.seismic.setup.setup import Setup, on_shot
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.setup.survey_tasks import SurveyTasks
from fathometer.seismic.setup.tuned import start_tiling, tuned_for
from fathometer.seismic.shots.offsets import ALL, volumes_of
from fathometer.seismic.survey import Survey
from fathometer.storage.volumes.registry import writable_suffixes
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import check_stored, check_writable

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
    return do_tasks(Migration(survey, comm, context))


class Migration(SurveyTasks):
    """The shots of a migration; see Tasks."""

    KIND, LABEL = MIGRATION, "migrate"
    inputs: SurveyInput
    setup: Setup

    def check(self) -> None:
        """There are gathers and acoustic waves, results replace no input, and their format can be written so."""
        survey = self.survey
        survey.require_acoustic("migrate")
        if survey.acquisition.gathers is None:
            raise InputError(
                f"{survey.path}: [acquisition] gathers: missing; `migrate` needs recorded shots (SEG-Y); "
                "`fathometer model` makes them from a geometry"
            )
        protect_inputs(survey, self.files.values())
        with naming(f"{survey.path}: [storage] write"):
            check_writable(self.files[ALL], Strategy.of(survey.storage.write), self.comm.size)

    def prepare(self, earlier: Mapping[str, Any]) -> None:
        """Read the model and what there is of traces but their samples; choose how shots are migrated."""
        survey, comm, context = self.survey, self.comm, self.context
        with SurveyInput(survey, compared(survey), comm, context, earlier) as self.inputs:

            def begin(layout: SurveyLayout) -> None:
                tasks = {shot.index: (shot,) for shot in layout.acquisition.shots}
                self.inputs.begin(layout.acquisition, tasks, partial(model_and_wavelet, survey, layout.files))

            self.setup = prepared(survey, comm, context, True, image_sum_bytes, before_reading=begin)
            with ledger.phase("set up"):
                if context.options.overwrite and any(allgather(comm, comm.rank == 0 and has_journal(self.output))):
                    with ledger.Ledger():  # none of its work is the run's
                        check_startable(self.setup, context)
            image = volume_info(self.setup.grid, self.setup.layout.dtype, "")
            with ledger.phase("set up"), collective_errors(comm), naming(f"{survey.path}: [storage] write"):
                check_stored(self.files[ALL], image, Strategy.of(survey.storage.write))
            self.inputs.finish()
        self._shots = {shot.index: shot for shot in largest_first(self.setup.layout)}

    @property
    def files(self) -> dict[str, Path]:
        """Images, illumination and picture."""
        return product_files(self.survey)

    @property
    def numbers(self) -> Sequence[int]:
        """Indices of the shots, those first that take most."""
        return list(self._shots)

    @property
    def volumes(self) -> Volumes:
        """Images of all offsets or their bins, and the illumination."""
        names = volumes_of(self.survey.imaging)
        return Volumes(names, self.setup.grid.shape, self.setup.layout.dtype.itemsize)

    @property
    def ranks_per_task(self) -> int:
        """Ranks that share the grid of a shot."""
        return self.setup.ranks_per_shot

    @property
    def steps(self) -> int:
        """Time steps of source and receivers."""
        return 2 * self.setup.time.steps

    @property
    def known(self) -> KnownRun:
        """What is known of the run before its end."""
        return known_run(self.setup)

    def worker(self, ranks: MPI.Intracomm, left: int) -> ShotWorkers:
        """Who migrates shots in a group of ranks."""
        if self.setup.held_bytes:
            self.held = HeldSums(self.volumes.names, self.volumes.shape)
        return ShotWorkers(self.setup, ranks, self._shots, self.context)

    def combine(self, journal: Journal) -> None:
        """Sum the partial images."""
        self._images, self._level = summed_image(self.setup, journal, self.held)
        self.held = None

    def write(self, journal: Journal, work: Sequence[GroupWork]) -> tuple[Outcome, list[Panel]]:
        """Write image, what derives from it, picture and record."""
        setup, images, files = self.setup, self._images, self.files
        with ledger.phase("write image"):
            remove_record(self.output, self.comm)
        empty = emptiness_of_images(ranges_of(images, self.comm), NOTHING)
        empty = empty.with_notes(conditioned_notes(setup.acquisition, self.comm))
        write_products(setup, files, images)
        tuned, done, facts, reasons = migration_results(setup, journal, work, self.inputs.record())
        facts |= empty.facts(setup.warnings)
        facts |= illumination_facts(self._level, facts.get("notes", setup.warnings))
        reasons += empty.reasons
        outcome, shown = finish(setup, self.context, files, panels, tuned, done, facts, reasons)
        return replace(outcome, failed=failed_shots(setup, journal), nothing=empty.nothing), shown

    def replaceable(self, kind: str, path: Path) -> bool:
        """Images and what derives from them; no other volume is in a record that a run has written."""
        return is_product(kind) and path.suffix in writable_suffixes()


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
