"""`fathometer model` of elastic waves: from a survey's geometry to seismograms, snapshots and peak velocities.

for each shot that is not done:   time steps (shot.py); its traces and peak velocities are kept (runs/finished_tasks.py)
at the end:                       a trace file for each component, maps of peak velocities, record, page
"""

from __future__ import annotations

import math
import re
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.early_signals import INTERRUPTED
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.heartbeat import watched
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_tasks import FinishedTasks, finished_tasks
from fathometer.runs.foreign import require_own_results
from fathometer.runs.journal_folder import results_of
from fathometer.runs.lifecycle import remove_record, unfinished_record
from fathometer.runs.results_lock import remove_unfinished
from fathometer.seismic.elastic.dependence import depends_on
from fathometer.seismic.elastic.fields import BY_NAME
from fathometer.seismic.elastic.page import panels
from fathometer.seismic.elastic.peak_map import COMPONENTS, gathered_peaks, peak_paths, write_peaks
from fathometer.seismic.elastic.products import trace_paths, write_traces
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.results import facts
from fathometer.seismic.elastic.setup import ElasticSetup, prepare_elastic
from fathometer.seismic.elastic.shot import model_shot
from fathometer.seismic.elastic.snapshots import SnapshotWriter, snapshot_paths, steps_between
from fathometer.seismic.setup.emptiness import TraceRanges
from fathometer.seismic.setup.finished_run import publish
from fathometer.seismic.setup.run_files import announce, protect_inputs, refuse_migration, shot_progress
from fathometer.seismic.setup.run_record import WorkDone, finish, known_run
from fathometer.seismic.setup.tuned import set_threads, tuned_by, tuned_for
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.seismic.waves.checked_steps import advances
from fathometer.storage import atomic
from fathometer.storage.folder import results_folder
from fathometer.storage.volumes.registry import remove_volume
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume
from fathometer.storage.volumes.writer import check_writable

PEAKS = "peak-velocity"  # what maps are called
NAMED = 10  # of the shots that are computed again
KINDS = ("shots ", "peak velocity ", "snapshots ")  # with which kinds of results begin
UNFINISHED = re.compile(rf"(?:snapshots|{PEAKS})(?:-shot-\d+)?-(?:{'|'.join((*BY_NAME, *COMPONENTS))})\.\w+@?")


