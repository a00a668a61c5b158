"""The record and the page of a time migration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

from fathometer.parallel.collectives import allgather
from fathometer.parallel.groups import Group
from fathometer.record.envelope import Figure
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.journal import Journal
from fathometer.seismic.kirchhoff.setup import TimeSetup
from fathometer.seismic.kirchhoff.velocities.velocities import Extremes
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.page.time_panels import time_panels
from fathometer.seismic.setup.finished_run import Dead, Figures, SurveyRun, run_figures

KERNEL = ("migrate",)
RATED_FILES = ("traces", "image")  # kinds of files whose rates are figures


def known_run(setup: TimeSetup) -> SurveyRun:
    """What is known of a run before its end."""
    layout = setup.layout
    files = [path for paths in layout.velocities.files().values() for path in paths[:1]]
    return SurveyRun.of(setup.survey, layout.acquisition, files, partial(_facts, setup), partial(_conditioning, setup))


def finish(
    setup: TimeSetup,
    context: Context,
    files: dict[str, Path],
    done: Mapping[str, Any],
    facts: Mapping[str, Any],
    reasons: Sequence[str],
    journal: Journal,
    identity: Mapping[str, Any],
) -> tuple[Outcome, list[Panel]]:
    """Collective. Write run.json on rank 0; the outcome, and what its page will show: see SurveyRun.finish_with.

    done: samples, traces and blocks of this run. facts: of the products. reasons: why they are not to be
    trusted. identity: what it cost to know the files.
    """
    comm, layout = setup.comm, setup.layout

    def gather() -> Extremes:
        return reduce(Extremes.joined, allgather(comm, layout.velocities.extremes))

    def tell(extremes: Extremes, combined: dict[str, Any]) -> Figures:
        results = {
            "velocities": layout.velocities.record(extremes),
            "samples_computed": done["samples"],
            "traces_summed": done["traces"],
            "migrated_blocks": done["blocks"],
            "earlier_blocks": len(journal.done) - len(done["blocks"]),
            "failed_blocks": [{"block": n, "reason": reason} for n, reason in sorted(journal.failed.items())],
            "replaced_traces": journal.repaired,
            "identity": identity,
            "groups": Group.of(0, comm.size, setup.ranks_per_block).groups,
        }
        return run_figures(combined, KERNEL, partial(_figures, done), RATED_FILES), results | dict(facts)

    def shown(written: Mapping[str, Path]) -> list[Panel]:
        earth = partial(EarthFiles, setup.survey)
        return time_panels(RunData(setup.survey, earth, lambda: layout.acquisition, written, layout.grid))

    why = [*_incomplete(setup, journal), *reasons]
    return known_run(setup).finish_with(shown, files, context, comm, gather, tell, why)


def _incomplete(setup: TimeSetup, journal: Journal) -> list[str]:
    failed = len(journal.failed)
    return [f"{failed} of {len(setup.layout.blocks)} blocks of traces are not in the image"] if failed else []


def _figures(done: Mapping[str, Any], total: float, kernel: float) -> list[Figure]:
    return [
        Figure("samples summed", done["samples"] / kernel if kernel else 0.0, "samples_per_second", "higher"),
        Figure("traces", 3600 * done["traces"] / total, "traces_per_hour", "higher"),
    ]


def _conditioning(setup: TimeSetup, dead: Dead) -> dict[str, Any]:
    acquisition = setup.layout.acquisition
    return {"conditioning": acquisition.conditioning.record(acquisition.shots, set().union(*dead))}


def _facts(setup: TimeSetup) -> dict[str, Any]:
    """What was decided before the first trace."""
    layout, grid = setup.layout, setup.layout.grid
    return {
        "time_migration": True,
        "grid": {
            "shape": grid.shape,
            "spacing_metres": grid.spacing[:2],
            "origin_metres": grid.origin[:2],
            "interval_seconds": grid.spacing[2],
            "start_seconds": grid.origin[2],
            "decomposition": setup.block.ranks,
        },
        "place": layout.place.as_dict(),
        "velocities": layout.velocities.record(None),
        "classes_of_offset": layout.shares.record() if layout.weighted else [],
        "blocks": len(layout.blocks),
        "ranks_per_block": setup.ranks_per_block,
        "ranks_per_block_why": setup.why,
        "shots": len(layout.acquisition.shots),
        "traces": layout.traces,
        "sample_interval_seconds": layout.acquisition.sample_interval,
        "samples": layout.acquisition.samples,
        "predicted_memory_bytes": setup.memory_bytes,
        "notes": layout.notes,
    }
