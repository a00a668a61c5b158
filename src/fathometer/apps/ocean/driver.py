"""`fathometer ocean`: the circulation of an ocean from its input file to fields, restart files, picture and record.

ocean file to case:    bathymetry, forcing, initial state (case.py)
case to model:         the arrays of this rank's blocks (solver/)
for each step:         baroclinic part, barotropic solve, tracers; fields, a row of the time series, restart files
                       now and then, and when a signal asks the run to end
at the end:            fields, restart file, picture, record, page
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from fathometer.apps.ocean.barotropic.layout import Layout, cut
from fathometer.apps.ocean.case import Case, case_of, file_hashes
from fathometer.apps.ocean.course import COUNTS, Course
from fathometer.apps.ocean.fields import FOLDER as FIELDS_FOLDER
from fathometer.apps.ocean.fields import FieldFiles, require
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.ocean.picture import PICTURE, draw
from fathometer.apps.ocean.restart import Progress, RestartFiles
from fathometer.apps.ocean.results import finish, known
from fathometer.apps.ocean.solver.memory import case_bytes, model_bytes
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
    from fathometer.apps.ocean.solver.model import OceanModel, Step


def run_ocean(file: OceanFile, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Run an ocean; fields, restart file, picture and record are on disk afterwards.

    Raises InputError and FathometerError, the same on all ranks.
    """
    with ledger.phase("set up"):
        require_memory({"case": case_bytes(math.prod(file.grid.cells))}, usable_memory(comm), comm)
    with ledger.phase("set up"), collective_errors(comm):
        case = case_of(file)
        run = known(case)
    with restartable_run(
        run.input_files,
        file.output_directory,
        (PICTURE,),
        (FIELDS_FOLDER, RESTART_FOLDER),
        partial(run.partial_record, context),
        comm,
        context,
    ):
        return _run(case, run, comm, context)


def _run(case: Case, run: KnownRun, comm: MPI.Intracomm, context: Context) -> Outcome:
    file, output = case.file, case.file.output_directory
    with ledger.phase("set up"):
        from fathometer.apps.ocean.solver.model import OceanModel

        layout = layout_of(case, comm)
        require_memory(_arrays(case, layout), usable_memory(comm), comm)
        model = OceanModel(case.problem, layout, comm, **file.barotropic.solver_keys())
        restart = RestartFiles(output, state_input(case), model.layout, comm)
        course, written = _begin(case, model, restart, context)
        fields = FieldFiles(file, case.problem.grid, model.layout, comm, written)
        for line in summary(case, model):
            context.say(line)
    try:
        with between_steps(END_SECONDS) as asked_to_end:
            if not fields.steps:
                _write_fields(fields, course, model)
            with ledger.phase("set up"):
                remove_record(output, comm)
            _advance(case, model, course, fields, restart, StateClock(asked_to_end, comm), context)
            if fields.steps[-1] != course.steps:
                _write_fields(fields, course, model)
            _write_restart(restart, course, fields, model)
    finally:
        model.close()
    files: dict[str, Path] = {"fields": output / FIELDS_FOLDER}
    with ledger.phase("draw"), collective_errors(comm):
        if comm.rank == 0:
            files["picture"] = draw(case, fields)
    return finish(run, case, model, course, fields, files, context)


def layout_of(case: Case, comm: MPI.Intracomm) -> Layout:
    """How the grid is cut over the ranks of a communicator. Raises InputError for more ranks than it allows."""
    keys, grid = case.file.decomposition, case.problem.grid
    return cut(
        grid.shape[:2],
        comm.size,
        comm.rank,
        grid.levels,
        periodic=grid.periodic,
        tile=case.file.barotropic.tile,
        blocks=keys.block,
        ranks=keys.ranks,
        order=keys.order,
    )


def _arrays(case: Case, layout: Layout) -> dict[str, int]:
    """Bytes of this rank's arrays, by what takes them, but for the halos."""
    keys, (x, y) = case.file.barotropic, layout.padded
    nx, ny, nz = case.problem.grid.shape
    parts = model_bytes(len(layout.own) * x * y, nz, nx * ny, keys.tile, keys.preconditioner, {1: 0, 2: 0, 3: 0})
    return {name: taken for name, taken in parts.items() if name != "case"}


