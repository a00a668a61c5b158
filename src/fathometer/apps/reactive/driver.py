"""`fathometer reactive`: a reactive flow from its input file to fields, restart files, picture and record.

flow file to case:     chemistry, waters, regions, sides (case.py)
case to solver:        the state of this rank's cells (solver/)
for each step:         Newton's method; results at their times, restart files now and then, and when a signal asks
                       the run to end
at the end:            fields, restart file, picture, record, page
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from fathometer.apps.reactive.case import Case, case_of
from fathometer.apps.reactive.course import COUNTS, Course
from fathometer.apps.reactive.fields import DESCRIPTION, CellState, FieldFiles, require
from fathometer.apps.reactive.fields import FOLDER as FIELDS_FOLDER
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.apps.reactive.picture import PICTURE, draw
from fathometer.apps.reactive.restart import Progress, RestartFiles
from fathometer.apps.reactive.results import finish, known
from fathometer.apps.reactive.solver.memory import case_bytes
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress as Display
from fathometer.base.signals import between_steps
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.restart_hint import END_SECONDS
from fathometer.runs.restart_hint import FOLDER as RESTART_FOLDER
from fathometer.runs.restartable_run import restartable_run
from fathometer.runs.state_clock import StateClock

if TYPE_CHECKING:
    from fathometer.apps.reactive.solver.problem import ReactiveSolver, Step
    from fathometer.apps.reactive.solver.stepping import TimeSteps

SHOWN_STEPS = 1000  # progress is told in so many parts of the simulated time


def run_reactive(file: FlowFile, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Run a reactive flow; fields, restart file, picture and record are on disk afterwards.

    Raises InputError and FathometerError, the same on all ranks.
    """
    with ledger.phase("set up"):
        require_memory({"case": case_bytes(file.grid.cells)}, usable_memory(comm), comm)
    with ledger.phase("set up"), collective_errors(comm):
        from fathometer.apps.reactive.solver.petsc import require_petsc

        require_petsc(comm)
        case = case_of(file)
        run = known(case)
    output = file.output_directory
    with restartable_run(
        run.input_files,
        output,
        (PICTURE, DESCRIPTION),
        (FIELDS_FOLDER, RESTART_FOLDER),
        partial(run.partial_record, context),
        comm,
        context,
    ):
        return _run(case, run, comm, context)


def _run(case: Case, run: KnownRun, comm: MPI.Intracomm, context: Context) -> Outcome:
    file, output = case.file, case.file.output_directory
    with ledger.phase("set up"):
        from fathometer.apps.reactive.solver.petsc import options_of
        from fathometer.apps.reactive.solver.problem import ReactiveSolver
        from fathometer.apps.reactive.solver.stepping import TimeSteps

        keys = file.newton
        solver = ReactiveSolver(
            case.flow,
            comm,
            options_of(file.petsc.options),
            tolerance=keys.tolerance,
            most_iterations=keys.most_iterations,
        )
        steps = TimeSteps.of(file.time.model_dump(), output_times(file))
        restart = RestartFiles(output, state_input(case), case.flow.shape, solver.lo, comm)
        course, times = _begin(case, solver, steps, restart, context)
        fields = FieldFiles(file, case.system, solver.lo, comm, times)
        for line in summary(case, solver, comm):
            context.say(line)
    with between_steps(END_SECONDS) as asked_to_end:
        if not fields.times:
            _write_fields(fields, course.time, solver)
        with ledger.phase("set up"):
            remove_record(output, comm)
        _advance(case, solver, steps, course, fields, restart, StateClock(asked_to_end, comm), context)
        if fields.times[-1] != course.time:
            _write_fields(fields, course.time, solver)
        _write_restart(restart, course, steps, fields, solver)
    files: dict[str, Path] = {"fields": output / DESCRIPTION}
    with ledger.phase("draw"), collective_errors(comm):
        if comm.rank == 0:
            files["picture"] = draw(case, fields)
    return finish(run, case, solver, course, fields, files, context)


def _begin(
    case: Case, solver: ReactiveSolver, steps: TimeSteps, restart: RestartFiles, context: Context
) -> tuple[Course, list[float]]:
    """The state at the beginning, or that of a restart file; the times of fields that are there."""
    with collective_errors(solver.comm):
        ln_c, minerals = case.initial(solver.lo, solver.hi)
    if context.options.resume:
        there = partial(require, case.file, case.system)
        earlier = restart.read(ln_c, minerals, there, context.options.resume_from)
        if earlier is not None:
            if earlier.time > steps.end:
                raise InputError(
                    f"{case.file.path}: [time] end: found {steps.end:g} s, but the run to be resumed is at "
                    f"{earlier.time:g} s; allowed: from that on"
                )
            steps.restore(earlier.stepping)
            solver.set_state(ln_c, minerals)
            course = Course(
                earlier.time, earlier.steps, dict(earlier.counts), list(earlier.moles), list(earlier.outflow)
            )
            course.earlier = earlier.steps
            context.say(f"resumed at {earlier.time:g} s, after {earlier.steps} steps")
            return course, list(earlier.times)
        context.say("nothing to resume: begins anew")
    restart.remove()
    solver.set_state(ln_c, minerals)
    moles = [float(value) for value in solver.moles()]
    return Course(moles=moles, outflow=[0.0] * len(moles)), []


