"""The record and the page of a time migration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

from fathometer.base import ledger
from fathometer.base.host import peak_memory
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.groups import Group
from fathometer.record.envelope import PAGE, RECORD, Figure, record, write_record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account, seconds
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.journal import Journal
from fathometer.seismic.kirchhoff.setup import TimeSetup
from fathometer.seismic.kirchhoff.velocities.velocities import Extremes
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.page.time_panels import time_panels

KERNEL = ("migrate",)


def partial_record(setup: TimeSetup, context: Context, reason: str) -> dict[str, Any]:
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
    """Collective. Write run.json on rank 0; the outcome, and what its page will show.

    done: samples, traces and blocks of this run. facts: of the products. reasons: why they are not to be
    trusted. identity: what it cost to know the files.
    """
    comm, folder = setup.comm, setup.survey.output_directory
    written, files = files, {**files, "record": folder / RECORD}
    if context.publish is not None:
        files["report"] = folder / PAGE
    shown: list[Panel] = []
    with ledger.phase("report"), collective_errors(comm):
        if comm.rank == 0 and context.publish is not None:
            layout, earth = setup.layout, partial(EarthFiles, setup.survey)
            shown = time_panels(RunData(setup.survey, earth, lambda: layout.acquisition, written, layout.grid))
    with ledger.phase("finish"):
        peak = peak_memory()
        dead = allgather(comm, _dead(setup))
        ranks = allgather(comm, own_account(context.binding, peak))
        extremes = reduce(Extremes.joined, allgather(comm, setup.layout.velocities.extremes))
        envelope: dict[str, Any] = {}
        if comm.rank == 0:
            combined = account(ranks)
            envelope = record(
                application="seismic",
                command=context.command,
                input=_input(setup),
                machine=_machine(setup, [rank["binding"] for rank in ranks]),
                account=combined,
                figures=_figures(combined, done),
                results={"files": files}
                | _facts(setup, extremes)
                | _conditioning(setup, dead)
                | {
                    "samples_computed": done["samples"],
                    "traces_summed": done["traces"],
                    "migrated_blocks": done["blocks"],
                    "earlier_blocks": len(journal.done) - len(done["blocks"]),
                    "failed_blocks": [{"block": n, "reason": reason} for n, reason in sorted(journal.failed.items())],
                    "replaced_traces": journal.repaired,
                    "identity": identity,
                    "groups": Group.of(0, comm.size, setup.ranks_per_block).groups,
                    "peak_memory_bytes": [rank["usage"]["peak_memory_bytes"] for rank in ranks],
                }
                | dict(facts),
                reasons=[*_incomplete(setup, journal), *reasons],
                disturbed=disturbances(ranks),
            )
        with collective_errors(comm):
            if comm.rank == 0:
                write_record(files["record"], envelope)
    return Outcome(files, envelope), shown


def _incomplete(setup: TimeSetup, journal: Journal) -> list[str]:
    failed = len(journal.failed)
    return [f"{failed} of {len(setup.layout.blocks)} blocks of traces are not in the image"] if failed else []


def _input(setup: TimeSetup) -> dict[str, Any]:
    return setup.survey.resolved() | {"survey": str(setup.survey.path)}


def _machine(setup: TimeSetup, bindings: list[dict[str, Any]]) -> dict[str, Any]:
    files = [path for paths in setup.layout.velocities.files().values() for path in paths[:1]]
    paths = [setup.survey.output_directory, *files, *setup.layout.acquisition.paths]
    return machine(paths) | {"ranks": setup.comm.size, "binding": bindings}


def _figures(combined: dict[str, Any], done: Mapping[str, Any]) -> list[Figure]:
    """The run in numbers. Times are those of the slowest rank."""
    total, kernel = combined["wall_seconds"]["max"], seconds(combined, KERNEL)
    peak = max(rank["usage"]["peak_memory_bytes"] or 0 for rank in combined["ranks"])
    figures = [
        Figure("total", total, "seconds", "lower"),
        Figure("kernel", kernel, "seconds", "lower", "context"),
        Figure("kernel share", kernel / total, "1", "higher"),
        Figure("samples summed", done["samples"] / kernel if kernel else 0.0, "samples_per_second", "higher"),
        Figure("traces", 3600 * done["traces"] / total, "traces_per_hour", "higher"),
        Figure("peak memory", peak, "bytes", "lower"),
    ]
    for file in combined["files"]:
        if file["bytes_per_second"] and file["kind"] in ("traces", "image"):
            name = f"{file['direction']} {file['kind']}"
            figures.append(Figure(name, file["bytes_per_second"], "bytes_per_second", "higher", "context"))
    return figures


def _dead(setup: TimeSetup) -> set[tuple[int, int]]:
    dead = setup.layout.acquisition.conditioning.dead
    return set() if dead is None else dead.detected


def _conditioning(setup: TimeSetup, dead: list[set[tuple[int, int]]]) -> dict[str, Any]:
    acquisition = setup.layout.acquisition
    return {"conditioning": acquisition.conditioning.record(acquisition.shots, set().union(*dead))}


def _facts(setup: TimeSetup, extremes: Extremes | None = None) -> dict[str, Any]:
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
        "velocities": layout.velocities.record(extremes),
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
