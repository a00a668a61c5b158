"""The record and the page of a reactive flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.reactive.case import ROUNDING, Case, input_files
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.course import Course
from fathometer.apps.reactive.fields import FieldFiles
from fathometer.apps.reactive.page import panels_of
from fathometer.parallel.collectives import allgather, allreduce
from fathometer.record.envelope import Figure
from fathometer.record.ranks import seconds
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.value_range import joined, still_fields

if TYPE_CHECKING:
    from fathometer.apps.reactive.solver.problem import ReactiveSolver

NAME = "reactive"
CHARGED = 0.01  # of the sum of all charges' magnitudes, from which a water is said not to be neutral
SOLVE = ("assemble residual", "assemble Jacobian", "solve")  # phases of Newton's method


def known(case: Case) -> KnownRun:
    """What is known of the run before its first step."""
    keys = case.file.resolved() | {"flow_file": str(case.file.path)}
    return KnownRun(NAME, keys, case.file.output_directory, input_files(case.file), _facts(case))


@dataclass(frozen=True)
class _Told:
    """What all ranks know of a run that has ended."""

    balance: list[dict[str, Any]]
    notes: list[str]
    doubts: list[str]
    logs: list[dict[str, Any]]
    blocks: list[list[list[int]]]


def finish(
    run: KnownRun,
    case: Case,
    solver: ReactiveSolver,
    course: Course,
    fields: FieldFiles,
    files: Mapping[str, Path],
    context: Context,
) -> Outcome:
    """Collective. Write run.json, and then the page, on rank 0."""
    comm = solver.comm

    def gather() -> _Told:
        still, doubts = still_fields(joined(fields.ranges, comm))
        return _Told(
            _balance(case, solver, course),
            [*_notes(case, solver), *still],
            doubts,
            allgather(comm, solver.log()),
            allgather(comm, [list(solver.lo), list(solver.hi)]),
        )

    def tell(told: _Told, combined: dict[str, Any]) -> tuple[list[Figure], dict[str, Any]]:
        petsc = {"version": told.logs[0]["version"], "ranks": [log["events"] for log in told.logs]}
        return _figures(case, combined, course), {
            "blocks": told.blocks,
            "time_seconds": course.time,
            "steps": course.count,
            "earlier_steps": course.earlier,
            "counts": course.counts,
            "course": course.steps,
            "field_times_seconds": fields.times,
            "fields": [asdict(field) for field in fields.fields],
            "balance": told.balance,
            "petsc": petsc,
            "unused_petsc_options": solver.unused_options(),
            "notes": told.notes,
        }

    return run.finish(files, context, comm, gather, tell, panels_of, lambda told: told.doubts)


def _notes(case: Case, solver: ReactiveSolver) -> list[str]:
    """Collective. What is no error, and yet not what most users want."""
    system, notes = case.system, []
    if unused := solver.unused_options():
        notes.append(f"PETSc has not used these options: {', '.join(unused)}")
    for name, ln_c in case.waters.items():
        found = describe(system, ln_c)
        charge, molalities = found["charge_eq_per_kg"], np.array([*found["molalities_mol_per_kg"].values()])
        if abs(charge) > CHARGED * float(np.abs(system.charge) @ molalities):
            notes.append(
                f'the water "{name}" is not neutral: {charge:.3g} eq/kg; one ion with charge = true makes it so'
            )
    taken = solver.minerals @ system.molar_volume + case.flow.porosity(solver.lo, solver.hi)
    most = allreduce(solver.comm, float(taken.max()), "MAX")
    if most > 1 + ROUNDING:
        notes.append(
            f"pores are overfull: minerals and pores together take up to {most:.4g} of the volume of a cell; the "
            "porosity stays as it was given"
        )
    return notes


def _facts(case: Case) -> dict[str, Any]:
    system = case.system
    return {
        "grid": {
            "shape": case.file.grid.cells,
            "spacing_metres": case.file.grid.spacing,
            "origin_metres": case.file.grid.origin,
        },
        "chemistry": {
            "file": str(case.chemistry.path),
            "title": case.chemistry.title,
            "primary": system.primary,
            "secondary": system.secondary,
            "minerals": system.minerals,
            "activity": system.activity,
        },
        "waters": {name: describe(system, ln_c) for name, ln_c in case.waters.items()},
    }


def _balance(case: Case, solver: ReactiveSolver, course: Course) -> list[dict[str, Any]]:
    """Collective. Moles of each component at the beginning, now, and what has left through the sides; error: what is
    missing, relative to the largest of these."""
    rows = []
    for name, before, now, out in zip(case.system.primary, course.moles, solver.moles(), course.outflow, strict=True):
        largest = max(abs(before), abs(float(now)), abs(out))
        rows.append(
            {
                "component": name,
                "moles_before": before,
                "moles_after": float(now),
                "moles_out": out,
                "error": abs(before - float(now) - out) / largest if largest else 0.0,
            }
        )
    return rows


def _figures(case: Case, combined: dict[str, Any], course: Course) -> list[Figure]:
    """The run in numbers. Times are those of the slowest rank, iterations those of this run."""
    total, solve = combined["wall_seconds"]["max"], seconds(combined, SOLVE)
    peak = max(rank["usage"]["peak_memory_bytes"] or 0 for rank in combined["ranks"])
    steps, cells = len(course.steps), float(np.prod(case.file.grid.cells))
    newton, linear = (sum(row[name] for row in course.steps) for name in ("newton_iterations", "linear_iterations"))
    figures = [
        Figure("total", total, "seconds", "lower"),
        Figure("kernel", solve, "seconds", "lower", "context"),
        Figure("kernel share", solve / total, "1", "higher"),
        Figure("steps", steps, "1", "none", "context"),
        Figure("newton iterations", newton, "1", "lower", "context"),
        Figure("linear iterations", linear, "1", "lower", "context"),
        Figure("cell iterations", cells * newton / solve if solve else 0.0, "cells_per_second", "higher"),
        Figure("peak memory", peak, "bytes", "lower"),
    ]
    if steps:
        figures.insert(2, Figure("seconds a step", solve / steps, "seconds", "lower"))
        for phase in SOLVE:
            figures.append(Figure(phase, seconds(combined, (phase,)), "seconds", "lower", "context"))
    return figures
