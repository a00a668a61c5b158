"""The run of a model in time: begun or resumed, stepped, written, ended. What it computes is the application's.

begin, or go on from a state      restart_folder.py
for each step:                    step; a look; fields and states when they are due, after some minutes, and when a
                                  signal asks the run to end
at the end:                       fields, a state, picture, record, page
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.base.signals import between_steps
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.record.envelope import Figure
from fathometer.runs.context import Context, Outcome
from fathometer.runs.field_series import FOLDER as FIELDS_FOLDER
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.restart_folder import RestartFolder
from fathometer.runs.restart_hint import END_SECONDS
from fathometer.runs.restart_hint import FOLDER as RESTART_FOLDER
from fathometer.runs.restartable_run import restartable_run
from fathometer.runs.simulation import ModelInTime, Simulation
from fathometer.runs.state_arrays import load, save
from fathometer.runs.state_clock import StateClock
from fathometer.runs.value_range import joined, still_fields

if TYPE_CHECKING:
    from mpi4py import MPI


def simulate(application: ModelInTime, input: Any, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Run a model in time; fields, a state, picture and record are on disk afterwards.

    Raises InputError and FathometerError, the same on all ranks.
    """
    with ledger.phase("set up"):
        require_memory({"case": application.case_bytes(input)}, usable_memory(comm), comm)
    with ledger.phase("set up"), collective_errors(comm):
        application.require(comm)
        case = application.case_of(input)
        keys = input.resolved() | {f"{application.kind}_file": str(input.path)}
        files = list(application.files(input).values())
        run = KnownRun(application.name, keys, input.output_directory, files, case.facts())
    with restartable_run(
        files,
        run.output,
        application.results,
        (FIELDS_FOLDER, RESTART_FOLDER),
        partial(run.partial_record, context),
        comm,
        context,
    ):
        with ledger.phase("set up"):
            model = application.simulation(case, comm)
        try:
            return _run(application, model, run, case.state_input(), context)
        finally:
            model.fields.close()
            model.close()


def _run(
    application: ModelInTime, model: Simulation, run: KnownRun, state_input: Mapping[str, Any], context: Context
) -> Outcome:
    comm = model.comm
    with ledger.phase("set up"):
        states = RestartFolder(run.output, state_input, ("steps", "time", "written", *model.KEPT), comm)
        _begin(model, states, context)
        for line in model.told():
            context.say(line)
    with between_steps(END_SECONDS) as asked_to_end:
        if not model.fields.written:
            _write_fields(model)
        with ledger.phase("set up"):
            remove_record(run.output, comm)
        _advance(application, model, partial(_write_state, application, model, states), asked_to_end, context)
        if not model.fields.is_written(model.steps, model.time):
            _write_fields(model)
        _write_state(application, model, states)
        model.fields.close()
    files = dict(model.files)
    with ledger.phase("draw"), collective_errors(comm):
        if comm.rank == 0:
            files["picture"] = model.draw()
    return _finish(application, model, run, files, context)


def _begin(model: Simulation, states: RestartFolder, context: Context) -> None:
    """The state at the beginning, or one that was written."""
    if context.options.resume:
        arrays = model.arrays()
        values = states.read(
            lambda folder: load(folder, arrays, model.comm),
            lambda values: model.fields.require(values["written"]),
            context.options.resume_from,
        )
        if values is not None:
            model.steps = model.earlier = values["steps"]
            model.time = values["time"]
            model.restore(values)
            model.resume()
            model.fields.begin(values["written"])
            context.say(f"resumed at {model.time:g} {model.TIME[0]}, after {model.steps} steps")
            return
        context.say("nothing to resume: begins anew")
    states.remove()
    model.begin()
    model.fields.begin()


def _advance(
    application: ModelInTime,
    model: Simulation,
    write_state: Callable[[], None],
    asked_to_end: Callable[[], bool],
    context: Context,
) -> None:
    """Take all steps that are left. A state is written when all results up to its step are on disk."""
    clock = StateClock(asked_to_end, model.comm)
    began = model.share
    with (
        Progress(
            1, now=now, rank=model.comm.rank, quiet=context.quiet, label=application.kind, task="simulation"
        ) as display,
        ledger.phase("between time steps"),
        # What comes apart overflows first: the model finds it and says so, and NumPy would warn beside.
        np.errstate(over="ignore", invalid="ignore", divide="ignore"),
    ):
        display.start_task(0, 1)
        while model.more:
            try:
                model.step()
            except FathometerError:
                if model.sound:
                    write_state()
                raise
            fields = model.fields_due()
            kept = model.steps % model.state_steps == 0
            late, ends = clock.after_step()
            state = kept or late or ends
            model.look(fields or kept or not model.more, state)
            if fields:
                _write_fields(model)
            if state and model.more:
                write_state()
                clock.written()
                if ends:
                    raise KeyboardInterrupt
            display.advance(1, (model.share - began) / (1.0 - began))
        display.finish_task()


def _write_fields(model: Simulation) -> None:
    with ledger.phase("write fields"):
        model.write_fields()


def _write_state(application: ModelInTime, model: Simulation, states: RestartFolder) -> None:
    with ledger.phase("write restart"):
        values = {"steps": model.steps, "time": model.time, "written": model.fields.written} | model.values()
        title: dict[str, Any] = {"title": f"state of a run of {application.name}", model.TIME[1]: model.time}
        states.write(values, lambda folder: save(folder, model.arrays(), title | {"steps": model.steps}, model.comm))


def _finish(
    application: ModelInTime, model: Simulation, run: KnownRun, files: Mapping[str, Path], context: Context
) -> Outcome:
    """Collective. Write run.json, and then the page, on rank 0."""
    doubts: list[str] = []

    def gather() -> dict[str, Any]:
        still, why = still_fields(joined(model.fields.ranges, model.comm), model.steady())
        doubts.extend(why)
        return {
            model.TIME[1]: model.time,
            "steps": model.steps,
            "earlier_steps": model.earlier,
            "counts": model.counts,
            "course": model.rows,
            "balance": model.balance(),
            "notes": [*model.notes(), *still],
        } | model.results()

    def tell(told: dict[str, Any], account: dict[str, Any]) -> tuple[list[Figure], dict[str, Any]]:
        return model.figures(account), told | model.performance(account)

    return run.finish(files, context, model.comm, gather, tell, application.panels_of, lambda told: doubts)
