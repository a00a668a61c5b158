"""Work, memory and messages of a plasma by its sizes and by P1 x P2; `fathometer plan`.

Rates of the parts of a step are those of all cores at work (`fathometer calibrate`, probes.py). Steps are as many as
the limits of the linear terms need; a flow across the field, and potentials that answer faster, need more: the steps of
a run that is like it say how many (--like).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fathometer.apps.plasma.case import PlasmaCase, case_of, ranks_of
from fathometer.apps.plasma.plasma_file import PlasmaFile
from fathometer.apps.plasma.solver.bracket import grid_of
from fathometer.apps.plasma.solver.layout import share_of
from fathometer.apps.plasma.solver.model import Plasma
from fathometer.apps.plasma.solver.stepping import METHODS, POWERS, limits
from fathometer.base.errors import InputError
from fathometer.base.regular_file import read_regular
from fathometer.parallel.decomposition import split
from fathometer.parallel.transpose import METHODS as TRANSPOSES
from fathometer.plan.counts import counts_to
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import Machine, PlasmaRates
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.runs.application import CostEstimate
from fathometer.storage.json_text import json_values

COMPLEX = 16
# Phases of a step.
KERNEL = ("velocities", "fields", "field lines", "bracket", "update", "transpose", "gather")


def messages(plasma: Plasma, ranks: tuple[int, int], protocol: str) -> list[dict[str, Any]]:
    """Messages of a stage (an evaluation of the rates), over all ranks: of each transposition and gathering its MPI
    function, how often each rank calls it, messages between ranks, and their bytes."""
    modes, velocities, points, waves = plasma.sizes
    (p1, p2), places = ranks, points * waves
    found: list[dict[str, Any]] = []

    def add(what: str, function: str, calls: int, of_all: int, sent: int) -> None:
        found.append({"what": what, "function": function, "calls": calls, "messages": of_all, "bytes": sent})

    def parts(cells: int, count: int) -> list[int]:
        return [hi - lo for lo, hi in (split(cells, count, n) for n in range(count))]

    if p1 > 1:
        kept = sum(a * b for a, b in zip(parts(velocities, p1), parts(places, p1), strict=True))
        each = TRANSPOSES[protocol].calls(p1)
        moved = 2 * COMPLEX * modes * (velocities * places - kept)
        add("transposes over velocities", TRANSPOSES[protocol].function, 2 * each, 2 * p2 * p1 * (p1 - 1), moved)
        add(
            "velocity sums of all places", "MPI_Allgatherv", 1, p2 * p1 * (p1 - 1),
            plasma.fields * COMPLEX * modes * places * (p1 - 1),
        )  # fmt: skip
    if p2 > 1 and plasma.nonlinear:
        rows = [n * points for n in parts(velocities, p1)]
        kept = sum(a * b for n in rows for a, b in zip(parts(modes, p2), parts(n, p2), strict=True))
        each = TRANSPOSES[protocol].calls(p2)
        moved = 2 * COMPLEX * waves * (modes * sum(rows) - kept)
        add("transposes over modes", TRANSPOSES[protocol].function, 2 * each, 2 * p1 * p2 * (p2 - 1), moved)
        add(
            "potentials of all modes", "MPI_Allgatherv", 1, p1 * p2 * (p2 - 1),
            p1 * plasma.fields * COMPLEX * modes * places * (p2 - 1),
        )  # fmt: skip
    return found


def array_bytes(plasma: Plasma, ranks: tuple[int, int], method: str) -> dict[str, int]:
    """Memory of the arrays of the largest rank, by what takes it."""
    share = share_of(plasma.sizes, ranks, math.prod(ranks) - 1)
    modes, velocities = (s.stop - s.start for s in (share.own_modes, share.own_velocities))
    own = modes * velocities * share.places
    turned = (ranks[0] > 1) + (ranks[1] > 1 and plasma.nonlinear)
    tables = 1 + turned
    found = {
        "distribution function": COMPLEX * own * METHODS[method].arrays,
        "Bessel functions": COMPLEX // 2 * own * tables,
        "transposes": COMPLEX * own * 3 * turned,
        "potentials": COMPLEX * plasma.fields * share.modes * share.places * 3,
    }
    if plasma.nonlinear:
        found["bracket"] = COMPLEX * own
    return found


def bracket_work(plasma: Plasma) -> float:
    """Points of the grid of products of a row, times the doublings of both lengths, over kx ky of the modes."""
    if not plasma.nonlinear:
        return 0.0
    nx, ny = grid_of(plasma.tube.modes)
    return nx * ny * math.log2(nx * ny) / (len(plasma.tube.modes.ky) * plasma.tube.modes.waves)


def counts_of(case: PlasmaCase, like: Path | None = None) -> tuple[int, int]:
    """Steps of a run, and times at which it writes results: the beginning, those that it comes to, and its end.

    like: the record of a run whose steps these are, up to its end; later ones as in its second half. None: as many as
    the linear terms alone need. Raises InputError for a record without steps of a plasma.
    """
    keys = case.file.time
    linear = keys.courant * METHODS[keys.method].reach / sum(limits(case.plasma).values())
    step = keys.step or (linear if like is None else _step_of_run(like, case.file.output_times[-1]))
    return counts_to(case.file.output_times, step, keys.most_steps)


def _step_of_run(path: Path, end: float) -> float:
    """Mean step up to a time of a plasma like that of a record, R/v_i."""
    try:
        course = json_values(read_regular(path))["results"]["course"]
        times, steps = (np.array([float(row[name]) for row in course]) for name in ("time_R_over_v", "step"))
        last = times[-1]
        if not 0 < last < math.inf:
            raise ValueError
        half = np.interp(last / 2, times, steps)
        count = np.interp(end, times, steps) + max(0.0, end - last) * (steps[-1] - half) / (last / 2)
        if not 0 < count < math.inf:
            raise ValueError
        return float(end / count)
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError):
        raise InputError(f"--like {path}: found no record of a plasma with steps; allowed: its run.json") from None


def plan(file: PlasmaFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost on a machine, and the best layout. Raises InputError for what cannot be met."""
    rates = machine.plasma
    if rates is None:
        raise InputError(f"machine {machine.name}: plasma: missing; needed for a plasma; `fathometer calibrate`")
    case = case_of(file)
    like = options["like"]
    steps, results = counts_of(case, like)
    layouts = layouts_of(
        file.path, machine, options, lambda ranks, nodes: predict(case, machine, rates, steps, results, ranks, nodes)
    )
    modes, velocities, points, waves = case.plasma.sizes
    origin = _origin(case, like)
    record = {
        "schema_version": 1,
        "application": "plan",
        "plasma_file": str(file.path),
        "command": "plasma",
        "machine": machine.name,
        "shape": [modes, velocities, points, waves],
        "steps": steps,
        "steps_origin": origin,
    } | layouts.as_dict()
    title = f"{modes} ky x {waves} kx x {points} theta x {velocities} velocities, about {steps} steps on {machine.name}"
    return CostEstimate(record, [title, f"steps: {origin}", "", *layouts.table(machine)])


