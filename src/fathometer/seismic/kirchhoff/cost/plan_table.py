"""A plan of a time migration as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, number_of, seconds_in_words
from fathometer.plan.machine_file import Machine
from fathometer.plan.table import amount, comparison
from fathometer.runs.application import CostEstimate
from fathometer.runs.told import note_lines
from fathometer.seismic.kirchhoff.cost.plan import TimePlan, plan_time_migration
from fathometer.seismic.kirchhoff.cost.prediction import TimePrediction
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.survey import Survey

WAYS = {"tiles": "all ranks at the same traces", "blocks": "each rank with blocks of its own"}


def estimate_time_migration(survey: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """The plan that `fathometer plan` shows. Raises InputError for options of other plans."""
    for name in ("decomposition", "history"):
        if options[name] is not None:
            raise InputError(f"--{name}: found; allowed only without --migrate-time, of wave propagation")
    plan = plan_time_migration(survey, machine, PlanRequest.of(options))
    return CostEstimate(plan.as_dict(), lines(plan))


def lines(plan: TimePlan) -> list[str]:
    """The plan as a table for people."""
    layout, asked, recommended = plan.layout, plan.asked, plan.recommended
    grid, counts = layout.grid, plan.counts
    blocks = number_of(len(layout.blocks), "block")
    places = " x ".join(str(grid.shape[axis]) for axis in grid.axes[:-1])
    text = [
        f"migrate-time {layout.survey.path} on {plan.machine.name}",
        f"image of {places} places, {grid.shape[2]} samples of {1000 * grid.spacing[2]:.4g} ms; {layout.traces} traces "
        f"in {blocks}; about {counts.samples:.3g} samples to compute",
        f"velocities: {plan.velocities.origin}",
        *note_lines(plan.notes, layout.survey.path, "--json lists all"),
        "",
    ]
    further: dict[str, Callable[[TimePrediction], str]] = {"disk": lambda p: amount(p.disk_bytes)}
    text += comparison(asked, recommended, _layout, further, plan.budget)
    text.append("")
    parts = ", ".join(f"{name} {bytes_in_words(size)}" for name, size in asked.memory_bytes.items() if size)
    text.append(f"memory of a rank: {parts}")
    for way in plan.ways:
        text.append(
            f"{way.way:<6} ({WAYS[way.way]}): {seconds_in_words(way.seconds)}, "
            f"{bytes_in_words(way.rank_bytes)} a rank, {bytes_in_words(way.disk_bytes)} on disk"
        )
    if plan.ways:
        sharing = asked.way or f"{asked.groups} groups of {asked.ranks_per_block} ranks"
        text.append(f"a run takes: {sharing} ({asked.why})")
    return text


def _layout(p: TimePrediction) -> str:
    ranks = f"{p.groups} groups of {p.ranks_per_block}" if p.groups > 1 else str(p.ranks)
    return f"{number_of(p.nodes, 'node')}, {ranks} rank{'s' * (p.ranks_per_block > 1)} x {p.threads}"