def _advance(
    case: Case,
    solver: ReactiveSolver,
    steps: TimeSteps,
    course: Course,
    fields: FieldFiles,
    restart: RestartFiles,
    clock: StateClock,
    context: Context,
) -> None:
    """Take all steps that are left. A state is written when all results up to its step are on disk."""
    from fathometer.apps.reactive.solver.stepping import advance

    time, comm = case.file.time, solver.comm
    wanted = set(output_times(case.file))
    taken = advance(solver, steps)
    with (
        Display(1, now=now, rank=comm.rank, quiet=context.quiet, label="flow", task="simulation") as display,
        ledger.phase("between time steps"),
    ):
        display.start_task(0, SHOWN_STEPS)
        shown = 0
        while time.most_steps is None or course.count < time.most_steps:
            try:
                step = next(taken, None)
            except FathometerError:
                _write_restart(restart, course, steps, fields, solver)
                raise
            if step is None:
                break
            _count(course, steps.time, step, solver)
            if steps.time in wanted:
                _write_fields(fields, steps.time, solver)
            late, ends = clock.after_step()
            if late or ends or course.count % case.file.output.restart_steps == 0:
                _write_restart(restart, course, steps, fields, solver)
                clock.written()
            if ends:
                raise KeyboardInterrupt
            reached = int(SHOWN_STEPS * min(1.0, steps.time / time.end))
            display.advance(reached - shown)
            shown = reached
        display.finish_task()


def _count(course: Course, time: float, step: Step, solver: ReactiveSolver) -> None:
    course.count += 1
    row = {
        "time_seconds": time,
        "step_seconds": step.seconds,
        "newton_iterations": step.newton,
        "linear_iterations": step.linear,
        "cut_steps": step.cuts,
    }
    course.steps.append(row)
    course.time = time
    for name in COUNTS:
        course.counts[name] += row[name]
    course.outflow = [before + now for before, now in zip(course.outflow, solver.outflow(), strict=True)]


def _write_fields(fields: FieldFiles, time: float, solver: ReactiveSolver) -> None:
    with ledger.phase("write fields"), ledger.file("fields", "write"):
        ln_activity, strength = solver.species()
        fields.write(time, CellState(solver.ln_c, solver.totals(), solver.minerals, ln_activity, strength))


def _write_restart(
    restart: RestartFiles, course: Course, steps: TimeSteps, fields: FieldFiles, solver: ReactiveSolver
) -> None:
    with ledger.phase("write restart"):
        progress = Progress(
            course.time, course.count, steps.state(), fields.times, course.counts, course.outflow, course.moles
        )
        restart.write(progress, solver.ln_c, solver.minerals)


def output_times(file: FlowFile) -> list[float]:
    """Times of results, s, the end included."""
    end, keys = file.time.end, file.output
    times = list(keys.times or ())
    if keys.every is not None:
        times = [n * keys.every for n in range(1, int(np.ceil(end / keys.every * (1 - 1e-12))))]
    return [time for time in times if time < end] + [end]


def state_input(case: Case) -> dict[str, Any]:
    """What of the input a restart file depends on: all but times, where results go and how it is solved.

    The chemistry is that of the file's numbers, not of its name; fields are those that earlier times have.
    """
    values = case.file.resolved()
    kept = ("grid", "chemistry", "medium", "region", "water", "initial", "boundary", "flow", "transport")
    system = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(case.system).items()
    }
    return (
        {name: values.get(name) for name in kept}
        | {"output": {"fields": list(case.file.output.fields)}}
        | {"constants": system}
    )


def summary(case: Case, solver: ReactiveSolver, comm: MPI.Intracomm) -> Iterator[str]:
    """What a user wants to know before the run, a line each."""
    grid, system = case.file.grid, case.system
    yield (
        f"{' x '.join(map(str, grid.cells))} cells, {len(system.primary)} components, {len(system.secondary)} further "
        f"species, {len(system.minerals)} mineral{'s'[: len(system.minerals) != 1]}; "
        f"{comm.size} rank{'s'[: comm.size != 1]}"
    )