def _origin(case: PlasmaCase, like: Path | None) -> str:
    """Where the number of steps comes from, in words."""
    if case.file.time.step:
        return "[time] step"
    if like is not None:
        return f"those of {like}"
    more = (["turbulence"] if case.plasma.nonlinear else []) + ([] if case.plasma.adiabatic else ["electrons"])
    words = f"; {' and '.join(more)} may need shorter ones: --like RUN.json takes those of a run" if more else ""
    return f"as the linear terms need{words}"


def predict(
    case: PlasmaCase, machine: Machine, rates: PlasmaRates, steps: int, results: int, ranks: int, nodes: int
) -> Prediction:
    """The cost of a run. steps, results: as of `counts_of`. Raises InputError for ranks that do not share the work."""
    file, plasma = case.file, case.plasma
    shared = ranks_of(file, plasma, ranks)
    method = METHODS[file.time.method]
    arrays = array_bytes(plasma, shared, file.time.method)
    own = arrays["distribution function"] // COMPLEX // method.arrays
    slower = max(1.0, ranks / nodes / machine.cores_per_node)
    faster = max(1.0, machine.cores_per_node * nodes / ranks)  # threads of a rank
    each = own * slower / faster
    bracket = (rates.shared_bracket_seconds if faster > 1 else 0.0) or rates.bracket_seconds
    stages, linear = steps * method.stages, steps * method.stages if plasma.nonlinear else 0
    where: Literal["local", "network"] = "network" if nodes > 1 else "local"
    moved = messages(plasma, shared, file.parallel.protocol)

    arranged = machine.rearrange_seconds(COMPLEX * own, ranks / nodes)

    def exchange(words: str) -> tuple[float, int, int]:
        chosen = [one for one in moved if words in one["what"] or (words == "gather" and "all" in one["what"])]
        time = sum(
            one["calls"] * machine.exchange_seconds(where, one["bytes"] / ranks / max(1, one["calls"]))
            for one in chosen
        )
        time += 2 * arranged * len(chosen) if words == "transposes" else 0.0
        return stages * time, stages * sum(one["bytes"] for one in chosen), stages * sum(one["calls"] for one in chosen)

    whole = math.prod(plasma.sizes) * COMPLEX
    potentials = plasma.fields * plasma.sizes[0] * plasma.tube.points * plasma.tube.modes.waves * COMPLEX
    states = 1 + steps // file.output.restart_steps
    write = machine.write_bytes_per_second * nodes
    products = plasma.grid.cosines * (2 if plasma.grid.frequencies.any() else 1)
    looks = 2 + steps // file.output.course_steps
    phases = (
        Phase("start-up", rates.start_seconds + machine.more_to_start(ranks // nodes)),
        Phase(
            "step limit", POWERS * each * (rates.line_seconds + products * rates.velocity_seconds + rates.field_seconds)
        ),
        Phase("field lines", stages * each * rates.line_seconds, 0, stages),
        Phase("velocities", stages * each * products * rates.velocity_seconds, 0, stages),
        Phase("fields", stages * each * rates.field_seconds, 0, stages),
        Phase("bracket", linear * each * bracket_work(plasma) * bracket, 0, linear),
        Phase("update", steps * method.stages * each * rates.update_seconds, 0, stages),
        Phase("transpose", *exchange("transposes")),
        Phase("gather", *exchange("gather")),
        Phase("diagnostics", looks * each * rates.look_seconds, 0, looks),
        Phase("write fields", results * potentials / write, results * potentials, results),
        Phase("write restart", states * whole / write, states * whole, states),
        Phase("finish", rates.finish_seconds),
    )
    memory = {"process": int(rates.process_bytes or machine.process_bytes)} | arrays
    return Prediction(nodes, ranks, phases, memory, KERNEL)
