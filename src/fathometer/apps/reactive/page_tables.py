"""Tables of a flow's page: PETSc's log, its seconds beside the account's, moles, waters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.record.ranks import seconds as seconds_of
from fathometer.runs.application import Panel

MOST_EVENTS = 24
NEWTON, RESIDUAL, JACOBIAN = "SNESSolve", "SNESFunctionEval", "SNESJacobianEval"
# Phases of the account beside what they are in PETSc's log: an event, less those within it.
BESIDE = (
    ("residuals", ("assemble residual",), RESIDUAL, ()),
    ("Jacobians", ("assemble Jacobian",), JACOBIAN, ()),
    ("linear systems and the rest", ("solve",), NEWTON, (RESIDUAL, JACOBIAN)),
    ("Newton's method", ("assemble residual", "assemble Jacobian", "solve"), NEWTON, ()),
)


def event_table(record: Mapping[str, Any]) -> Panel:
    """PETSc's events, the longest first. Raises ValueError where its log is empty."""
    log = record["results"]["petsc"]
    ranks = log["ranks"]
    longest = _longest(ranks)
    if not longest:
        raise ValueError("PETSc's log is empty")
    rows = []
    for name, (seconds, rank) in list(longest.items())[:MOST_EVENTS]:
        entries = [events[name] for events in ranks if name in events]
        flops, messages, size = (sum(entry[key] for entry in entries) for key in ("flops", "messages", "message_bytes"))
        calls, reductions = (max(entry[key] for entry in entries) for key in ("calls", "reductions"))
        rows.append([name, calls, seconds, rank, flops / seconds if flops else None, messages, size, reductions])
    columns = [
        ["event", "event", ""],
        ["calls", "calls", "count"],
        ["max_seconds", "longest", "seconds"],
        ["max_rank", "on rank", "count"],
        ["flops_per_second", "rate", "flops_per_second"],
        ["messages", "messages", "count"],
        ["message_bytes", "in these", "bytes"],
        ["reductions", "reductions", "count"],
    ]
    title = f"PETSc {log['version']}'s own log"
    if len(longest) > MOST_EVENTS:
        title += f": the {MOST_EVENTS} longest of {len(longest)} events"
    return {"kind": "table", "title": title, "columns": columns, "rows": rows}


def beside_table(record: Mapping[str, Any]) -> Panel:
    """Seconds by the account beside those by PETSc, each of the slowest rank. Raises ValueError where PETSc's log is
    empty."""
    ranks = record["results"]["petsc"]["ranks"]
    rows: list[list[Any]] = []
    for name, phases, event, within in BESIDE:
        ours = seconds_of(record["ledger"], phases)
        theirs = [_seconds(events, event) - sum(_seconds(events, one) for one in within) for events in ranks]
        if ours or max(theirs, default=0.0):
            rows.append([name, ", ".join(phases), ours, " − ".join([event, *within]), max(theirs, default=None)])
    if not rows:
        raise ValueError("neither the account nor PETSc's log has anything of Newton's method")
    columns = [
        ["what", "", ""],
        ["phases", "phases of the account", ""],
        ["account_seconds", "account", "seconds"],
        ["event", "event of PETSc", ""],
        ["petsc_seconds", "PETSc", "seconds"],
    ]
    return {"kind": "table", "title": "Newton's method: the account beside PETSc's log", "columns": columns} | {
        "rows": rows
    }


def balance_table(record: Mapping[str, Any]) -> Panel:
    """Moles of each component at the beginning, at the end, and what has left."""
    keys = ("component", "moles_before", "moles_after", "moles_out", "error")
    columns = [
        ["component", "component", ""],
        ["moles_before", "at the beginning", "mol"],
        ["moles_after", "at the end", "mol"],
        ["moles_out", "left through the sides", "mol"],
        ["error", "missing", "1"],
    ]
    rows = [[row[key] for key in keys] for row in record["results"]["balance"]]
    title = "Balance of moles, in water and minerals; missing: relative to the largest of the three"
    return {"kind": "table", "title": title, "columns": columns, "rows": rows}


def water_table(record: Mapping[str, Any]) -> Panel:
    """The waters of the flow file side by side."""
    waters: Mapping[str, Mapping[str, Any]] = record["results"]["waters"]
    rows: list[list[Any]] = [
        ["pH", *(water["pH"] for water in waters.values())],
        ["ionic strength (mol/kg)", *(water["ionic_strength_mol_per_kg"] for water in waters.values())],
        ["charge (eq/kg)", *(water["charge_eq_per_kg"] for water in waters.values())],
    ]
    groups = (
        ("totals_mol_per_kg", "{}, total (mol/kg)"),
        ("saturation_indices", "{}, log₁₀ Ω"),
        ("pressures_atm", "{}, pressure (atm)"),
    )
    for key, label in groups:
        for name in dict.fromkeys(name for water in waters.values() for name in water[key]):
            rows.append([label.format(name), *(water[key].get(name) for water in waters.values())])
    columns = [["quantity", "", ""], *([f"water {n}", name, "1"] for n, name in enumerate(waters))]
    return {"kind": "table", "title": "The waters of the flow file", "columns": columns, "rows": rows}


def _seconds(events: Mapping[str, Mapping[str, float]], name: str) -> float:
    return events[name]["seconds"] if name in events else 0.0


def _longest(ranks: list[Mapping[str, Mapping[str, float]]]) -> dict[str, tuple[float, int]]:
    """Seconds of each event that took any on the rank with most, and that rank; the longest first."""
    found: dict[str, tuple[float, int]] = {}
    for rank, events in enumerate(ranks):
        for name, event in events.items():
            if event["seconds"] > found.get(name, (0.0, 0))[0]:
                found[name] = event["seconds"], rank
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))
