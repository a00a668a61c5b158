"""The record of a modelling or migration run: run.json, or run-unfinished.json of a run that did not end well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathometer.base import ledger
from fathometer.base.host import peak_memory
from fathometer.grid.tiling import Tuned
from fathometer.parallel.collectives import allgather
from fathometer.parallel.threads import thread_counts
from fathometer.record.envelope import Figure, record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account, seconds
from fathometer.record.roofline import measure_roofline
from fathometer.runs.context import Context
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.traces.resampling import low_pass
from fathometer.seismic.waves.boundary import Sponge
from fathometer.storage.volumes.registry import format_of, format_to_read
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.strategy_cache import resolve_auto

RATED_FILES = ("model", "traces", "image", "history")  # kinds of files whose rates are figures
# The time steps, exchanges included.
KERNEL = (
    "source propagation",
    "source recomputation",
    "receiver propagation",
    "halo exchange",
)


@dataclass(frozen=True)
class WorkDone:
    """What all ranks of a run have done together: shots, and updates of cells (computed twice, counted once)."""

    shots: int
    updates: float


def partial_record(setup: Setup, context: Context, reason: str) -> dict[str, Any]:
    """What this rank alone knows of a run that has not ended."""
    return record(
        application="seismic",
        command=context.command,
        input=_input(setup),
        machine=_machine(setup, [context.binding.as_dict()]),
        account=account([own_account(context.binding)]),
        figures=[],
        results={"files": {}} | _facts(setup) | _conditioning(setup, [_dead(setup)]),
        reasons=[reason],
        finished=False,
    )


def measured(setup: Setup, context: Context) -> dict[str, Any]:
    """Collective. What the run's processors give, and the fewest bytes that a step must move for a cell: what makes a
    roofline of the kernel's work."""
    tasks = thread_counts(setup.survey.threads.model_dump(), context.binding, "[threads]")
    roof = measure_roofline(setup.comm, tasks, context.binding.ranks_on_host)
    return roof | {"bytes_per_point": setup.scheme.dtype.itemsize * setup.layout.physics.fewest_moves}


def finished_record(
    setup: Setup,
    context: Context,
    files: Mapping[str, Path],
    tuned: Tuned | None,
    done: WorkDone,
    facts: Mapping[str, Any],
    reasons: Sequence[str] = (),
) -> dict[str, Any]:
    """Collective. The run's envelope; empty on ranks above 0. facts: further results; reasons: why they are not all."""
    peak = peak_memory()
    with ledger.phase("yardstick"):
        roof = measured(setup, context)
    dead = allgather(setup.comm, _dead(setup))
    ranks = allgather(setup.comm, own_account(context.binding, peak))
    if setup.comm.rank:
        return {}
    combined = account(ranks)
    return record(
        application="seismic",
        command=context.command,
        input=_input(setup),
        machine=_machine(setup, [rank["binding"] for rank in ranks]),
        account=combined,
        figures=_figures(combined, done, tuned),
        results={"files": files}
        | _facts(setup)
        | _conditioning(setup, dead)
        | dict(facts)
        | {
            "tuning": tuned.as_dict() if tuned is not None else None,
            "yardstick": roof,
            "peak_memory_bytes": [rank["usage"]["peak_memory_bytes"] for rank in ranks],
        },
        reasons=reasons,
        disturbed=disturbances(ranks),
    )


def _input(setup: Setup) -> dict[str, Any]:
    return setup.survey.resolved() | {"survey": str(setup.survey.path)}


def _machine(setup: Setup, bindings: list[dict[str, Any]]) -> dict[str, Any]:
    paths = [setup.survey.output_directory, *setup.files.paths, *setup.acquisition.paths]
    return machine(paths) | {"ranks": setup.comm.size, "binding": bindings}


def _figures(combined: dict[str, Any], done: WorkDone, tuned: Tuned | None) -> list[Figure]:
    """The run in numbers. Times are those of the slowest rank."""
    total, kernel = combined["wall_seconds"]["max"], seconds(combined, KERNEL)
    peak = max(rank["usage"]["peak_memory_bytes"] or 0 for rank in combined["ranks"])
    figures = [
        Figure("total", total, "seconds", "lower"),
        Figure("kernel", kernel, "seconds", "lower", "context"),
        Figure("kernel share", kernel / total, "1", "higher"),
        Figure("lost by trials of tilings", tuned.lost if tuned is not None else 0.0, "seconds", "lower", "context"),
        Figure("grid point updates", done.updates / kernel if kernel else 0.0, "points_per_second", "higher"),
        Figure("shots", 3600 * done.shots / total, "shots_per_hour", "higher"),
        Figure("peak memory", peak, "bytes", "lower"),
    ]
    for file in combined["files"]:
        if file["bytes_per_second"] and file["kind"] in RATED_FILES:
            name = f"{file['direction']} {file['kind']}"
            figures.append(Figure(name, file["bytes_per_second"], "bytes_per_second", "higher", "context"))
    return figures


