"""Ocean: its kernels against the memory, iterations of the barotropic solver, and what `plan` says and runs take."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

from benchmarks.command import on_ranks
from benchmarks.restartable_plan import COLUMNS, Case, planned_rows
from benchmarks.table import Table
from benchmarks.triad import TRIAD_BYTES, Triad
from fathometer import _native
from fathometer.apps.ocean.case import case_of
from fathometer.apps.ocean.cases import demo_text, earth_text
from fathometer.apps.ocean.ocean_file import load_ocean
from fathometer.apps.ocean.share import layout_for
from fathometer.apps.ocean.solver.baroclinic import Baroclinic
from fathometer.apps.ocean.solver.model import OceanModel
from fathometer.lab.turns import interleave

# Arrays over levels that a call reads and writes once at least, of which those written count twice.
MOVED = {"pressure": 4, "momentum": 15, "correct": 4, "fluxes": 6, "tracers": 8}
NUMBER = 8  # bytes
Row = tuple[str, ...]


def ocean_kernels(threads: int, quick: bool) -> Table:
    """Each kernel of a baroclinic step, on all cells of an earth, in turns with the triad."""
    cells, repeats = ((80, 96, 20), 3) if quick else ((160, 192, 40), 7)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ocean.toml"
        path.write_text(earth_text(cells))
        case = case_of(load_ocean(path))
    problem, comm = case.problem, MPI.COMM_SELF
    water = int(problem.grid.levels.sum())
    for count in sorted({1, threads}):
        _native.set_threads(count)
        triad = Triad()
        model = OceanModel(problem, layout_for(case.file, problem.grid, 1), comm, **case.file.barotropic.solver_keys())
        model.begin()
        for _ in range(3):
            model.step()
        state, dt, theta = model.state, problem.step, problem.implicitness
        kernels = Baroclinic(model.layout, problem.grid, problem.physics)
        flat = np.zeros(kernels.columns)
        fluxes = np.zeros((len(problem.tracers), *kernels.columns))
        tasks: dict[str, Callable[[], object]] = {
            "triad": triad,
            "pressure": partial(kernels.pressure, state),
            "momentum": partial(kernels.momentum, state, dt, theta, flat, flat),
            "correct": partial(kernels.correct, state, dt, theta, flat),
            "fluxes": partial(kernels.fluxes, state, dt),
            "tracers": partial(kernels.tracers, state, dt, fluxes),
        }
        seconds = {name: median(times) for name, times in interleave(tasks, repeats).items()}
        model.close()
        bandwidth = TRIAD_BYTES / seconds.pop("triad")
        for kernel, took in [*seconds.items(), ("all of them", sum(seconds.values()))]:
            moved = MOVED.get(kernel, sum(MOVED.values())) * NUMBER * water
            rows.append(
                (
                    kernel,
                    str(count),
                    f"{1e9 * took / water:.1f}",
                    f"{moved / took / 1e9:.1f}",
                    f"{bandwidth / 1e9:.1f}",
                    f"{moved / took / bandwidth:.2f}",
                )
            )
    _native.set_threads(threads)
    return Table(
        "Ocean: kernels of a step",
        f"An earth of {' x '.join(map(str, cells))} cells, {water} of them water, which alone count. Moved: arrays "
        f"over levels that a call touches, each once, those written twice. Medians of {repeats}, in turns with the "
        "triad.",
        ("kernel", "threads", "ns a cell", "moved, GB/s", "triad, GB/s", "share"),
        tuple(rows),
    )


def ocean_solver(threads: int, quick: bool) -> Table:
    """Iterations on one and two ranks of one thread."""
    cells, iterations, repeats = ((80, 96), 20, 2) if quick else ((320, 384), 100, 5)
    rows: list[Row] = []
    for ranks in (1, 2):
        text = on_ranks(ranks, "benchmarks.ocean_program", *cells, iterations, repeats)
        for *kind, kernel, halo, reduction in json.loads(text.splitlines()[-1]):
            all_of = kernel + halo + reduction
            parts = (f"{part:.0f}" for part in (all_of, kernel, halo, reduction))
            rows.append((*kind, str(ranks), *parts))
    return Table(
        "Ocean: barotropic solver",
        f"An earth of {cells[0]} x {cells[1]} columns, tiles of 8 cells, {iterations} iterations a solve, medians of "
        f"{repeats}; microseconds of an iteration on the rank whose kernels take longest. Halo and reduction include "
        "waiting for the other rank.",
        ("solver", "preconditioner", "sums", "ranks", "iteration, μs", "kernels", "halo", "reduction"),
        tuple(rows),
    )


def ocean_plan(threads: int, quick: bool) -> Table:
    """The demo and some steps of the earth on one rank and two: calibrate, run, plan by the run's own iterations."""
    rounds = 1 if quick else 3
    cases = [Case("demo", demo_text(quick), ranks) for ranks in (1, 2)]
    if not quick:
        cases += [Case("one degree, 4 steps", earth_text(steps=4), ranks) for ranks in (1, 2)]
    parts = ("baroclinic: plan, s", "run, s", "barotropic: plan, s", "run, s")
    return Table(
        "Ocean: plans and runs",
        f"`fathometer calibrate`, then the run and `plan --like` its record, {rounds} times in turns; medians. All "
        "cores work: one rank has as many threads. Wanted: total within 20 %, memory of the largest rank within 10 %.",
        (*COLUMNS, "iterations a step", *parts),
        planned_rows("ocean", cases, rounds, _parts, (".0f", *[".2f"] * len(parts))),
    )


def _parts(plan: Mapping[str, Any], figures: Mapping[str, float]) -> tuple[float, ...]:
    """Iterations a step; seconds of the two parts of steps as the plan and the run have them."""
    said: dict[str, float] = {}
    for phase in plan["phases"]:
        part = phase["phase"].split()[0]
        said[part] = said.get(part, 0.0) + phase["seconds"]
    names = ("baroclinic", "barotropic")
    return (figures["iterations a step"], *(value for part in names for value in (said[part], figures[part])))
