"""The record and the page of a run in time steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fathometer.base import ledger
from fathometer.grid.tiling import Tuned
from fathometer.parallel.threads import thread_counts
from fathometer.record.envelope import Figure
from fathometer.record.roofline import measure_roofline
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.setup.finished_run import Dead, Figures, PanelsOf, SurveyRun, run_figures
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.traces.resampling import low_pass
from fathometer.seismic.waves.boundary import Sponge
from fathometer.seismic.waves.recording import PHASE
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
    PHASE,
)


@dataclass(frozen=True)
class WorkDone:
    """What all ranks of a run have done together: shots, and updates of cells (computed twice, counted once)."""

    shots: int
    updates: float


def known_run(setup: Setup) -> SurveyRun:
    """What is known of a run before its end."""
    return SurveyRun.of(
        setup.survey,
        setup.acquisition,
        setup.files.paths,
        partial(_facts, setup),
        partial(_conditioning, setup),
    )


def measured(setup: Setup, context: Context) -> dict[str, Any]:
    """Collective. What the run's processors give, or its graphics cards where these take the time steps, and the fewest
    bytes that a step must move for a cell: what makes a roofline of the kernel's work."""
    roof: Mapping[str, Any]
    if setup.processor.card is None:
        tasks = thread_counts(setup.survey.threads.model_dump(), context.binding, "[threads]")
        roof = measure_roofline(setup.comm, tasks, context.binding.ranks_on_host)
    else:
        roof = setup.processor.roofline(setup.comm)
    return dict(roof) | {"bytes_per_point": setup.scheme.dtype.itemsize * setup.layout.physics.fewest_moves}


def finish(
    setup: Setup,
    context: Context,
    files: dict[str, Path],
    panels: PanelsOf,
    tuned: Tuned | None,
    done: WorkDone,
    facts: Mapping[str, Any],
    reasons: Sequence[str],
) -> tuple[Outcome, list[Panel]]:
    """Collective. Write run.json on rank 0; the outcome, and what its page will show: see SurveyRun.finish_with.

    facts: further results.
    """
    if tuned is not None and tuned.trials:
        context.say(str(tuned))

    def gather() -> dict[str, Any]:
        with ledger.phase("yardstick"):
            return measured(setup, context)

    def tell(roof: dict[str, Any], combined: dict[str, Any]) -> Figures:
        more = {"tuning": tuned.as_dict() if tuned is not None else None, "yardstick": roof}
        return run_figures(combined, KERNEL, partial(_figures, done, tuned), RATED_FILES), dict(facts) | more

    def shown(written: Mapping[str, Path]) -> list[Panel]:
        return panels(RunData(setup.survey, lambda: setup.files, lambda: setup.acquisition, written))

    return known_run(setup).finish_with(shown, files, context, setup.comm, gather, tell, reasons)


def _figures(done: WorkDone, tuned: Tuned | None, total: float, kernel: float) -> list[Figure]:
    return [
        Figure("lost by trials of tilings", tuned.lost if tuned is not None else 0.0, "seconds", "lower", "context"),
        Figure("grid point updates", done.updates / kernel if kernel else 0.0, "points_per_second", "higher"),
        Figure("shots", 3600 * done.shots / total, "shots_per_hour", "higher"),
    ]


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


def _conditioning(setup: Setup, dead: Dead) -> dict[str, Any]:
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
            "cuts": setup.shares.cuts,
            "waiting_share": setup.shares.waiting,
        },
        "place": setup.layout.place.as_dict(),
        "physics": setup.layout.physics.name,
        "processor": setup.processor.as_dict(),
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
