"""The record and the page of an ocean run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.apps.ocean.case import Case, input_files
from fathometer.apps.ocean.course import Course
from fathometer.apps.ocean.fields import FieldFiles
from fathometer.apps.ocean.page import panels_of
from fathometer.apps.ocean.solver.problem import TRACERS
from fathometer.record.envelope import Figure
from fathometer.record.ranks import seconds
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.value_range import joined, still_fields

if TYPE_CHECKING:
    from fathometer.apps.ocean.solver.model import OceanModel

NAME = "ocean"
BAROCLINIC = ("baroclinic", "baroclinic halo")  # phases of a step
BAROTROPIC = ("barotropic", "barotropic halo", "barotropic reduction")
YEAR = 365.25 * 86400.0  # s
DAY = 86400.0  # s


@dataclass(frozen=True)
class _Told:
    """What all ranks know of a run that has ended."""

    balance: list[dict[str, Any]]
    still: list[str]
    doubts: list[str]


def known(case: Case) -> KnownRun:
    """What is known of the run before its first step."""
    keys = case.file.resolved() | {"ocean_file": str(case.file.path)}
    return KnownRun(NAME, keys, case.file.output_directory, input_files(case.file), _facts(case))


def finish(
    run: KnownRun,
    case: Case,
    model: OceanModel,
    course: Course,
    fields: FieldFiles,
    files: Mapping[str, Path],
    context: Context,
) -> Outcome:
    """Collective. Write run.json, and then the page, on rank 0."""

    def gather() -> _Told:
        notes, doubts = still_fields(joined(fields.ranges, model.comm), _steady(case))
        return _Told(_balance(model, course), notes, doubts)

    def tell(told: _Told, combined: dict[str, Any]) -> tuple[list[Figure], dict[str, Any]]:
        performance = _performance(combined, course, case.problem.step)
        return _figures(combined, course, performance), {
            "blocks": _blocks(model),
            "time_seconds": course.time,
            "step_seconds": case.problem.step,
            "steps": course.steps,
            "earlier_steps": course.first,
            "counts": course.counts,
            "course": course.rows,
            "field_files": [str(path.relative_to(case.file.output_directory)) for path in fields.paths()],
            "fields": list(case.file.output.fields),
            "balance": told.balance,
            "performance": performance,
            "notes": [*case.notes, *told.still],
        }

    return run.finish(files, context, model.comm, gather, tell, panels_of, lambda told: told.doubts)


def _steady(case: Case) -> list[str]:
    """Tracers that the input has the same everywhere and nothing changes."""
    initial, forcing = case.file.initial, case.file.forcing
    changed = {"temperature": (forcing.temperature, forcing.heat_flux, initial.noise), "salinity": (forcing.salinity,)}
    return [
        name
        for name, by in changed.items()
        if isinstance(getattr(initial, name), float) and all(one is None for one in by)
    ]


def _facts(case: Case) -> dict[str, Any]:
    grid, keys = case.problem.grid, case.file.grid
    return {
        "grid": {
            "shape": list(grid.shape),
            "spacing": list(keys.spacing),
            "origin": list(keys.origin),
            "spherical": grid.spherical,
            "periodic": grid.periodic,
            "thickness_metres": grid.thickness.tolist(),
            "wet_cells": int(grid.levels.sum()),
            "wet_columns": int((grid.levels > 0).sum()),
        }
    }


def _blocks(model: OceanModel) -> dict[str, Any]:
    layout = model.layout
    return {
        "count": len(layout.blocks),
        "cells_left_out": layout.cells_left_out,
        "owners": [[list(block.lo), list(block.hi), block.rank] for block in layout.blocks],
    }


def _balance(model: OceanModel, course: Course) -> list[dict[str, Any]]:
    """Collective. Contents of each tracer at the beginning and now, and what came through the surface; error: what is
    missing, relative to the largest of these."""
    rows = []
    all_gained = course.gained_by_all(model.comm)
    for name, before, now, gained in zip(TRACERS, course.contents, model.contents(), all_gained, strict=False):
        largest = max(abs(before), abs(now), abs(gained))
        rows.append(
            {
                "tracer": name,
                "content_before": before,
                "content_after": now,
                "gained_at_surface": gained,
                "error": abs(now - before - gained) / largest if largest else 0.0,
            }
        )
    volume = model.volume()
    error = abs(volume - course.volume) / course.volume
    return [
        *rows,
        {
            "tracer": "volume",
            "content_before": course.volume,
            "content_after": volume,
            "gained_at_surface": 0.0,
            "error": error,
        },
    ]


def _performance(combined: dict[str, Any], course: Course, step: float) -> dict[str, float]:
    """Of this run, on the slowest rank."""
    baroclinic, barotropic = seconds(combined, BAROCLINIC), seconds(combined, BAROTROPIC)
    both, own = baroclinic + barotropic, course.own
    return {
        "baroclinic_seconds": baroclinic,
        "barotropic_seconds": barotropic,
        "simulated_years_per_day": own * step / YEAR / (both / DAY) if both else 0.0,
        "iterations_per_step": course.counts["iterations"] / own if own else 0.0,
        "reductions_per_second": course.counts["reductions"] / barotropic if barotropic else 0.0,
    }


def _figures(combined: dict[str, Any], course: Course, performance: Mapping[str, float]) -> list[Figure]:
    """The run in numbers; times are those of the slowest rank."""
    total = combined["wall_seconds"]["max"]
    kernel = performance["baroclinic_seconds"] + performance["barotropic_seconds"]
    peak = max(rank["usage"]["peak_memory_bytes"] or 0 for rank in combined["ranks"])
    return [
        Figure("total", total, "seconds", "lower"),
        Figure("kernel", kernel, "seconds", "lower", "context"),
        Figure("kernel share", kernel / total, "1", "higher"),
        Figure("baroclinic", performance["baroclinic_seconds"], "seconds", "lower"),
        Figure("barotropic", performance["barotropic_seconds"], "seconds", "lower"),
        Figure("simulated years a day", performance["simulated_years_per_day"], "1", "higher"),
        Figure("steps", course.own, "1", "none", "context"),
        Figure("iterations a step", performance["iterations_per_step"], "1", "lower", "context"),
        Figure("reductions a second", performance["reductions_per_second"], "1", "higher", "context"),
        Figure("peak memory", peak, "bytes", "lower"),
    ]
