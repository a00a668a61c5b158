"""`fathometer model`: from a survey's geometry to its synthetic gathers."""

from __future__ import annotations

import math
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.heartbeat import watched
from fathometer.runs.context import Context, Outcome
from fathometer.runs.lifecycle import unfinished_record
from fathometer.seismic.modelling.shot import model_shots, modelling_steps
from fathometer.seismic.setup.run_files import finish, prepared, protect_inputs, publish, remove_record, shot_progress
from fathometer.seismic.setup.run_record import WorkDone, partial_record
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.setup.tuned import tuned_for
from fathometer.seismic.survey import Survey
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.folder import results_folder
from fathometer.storage.traces.segy import GatherWriter


def run_model(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Model the survey's geometry and write its gathers to shots.segy."""
    if survey.acquisition.gathers is not None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: found; `model` needs a geometry (sources and receivers)"
        )
    path = survey.output_directory / "shots.segy"
    protect_inputs(survey, [path])
    patience = survey.parallel.patience
    with results_folder(survey.output_directory, comm), watched(survey.output_directory, patience, comm, context.say):
        return _model(survey, path, comm, context)


def _model(survey: Survey, path: Path, comm: MPI.Intracomm, context: Context) -> Outcome:
    setup = prepared(survey, comm, context, imaging=False)
    with unfinished_record(survey.output_directory, setup.comm, partial(partial_record, setup, context)):
        with ledger.phase("set up"):
            wavefield = setup.propagator()
        shots = len(setup.acquisition.shots)
        tuned = tuned_for(setup, wavefield, context, modelling_steps(setup.time), shots)
        _model_shots(setup, wavefield, path, context)
        with ledger.phase("finish"):
            wavefield.close()
        updates = math.prod(setup.grid.full_shape) * float(setup.time.steps) * shots
        outcome, shown = finish(setup, context, {"shots": path}, tuned, WorkDone(shots, updates))
    publish(setup, context, outcome, shown)
    return outcome


def _model_shots(setup: Setup, wavefield: Propagator, path: Path, context: Context) -> None:
    """Collective. All shots into the file `path`."""
    acquisition, comm = setup.acquisition, setup.comm
    traces = sum(len(shot.receivers) for shot in acquisition.shots)
    first = 0
    with ExitStack() as stack:
        writer = None
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
            if comm.rank == 0:
                writer = stack.enter_context(
                    GatherWriter(path, acquisition.samples, acquisition.sample_interval, traces)
                )
        with shot_progress(setup, context, "model") as progress:
            for shot, all_traces in model_shots(setup, wavefield, progress):
                with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
                    if writer is not None and all_traces is not None:
                        writer.write(first, shot.ffid, shot.source, shot.receivers, all_traces, shot.channel)
                first += len(shot.receivers)
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
            remove_record(setup.survey, comm)
            stack.close()  # the file appears