def run_elastic(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Model the survey's geometry and write seismograms, snapshots, peak velocities and the record.

    Raises InputError and FathometerError, the same on all ranks.
    """
    output = survey.output_directory
    refuse_migration(survey, comm)
    with results_folder(output, comm), watched(output, survey.parallel.patience, comm, context.say, INTERRUPTED):
        with ledger.phase("set up"):
            setup = prepare_elastic(survey, comm)
            with collective_errors(comm):
                protect_inputs(survey, _results(setup).values())
                if comm.rank == 0:
                    require_own_results(output, _results(setup).values(), context.options)
                for path in _snapshots(setup, setup.run.acquisition.shots[0]):
                    check_writable(path, Strategy.of(survey.storage.write), comm.size)
            announce(setup.run, context)
            input = depends_on(setup, context)
        with (
            finished_tasks(output, input, "shot", context.options, comm) as finished,
            unfinished_record(output, comm, partial(known_run(setup.run).partial_record, context)),
        ):
            return _run(setup, finished, context)


def _run(setup: ElasticSetup, finished: FinishedTasks, context: Context) -> Outcome:
    run, comm, folder = setup.run, setup.comm, setup.survey.output_directory
    shots = run.acquisition.shots
    done = _whole(setup, finished, context)
    left = [shot for shot in shots if shot.index not in done]
    if len(left) < len(shots):
        context.say(f"resumed: {len(shots) - len(left)} of {len(shots)} shots are done")
    with ledger.phase("set up"):
        wavefield = setup.propagator()
        wavefield.watch_peaks(run.grid.pad[2][0])  # the free surface, or the model's first plane
    at_a_time = setup.steps_at_a_time
    set_threads(run, wavefield, context)
    tuned = tuned_for(run, wavefield, context, at_a_time, max(1, len(left)))
    if wavefield.trials is not None:
        stop = steps_between(setup.survey.snapshots)
        wavefield.trials.expect(len(left) * advances(run.time.steps, at_a_time, stop)[1])
    with ledger.phase("set up"), collective_errors(comm):
        if comm.rank == 0:
            _clear(setup)
    with shot_progress(run, context, "model") as progress:
        for shot in left:
            progress.start_task(shot.index, run.time.steps)
            with ledger.timeline(shot.name), ledger.phase("between time steps"):
                _model(setup, wavefield, shot, finished, progress)
            progress.finish_task()
    tuned = tuned_by(wavefield, tuned, context)
    with ledger.phase("finish"):
        wavefield.close()
    ranges, names = TraceRanges(), {shot.index: shot.name for shot in shots}

    def traces_of(shot: int) -> np.ndarray:
        traces: np.ndarray = finished.load(shot)["traces"]
        named = zip(setup.components, traces, strict=True)
        ranges.add(names[shot], {f"{name} of the traces": values for name, values in named})
        return traces

    with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
        if comm.rank == 0:
            write_traces(run, folder, setup.components, traces_of)
    with ledger.phase("write peak velocities"), collective_errors(comm):
        if comm.rank == 0:
            for shot in shots:
                title = "Peak ground velocity" + f", {shot.name}" * (len(shots) > 1)
                peaks, prefix = finished.load(shot.index)["peaks"], _prefix(setup, PEAKS, shot)
                ranges.add_map(f"the {prefix.replace('-', ' ')}", peaks)
                write_peaks(run.grid, peaks, folder, prefix, title, run.layout.place)
    work = WorkDone(len(left), float(len(left)) * run.time.steps * math.prod(run.grid.full_shape))
    empty = ranges.emptiness()
    found = facts(setup) | empty.facts(run.warnings)
    outcome, shown = finish(run, context, _results(setup), panels, tuned, work, found, empty.reasons)
    publish(comm, context, outcome, shown)
    return outcome


def _clear(setup: ElasticSetup) -> None:
    """On one rank: remove the record of an earlier run, whose snapshots are replaced from now on, of its results those
    that this run does not make, and what killed runs have left unfinished, also of other shots or fields."""
    survey, folder = setup.survey, setup.survey.output_directory
    outdated = results_of(folder)
    remove_unfinished(folder, _results(setup).values())
    atomic.remove_parts(folder, UNFINISHED)
    remove_record(folder, MPI.COMM_SELF)
    made = {path.resolve() for path in _results(setup).values()}
    for kind, path in outdated.items():
        own = kind.startswith(KINDS) and path.resolve().parent == folder.resolve()
        if own and path.resolve() not in made:
            with suppress(InputError):
                protect_inputs(survey, [path])
                remove_volume(path, folder)


def _model(
    setup: ElasticSetup, wavefield: ElasticPropagator, shot: Shot, finished: FinishedTasks, progress: Progress
) -> None:
    """Collective. One shot, with its snapshots; its traces and peak velocities are kept."""
    survey, run = setup.survey, setup.run
    with ExitStack() as opened:
        snapshots = None
        if survey.snapshots is not None:
            snapshots = opened.enter_context(
                SnapshotWriter(
                    run.grid,
                    run.block,
                    survey.snapshots,
                    run.time.steps,
                    run.time.dt,
                    run.time.first,
                    survey.output_directory,
                    _prefix(setup, "snapshots", shot),
                    Strategy.of(survey.storage.write),
                    run.comm,
                    run.layout.place,
                )
            )
        traces = model_shot(setup, wavefield, shot, snapshots, progress)
    with ledger.phase("gather traces"):
        peaks = gathered_peaks(wavefield)
    with ledger.phase("write traces"):
        found = {"traces": traces, "peaks": peaks}
        finished.keep(shot.index, {name: array for name, array in found.items() if array is not None})


def _prefix(setup: ElasticSetup, name: str, shot: Shot) -> str:
    """Of the files of a shot: with its number where there are several."""
    return name if len(setup.run.acquisition.shots) == 1 else f"{name}-shot-{shot.index + 1}"


def _results(setup: ElasticSetup) -> dict[str, Path]:
    """The files of the results, by kind."""
    survey, run = setup.survey, setup.run
    files = trace_paths(run.acquisition, survey.output_directory, setup.components)
    for shot in run.acquisition.shots:
        files |= peak_paths(survey.output_directory, _prefix(setup, PEAKS, shot))
    for shot in run.acquisition.shots:
        files |= {path.stem.replace("-", " "): path for path in _snapshots(setup, shot)}
    return files


def _snapshots(setup: ElasticSetup, shot: Shot) -> list[Path]:
    """The snapshot files of a shot."""
    survey, keys = setup.survey, setup.survey.snapshots
    if keys is None:
        return []
    prefix = _prefix(setup, "snapshots", shot)
    return list(snapshot_paths(setup.run.grid, keys, survey.output_directory, prefix).values())


def _whole(setup: ElasticSetup, finished: FinishedTasks, context: Context) -> set[int]:
    """Collective. The finished shots but those of which something is damaged or missing, with a note on these."""
    shots, grid = {shot.index: shot for shot in setup.run.acquisition.shots}, setup.run.grid

    def shapes_of(shot: int) -> dict[str, tuple[int, ...]]:
        if shot not in shots:
            return {}
        receivers, samples = len(shots[shot].receivers), setup.run.acquisition.samples
        return {"traces": (len(setup.components), receivers, samples), "peaks": (2, *grid.shape[:2])}

    with ledger.phase("set up"):
        again = set(finished.drop_damaged(shapes_of)) & shots.keys()
        missing: set[int] = set()
        if setup.comm.rank == 0:
            for shot in shots.values():
                if shot.index in finished.done and not all(_readable(path) for path in _snapshots(setup, shot)):
                    missing.add(shot.index)
        missing = setup.comm.bcast(missing)
    again |= missing
    if again:
        numbers = ", ".join(str(shot + 1) for shot in sorted(again)[:NAMED]) + ", …" * (len(again) > NAMED)
        context.say(f"note: results of finished shots are damaged or missing; computed again: {numbers}")
    return finished.done - missing


def _readable(path: Path) -> bool:
    """Whether a volume is there, its values as many as its header says."""
    try:
        open_volume(path.name, path.parent, steps=True).close()
    except FathometerError:
        return False
    return True
