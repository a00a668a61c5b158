"""`fathometer model`: from a survey's geometry, described or recorded, to its synthetic gathers."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.early_signals import INTERRUPTED
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.heartbeat import watched
from fathometer.runs.context import Context, Outcome
from fathometer.runs.foreign import require_own_results
from fathometer.runs.lifecycle import remove_record, unfinished_record
from fathometer.runs.results_lock import remove_unfinished, results_lock
from fathometer.seismic.modelling.shot import model_shots
from fathometer.seismic.modelling.trace_files import TraceFiles
from fathometer.seismic.page.panels import panels
from fathometer.seismic.setup.cone import Cone, Saved, record
from fathometer.seismic.setup.emptiness import TraceRanges
from fathometer.seismic.setup.finished_run import publish
from fathometer.seismic.setup.run_files import prepared, protect_inputs, refuse_migration, shot_progress
from fathometer.seismic.setup.run_record import WorkDone, finish, known_run
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.setup.tuned import set_threads, tuned_by, tuned_for
from fathometer.seismic.shots.modelled import NAME, ModelledTraces, modelled_traces
from fathometer.seismic.survey import Survey
from fathometer.seismic.waves.checked_steps import steps_at_a_time
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.folder import results_folder


def run_model(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Model the survey's geometry, or that of its gathers, and write the traces (shots/modelled.py).

    Raises InputError and FathometerError, the same on all ranks.
    """
    output = survey.output_directory
    with ledger.phase("set up"):
        protect_inputs(survey, [output / f"{NAME}.segy"])
    refuse_migration(survey, comm)
    with (
        results_folder(output, comm),
        watched(output, survey.parallel.patience, comm, context.say, INTERRUPTED),
        results_lock(output, comm, required=False) as locked,
    ):
        return _model(survey, comm, context, locked)


def _model(survey: Survey, comm: MPI.Intracomm, context: Context, locked: bool) -> Outcome:
    """locked: this rank holds the folder's lock."""
    setup = prepared(survey, comm, context, imaging=False)
    with ledger.phase("set up"), collective_errors(comm):
        modelled = modelled_traces(setup.acquisition, survey.output_directory)
        protect_inputs(survey, modelled.files, setup.acquisition.paths)
        if comm.rank == 0:
            require_own_results(survey.output_directory, modelled.files, context.options)
        if locked:
            remove_unfinished(survey.output_directory, modelled.files)
    with unfinished_record(survey.output_directory, setup.comm, partial(known_run(setup).partial_record, context)):
        with ledger.phase("set up"):
            wavefield = setup.propagator()
        shots = len(setup.acquisition.shots)
        at_a_time = steps_at_a_time(setup.grid, setup.comm.size, setup.time.steps)
        set_threads(setup, wavefield, context)
        tuned = tuned_for(setup, wavefield, context, at_a_time, shots)
        if wavefield.trials is not None:
            wavefield.trials.expect(shots * (setup.time.steps // at_a_time))
        saved, ranges = Saved(), TraceRanges()
        _model_shots(setup, wavefield, saved, modelled, ranges, context)
        tuned = tuned_by(wavefield, tuned, context)
        with ledger.phase("finish"):
            wavefield.close()
        empty = ranges.emptiness()
        done, facts = WorkDone(shots, saved.computed), {"cone": record({"source": saved})} | empty.facts(setup.warnings)
        outcome, shown = finish(setup, context, {"shots": modelled.result}, panels, tuned, done, facts, empty.reasons)
    publish(setup.comm, context, outcome, shown)
    return outcome


def _model_shots(
    setup: Setup,
    wavefield: Propagator,
    saved: Saved,
    modelled: ModelledTraces,
    ranges: TraceRanges,
    context: Context,
) -> None:
    """Collective. All shots into their files; `saved` gets the updates of cells, `ranges` on rank 0 the traces."""
    comm, cone = setup.comm, Cone.of(setup)
    with ExitStack() as stack:
        files = None
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
            if comm.rank == 0:
                files = stack.enter_context(
                    TraceFiles(setup.acquisition, modelled, setup.layout.place, setup.survey.propagation.top)
                )
        with shot_progress(setup, context, "model") as progress:
            for shot, all_traces in model_shots(setup, wavefield, cone, saved, progress):
                with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
                    if files is not None and all_traces is not None:
                        files.write(shot, all_traces)
                        ranges.add(shot.name, {"the traces' pressure": all_traces})
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
            remove_record(setup.survey.output_directory, comm)
            stack.close()  # the files appear