def _strategies(setup: Setup) -> list[dict[str, Any]]:
    """How the model's files are read and images written, and whether that was remembered (`fathometer io`)."""
    survey, ranks = setup.survey, setup.comm.size

    def strategy_of(path: Path, operation: str, wanted: str) -> dict[str, Any]:
        form = format_to_read(path) if operation == "read" else format_of(path)
        strategy, remembered = resolve_auto(path, form, operation, Strategy.of(wanted), ranks)
        taken = form.chosen(path, strategy, operation, ranks)
        return {"operation": operation, "file": path, "strategy": str(taken), "remembered": remembered}

    strategies = [strategy_of(path, "read", survey.storage.read) for path in setup.files.paths]
    if setup.layout.imaging:
        strategies.append(strategy_of(survey.output_directory / survey.output.image, "write", survey.storage.write))
    return strategies


def _dead(setup: Setup) -> set[tuple[int, int]]:
    """The dead traces that this rank found, as (shot, receiver); ranks share receivers near their blocks' sides."""
    dead = setup.acquisition.conditioning.dead
    return set() if dead is None else dead.detected


def _conditioning(setup: Setup, dead: Sequence[set[tuple[int, int]]]) -> dict[str, Any]:
    """What was done to recorded traces, step by step, resampling included; `dead`: found by each rank."""
    acquisition, time = setup.acquisition, setup.time
    if not acquisition.recorded:
        return {}
    if not setup.layout.imaging:  # no recorded trace is read
        return {"conditioning": list(acquisition.conditioning.selected)}
    kernel = low_pass(setup.wavelet.fmax, acquisition.sample_interval, time.dt)
    resampling = {
        "step": "resampling",
        "from_seconds": acquisition.sample_interval,
        "to_seconds": time.dt,
        "passes_hertz": kernel.passes,
        "stops_hertz": kernel.stops,
    }
    steps = acquisition.conditioning.record(acquisition.shots, set().union(*dead))
    return {"conditioning": [*steps, resampling]}


def _facts(setup: Setup) -> dict[str, Any]:
    """What was decided before the first step."""
    survey, grid, time = setup.survey, setup.grid, setup.time
    boundary = setup.scheme.boundary
    return {
        "grid": {
            "shape": grid.shape,
            "padded_shape": grid.full_shape,
            "spacing_metres": grid.spacing,
            "origin_metres": grid.origin,
            "padding_cells": grid.pad,
            "decomposition": setup.block.ranks,
        },
        "place": setup.layout.place.as_dict(),
        "physics": setup.layout.physics.name,
        "weak_epsilon": None if setup.weak_epsilon is None else setup.weak_epsilon.as_dict(),
        "slowest_metres_per_second": setup.slowest,
        "fastest_metres_per_second": setup.fastest,
        "boundary": {"kind": "sponge" if isinstance(boundary, Sponge) else "pml"} | vars(boundary),
        "space_weights": survey.propagation.space_weights,
        "time_step_seconds": time.dt,
        "time_step_limit_seconds": setup.time_step_limit,
        "time_dispersion": survey.propagation.time_dispersion,
        "first_time_seconds": time.first,
        "steps": time.steps,
        "imaging": setup.layout.imaging,
        "imaging_step": time.every if setup.layout.imaging else None,
        "maximum_frequency_hertz": setup.wavelet.fmax,
        "points_per_shortest_wavelength": setup.points_per_wavelength,
        "shots": len(setup.acquisition.shots),
        "ranks_per_shot": setup.ranks_per_shot,
        "traces": sum(len(shot.receivers) for shot in setup.acquisition.shots),
        "sample_interval_seconds": setup.acquisition.sample_interval,
        "samples": setup.acquisition.samples,
        "predicted_memory_bytes": setup.memory_bytes,
        "strategies": _strategies(setup),
        "notes": setup.warnings,
        "image_unit": "arbitrary: the product of the scales of source and data",
    }
