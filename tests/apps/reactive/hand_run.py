"""A reactive flow that nobody computed: field files written by FlowFields from given arrays, and its record.

The fields have a place and a time in each value, so that what is shown can be told apart.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from mpi4py import MPI

from fathometer.apps.reactive.case import case_of
from fathometer.apps.reactive.chemistry.activity import LN10
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.fields import DESCRIPTION, CellState, FlowFields
from tests.support.reactive_flows import flow
from tests.support.report_support import a_record

SPACING, ORIGIN = (0.01, 0.02, 0.04), (1.0, 2.0, -3.0)
EVENTS = {
    "SNESSolve": {"calls": 3, "seconds": 5.0, "flops": 6e9, "messages": 60, "message_bytes": 6e6, "reductions": 90},
    "KSPSolve": {"calls": 9, "seconds": 3.0, "flops": 5e9, "messages": 40, "message_bytes": 4e6, "reductions": 80},
    "SNESFunctionEval": {"calls": 12, "seconds": 1.2, "flops": 0, "messages": 9, "message_bytes": 2e6, "reductions": 0},
    "SNESJacobianEval": {"calls": 9, "seconds": 0.8, "flops": 0, "messages": 9, "message_bytes": 2e6, "reductions": 0},
}

SECONDS = {  # of both ranks, beside those of report_support
    ("assemble residual", "compute"): (1.0, 1.5),
    ("assemble Jacobian", "compute"): (0.9, 0.7),
    ("solve", "compute"): (3.1, 2.9),
}


def flow_in(folder, cells, **changes):
    """A flow file of those cells in a folder; changes: as of reactive_flows.values."""
    grid = {"cells": list(cells), "spacing": list(SPACING), "origin": list(ORIGIN)}
    return flow(folder, grid=grid, output__directory="out", **changes)


def state(case, shape, time, change=()):
    """Fields of these cells at a time, s: a front along x that moves, a tracer over six decades, calcite that vanishes
    behind it. change: (kind, value) sets a field: "pH", "tracer", "calcite"."""
    x, y, z = np.meshgrid(*((np.arange(n) + 0.5) / n for n in shape), indexing="ij")
    front = 1.0 / (1.0 + np.exp(20.0 * (x - 0.2 - 0.5 * time / 3600.0 + 0.2 * z + 0.1 * y)))
    ph, tracer, calcite = 8.0 - 3.0 * front, 10.0 ** (-9.0 + 6.0 * front), 0.05 * (1.0 - front)
    fields = {"pH": ph, "tracer": tracer, "calcite": calcite} | dict(change)
    fields = {name: np.broadcast_to(value, shape) for name, value in fields.items()}
    ln_activity = np.full((*shape, 9), -9.0)
    ln_activity[..., 1] = -LN10 * fields["pH"]
    totals = np.stack([1e-3 + 1e-3 * front, 1e-4 - 2e-4 * front, 2e-3 + 0 * front, fields["tracer"]], axis=-1)
    minerals = fields["calcite"][..., None] / case.system.molar_volume
    return CellState(ln_activity[..., :4], totals, minerals, ln_activity, np.full(shape, 0.01))


def written(folder, cells, times=(0.0, 1800.0, 3600.0), change=(), **changes):
    """The case and its fields, written into a folder."""
    case = case_of(flow_in(folder, cells, **changes))
    (folder / "out").mkdir(parents=True, exist_ok=True)
    fields = FlowFields(case.file, case.system, (0, 0, 0), MPI.COMM_SELF)
    fields.begin()
    for time in times:
        fields.write_state(time, state(case, tuple(cells), time, change))
    return case, fields


def record_of(case, fields, steps=6):
    """A record of such a run, as a run writes it."""
    record, system = a_record(SECONDS), case.system
    rows = [
        {
            "time_seconds": 600.0 * (n + 1),
            "step_seconds": 600.0 / (1 + n % 3),
            "newton_iterations": 4 + n % 2,
            "linear_iterations": 30 + n,
            "cut_steps": int(n == 3),
        }
        for n in range(steps)
    ]
    counts = {name: sum(row[name] for row in rows) for name in ("newton_iterations", "linear_iterations", "cut_steps")}
    slower = {name: event | {"seconds": 1.1 * event["seconds"]} for name, event in EVENTS.items()}
    record |= {"application": "reactive", "command": ["reactive", "flow.toml"]}
    record["input"] = case.file.resolved() | {"flow_file": str(case.file.path)}
    record["results"] = {
        "files": {"fields": str(case.file.output_directory / DESCRIPTION)},
        "grid": {
            "shape": list(case.file.grid.cells),
            "spacing_metres": list(case.file.grid.spacing),
            "origin_metres": list(case.file.grid.origin),
        },
        "chemistry": {
            "file": "chemistry.toml",
            "title": "Calcite in water",
            "primary": list(system.primary),
            "secondary": list(system.secondary),
            "minerals": list(system.minerals),
            "activity": system.activity,
        },
        "waters": {name: describe(system, ln_c) for name, ln_c in case.waters.items()},
        "blocks": [[[0, 0, 0], list(case.file.grid.cells)]],
        "time_seconds": fields.written[-1],
        "steps": steps,
        "earlier_steps": 0,
        "counts": counts,
        "course": rows,
        "field_times_seconds": list(fields.written),
        "fields": [asdict(field) for field in fields.fields],
        "balance": [
            {"component": name, "moles_before": 1.5, "moles_after": 1.0, "moles_out": 0.5, "error": 3e-14}
            for name in system.primary
        ],
        "petsc": {"version": "3.18.5", "ranks": [EVENTS, slower]},
        "notes": [],
    }
    return record
