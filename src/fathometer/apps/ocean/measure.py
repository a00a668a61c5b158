"""Times of small oceans on one core, as JSON.

`fathometer calibrate` runs it on each core at the same time (probes.py). Two basins, of few and of many levels, tell
cells from columns; iterations of the barotropic solver are timed on three sizes, of which the largest fits into no
core's cache.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.apps.ocean.barotropic.solver import BarotropicSolver
from fathometer.apps.ocean.case import OceanCase, case_of
from fathometer.apps.ocean.cases import gyre_text
from fathometer.apps.ocean.fields import OceanFields
from fathometer.apps.ocean.ocean_file import load_ocean
from fathometer.apps.ocean.share import layout_for, share_of
from fathometer.apps.ocean.simulation import state_arrays
from fathometer.apps.ocean.solver.model import OceanModel
from fathometer.base import ledger
from fathometer.base.host import peak_memory
from fathometer.base.ledger import now, timed
from fathometer.runs.state_arrays import save

OCEANS = ((192, 128, 12), (128, 96, 40))
STEPS = 6
COLUMNS = ((32, 32, 2), (192, 128, 2), (512, 256, 2))
ITERATIONS = (5, 25)  # of two solves, whose difference tells of an iteration
FRESH = 1 << 28  # bytes
SECONDS = 0.03  # of the longer ones together, about
SOLVERS = ("pcg", "chronopoulos-gear", "pipelined")
PRECONDITIONERS = ("diagonal", "block")
SUMS = ("mpi", "exact")


def case_in(folder: Path, cells: tuple[int, int, int]) -> OceanCase:
    """A basin of so many cells."""
    path = folder / "ocean.toml"
    path.write_text(gyre_text(cells, STEPS, "."), encoding="utf-8")
    step = 7200.0 * min(1.0, 48 / cells[0])  # short enough for any number of cells
    return case_of(load_ocean(path, [f"time.step={step}"]))


def ocean_times(folder: Path, cells: tuple[int, int, int]) -> dict[str, float]:
    """Counts and seconds of an ocean by what takes them; the files without what the disk takes."""
    comm = MPI.COMM_SELF
    with ledger.Ledger() as account:
        began = now()
        case = case_in(folder, cells)
        model = OceanModel(
            case.problem, layout_for(case.file, case.problem.grid, 1), comm, **case.file.barotropic.solver_keys()
        )
        model.begin()
        found = {"setup": now() - began}
        steps = []
        for _ in range(STEPS):
            before = account.seconds("baroclinic")
            model.step()
            steps.append(account.seconds("baroclinic") - before)
        found["baroclinic"] = min(steps[1:])
        found["look"] = timed(model.diagnostics)
        fields = OceanFields(case.file, case.problem.grid, model.layout, comm)
        fields.begin()
        with ledger.phase("fields"):
            fields.write_state(STEPS, 0.0, model.fields())
        with ledger.phase("restart"):
            save(folder, state_arrays(model.arrays(), model.layout), {}, comm)
        for phase in ("fields", "restart"):
            found[phase] = account.seconds(phase, "compute")
            found[f"{phase} file"] = account.seconds(phase, "io")
        model.close()
    share = share_of(model.layout, case.problem.grid)
    return found | {
        "cells": share.cells,
        "columns": share.columns,
        "stored": share.stored,
        "levels": case.problem.grid.shape[2],
    }


def iteration_times(folder: Path, cells: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Seconds of an iteration of each kind."""
    comm = MPI.COMM_SELF
    case = case_in(folder, cells)
    layout, grid = layout_for(case.file, case.problem.grid, 1), case.problem.grid
    eta, x = np.zeros(layout.shaped()), np.zeros(layout.shaped())
    problem = case.problem
    numbers = problem.step, problem.implicitness, problem.physics.gravity
    right = np.random.default_rng(1).random(layout.shaped()) - 0.5
    rows = []
    for solver, preconditioner, sums in product(SOLVERS, PRECONDITIONERS, SUMS):
        seconds = []
        for number in ITERATIONS:
            keys: dict[str, Any] = {"solver": solver, "preconditioner": preconditioner, "sums": sums}
            one = BarotropicSolver(layout, comm, grid, iterations=number, **keys)
            one.coefficients(eta, *numbers)

            def solve(one: BarotropicSolver = one) -> None:
                x[...] = 0.0
                one.solve(right, x)

            with ledger.Ledger():
                solve()
                repeats = max(3, min(20, round(SECONDS / max(timed(solve), 1e-6))))
                seconds.append(min(timed(solve) for _ in range(repeats)))
            again = timed(partial(one.coefficients, eta, *numbers))
            one.close()
        took = max(0.1 * seconds[1], seconds[1] - seconds[0]) / (ITERATIONS[1] - ITERATIONS[0])
        rows.append(
            {
                "solver": solver,
                "preconditioner": preconditioner,
                "sums": sums,
                "columns": int((grid.levels > 0).sum()),
                "seconds": took,
                "rest": max(0.0, seconds[0] - ITERATIONS[0] * took) + again,
                "stored": layout.padded[0] * layout.padded[1],
            }
        )
    return rows


def page_seconds() -> float:
    """Of a byte of memory that is written for the first time."""
    values = np.empty(FRESH // 8)
    return timed(partial(values.fill, 1.0)) / FRESH


def main(folder: Path) -> None:
    """Write what was measured into times.json in this folder."""
    _native.set_threads(1)
    process = peak_memory()
    pages = page_seconds()
    gradients = [row for cells in COLUMNS for row in iteration_times(folder, cells)]
    oceans = [ocean_times(folder, cells) for cells in OCEANS]
    found = {"process_bytes": process, "page_seconds": pages, "gradients": gradients, "oceans": oceans}
    (folder / "times.json").write_text(json.dumps(found), encoding="utf-8")