def _begin(case: Case, model: OceanModel, restart: RestartFiles, context: Context) -> tuple[Course, list[int]]:
    """The state at the beginning, or that of a restart file; the steps whose fields are there."""
    if context.options.resume:
        arrays = model.arrays()
        earlier = restart.read(arrays, partial(require, case.file), context.options.resume_from)
        if earlier is not None:
            if earlier.steps > case.steps:
                raise InputError(
                    f"{case.file.path}: [time] end: found {case.steps} steps, but the run to be resumed has taken "
                    f"{earlier.steps}; allowed: from that on"
                )
            model.restore(earlier.steps)
            context.say(f"resumed at {earlier.time:g} s, after {earlier.steps} steps")
            course = Course(
                earlier.steps,
                earlier.time,
                rows=[dict(row) for row in earlier.rows],
                contents=list(earlier.contents),
                gained=[value if model.comm.rank == 0 else 0.0 for value in earlier.gained],
                volume=earlier.volume,
                courant=earlier.courant,
                first=earlier.steps,
            )
            return course, list(earlier.written)
        context.say("nothing to resume: begins anew")
    restart.remove()
    model.begin()
    contents = model.contents()
    return Course(contents=contents, gained=[0.0] * len(contents), volume=model.volume()), []


def _advance(
    case: Case,
    model: OceanModel,
    course: Course,
    fields: FieldFiles,
    restart: RestartFiles,
    clock: StateClock,
    context: Context,
) -> None:
    """Take all steps that are left. A state is written when all results up to its step are on disk."""
    keys, comm = case.file.output, model.comm
    left = case.steps - course.steps
    with (
        Display(1, now=now, rank=comm.rank, quiet=context.quiet, label="ocean", task="simulation") as display,
        ledger.phase("between time steps"),
    ):
        display.start_task(0, left)
        for number in range(course.steps + 1, case.steps + 1):
            try:
                step = model.step()
            except FathometerError:
                if model.sound:
                    _write_restart(restart, course, fields, model)
                raise
            _count(course, step)
            last = number == case.steps
            shown, kept = number % case.field_steps == 0, number % keys.restart_steps == 0
            row = number % keys.course_steps == 0 or shown or kept or last
            late, ends = clock.after_step()
            if row or late or ends:  # nothing is written that is not looked at
                _look(course, model, step, row)
            if shown:
                _write_fields(fields, course, model)
            if (kept or late or ends) and not last:
                _write_restart(restart, course, fields, model)
                clock.written()
                if ends:
                    raise KeyboardInterrupt
            display.advance(1)
        display.finish_task()


def _count(course: Course, step: Step) -> None:
    course.steps += 1
    course.time = step.time
    for name in COUNTS:
        course.counts[name] += getattr(step, name)
    course.gained = [before + now for before, now in zip(course.gained, step.gained, strict=True)]


def _look(course: Course, model: OceanModel, step: Step, row: bool) -> None:
    """Look at the state, and keep what is seen as a row of the time series.

    Raises FathometerError where the state is not finite or a step is too long for it.
    """
    with ledger.phase("diagnostics"):
        seen = {"step": course.steps, "time_seconds": course.time, "iterations": step.iterations} | model.diagnostics()
        seen["largest_courant"] = course.courant = max(course.courant, seen["largest_courant"])
        if row:
            course.rows.append(seen)
            course.courant = 0.0


def _write_fields(fields: FieldFiles, course: Course, model: OceanModel) -> None:
    with ledger.phase("write fields"):
        fields.write(course.steps, course.time, model.fields())


def _write_restart(restart: RestartFiles, course: Course, fields: FieldFiles, model: OceanModel) -> None:
    with ledger.phase("write restart"):
        gained = course.gained_by_all(model.comm)
        progress = Progress(
            course.time, course.steps, course.rows, course.contents, gained, course.volume, course.courant, fields.steps
        )
        restart.write(progress, model.arrays())


def state_input(case: Case) -> dict[str, Any]:
    """What of the input a restart file depends on: all but times, where results go, and how the grid is cut."""
    values = case.file.resolved()
    kept = ("grid", "bathymetry", "rotation", "water", "mixing", "initial", "forcing")
    fields = {"output": {"fields": list(case.file.output.fields)}, "step": case.problem.step}
    found = {name: values.get(name) for name in kept} | fields | {"implicitness": case.problem.implicitness}
    return found | {"values of": file_hashes(case)}


def summary(case: Case, model: OceanModel) -> Iterator[str]:
    """What a user wants to know before the run, a line each."""
    nx, ny, nz = case.problem.grid.shape
    layout, size = model.layout, model.comm.size
    blocks = f"{len(layout.blocks)} block{'s'[: len(layout.blocks) != 1]}"
    if layout.left_out:
        blocks += f", {len(layout.left_out)} of land left out with {layout.cells_left_out} columns"
    yield (
        f"{nx} x {ny} x {nz} cells, {int(case.problem.grid.levels.sum())} of water; {case.steps} steps of "
        f"{case.problem.step:g} s; {size} rank{'s'[: size != 1]}, {blocks}"
    )
    for note in case.notes:
        yield f"note: {note}"
