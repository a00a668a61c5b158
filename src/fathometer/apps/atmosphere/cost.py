"""Work, memory and messages of an atmosphere by its sizes and by ranks; `fathometer plan`.

Rates of the parts of a step are those of all cores at work (`fathometer calibrate`, probes.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.atmosphere.case import AtmosphereCase, case_of, check_ranks
from fathometer.apps.atmosphere.solver.equations import columns_of
from fathometer.apps.atmosphere.solver.transform import rows_of, shared_waves
from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import split
from fathometer.parallel.transpose import METHODS
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import AtmosphereRates, Machine
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.runs.application import CostEstimate

COMPLEX, DOUBLE, SINGLE = 16, 8, 4
# Phases of a step.
KERNEL = ("Legendre", "transpose", "grid", "spectral", "physics")


def messages(case: AtmosphereCase, ranks: int, protocol: str) -> list[dict[str, Any]]:
    """Messages of a step, over all ranks: of each transposition its MPI function, how often each rank calls it,
    messages between ranks, and their bytes."""
    if ranks == 1:
        return []
    waves, pairs = case.grid.truncation + 1, case.grid.pairs
    kept = sum(
        (hi - lo) * (last - first)
        for (lo, hi), (first, last) in ((split(waves, ranks, r), split(pairs, ranks, r)) for r in range(ranks))
    )
    _, inward, back = columns_of(case.equations.levels)
    return [
        {
            "what": what,
            "function": METHODS[protocol].function,
            "calls": METHODS[protocol].calls(ranks),
            "messages": ranks * (ranks - 1),
            "bytes": 2 * COMPLEX * columns * (waves * pairs - kept),
        }
        for what, columns in (("to latitudes", inward), ("to wavenumbers", back))
    ]


def array_bytes(case: AtmosphereCase, ranks: int, workers: int) -> dict[str, int]:
    """Memory of the arrays of the largest rank, by what takes it."""
    truncation, levels, _, longitudes = case.sizes
    rows = max(rows_of(truncation, own) for own in shared_waves(truncation, ranks))
    waves, pairs = -(-(truncation + 1) // ranks), -(-case.grid.pairs // ranks)
    state, inward, back = columns_of(levels)
    rings = COMPLEX * 2 * (inward + back + 4 * levels + 1)
    near, far = rings * waves * case.grid.pairs, rings * (truncation + 1) * pairs
    # A step makes the state's rates, and coefficients of what goes to the grid and comes back, one after the other.
    found = {
        "state": COMPLEX * rows * 2 * state,
        "Legendre functions": DOUBLE * rows * case.grid.pairs,
        "coefficients": COMPLEX * rows * (state + max(inward, back)),
        "rings": near if ranks == 1 else near + far,
        "grid": DOUBLE * 2 * longitudes * 2 * (inward + back) * workers,
        "weather": DOUBLE * 2 * pairs * longitudes * (4 * levels + 1) * 3,
    }
    if case.file.forcing is not None:
        found["physics"] = DOUBLE * 2 * pairs * longitudes * (9 * levels + 9)
    if ranks > 1:
        found["transposes"] = 2 * max(near, far)
    return found


def legendre_work(case: AtmosphereCase, columns: int) -> float:
    """Multiply-adds of the Legendre transforms of a step, of rows of one rank or of all."""
    rows = rows_of(case.grid.truncation, range(case.grid.truncation + 1))
    return float(rows * case.grid.pairs * 2 * columns)


def plan(file: AtmosphereFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost on a machine, and the best layout. Raises InputError for what cannot be met."""
    rates = machine.atmosphere
    if rates is None:
        raise InputError(
            f"machine {machine.name}: atmosphere: missing; needed for an atmosphere; `fathometer calibrate`"
        )
    case = case_of(file)
    layouts = layouts_of(file.path, machine, options, lambda ranks, nodes: predict(case, machine, rates, ranks, nodes))
    names = ("truncation", "levels", "latitudes", "longitudes")
    steps = file.last_step
    record = {
        "schema_version": 1,
        "application": "plan",
        "atmosphere_file": str(file.path),
        "command": "atmosphere",
        "machine": machine.name,
        "shape": list(case.sizes),
        "steps": steps,
    } | layouts.as_dict()
    told = ", ".join(f"{name} {size}" for name, size in zip(names, case.sizes, strict=True))
    return CostEstimate(record, [f"{told}, {steps} steps on {machine.name}", "", *layouts.table(machine)])


def predict(case: AtmosphereCase, machine: Machine, rates: AtmosphereRates, ranks: int, nodes: int) -> Prediction:
    """The cost of a run. Raises InputError for ranks that do not share the work."""
    check_ranks(case, ranks)
    file = case.file
    truncation, levels, latitudes, longitudes = case.sizes
    _, inward, back = columns_of(levels)
    slower = max(1.0, ranks / nodes / machine.cores_per_node)
    threads = max(1.0, machine.cores_per_node * nodes / ranks)
    share = slower / threads
    steps = file.last_step
    own_rows = max(rows_of(truncation, own) for own in shared_waves(truncation, ranks))
    own_pairs = -(-case.grid.pairs // ranks)
    multiplied = own_rows * case.grid.pairs * 2 * (inward + back)
    places = 2 * own_pairs * longitudes
    values = places * (inward + back) * math.log2(longitudes)
    where: Literal["local", "network"] = "network" if nodes > 1 else "local"
    moved = messages(case, ranks, file.parallel.protocol)
    sent = sum(one["calls"] * machine.exchange_seconds(where, one["bytes"] / ranks / one["calls"]) for one in moved)
    rings = COMPLEX * 2 * (truncation + 1) * own_pairs * (inward + back)
    arranged = machine.rearrange_seconds(rings, ranks / nodes) if ranks > 1 else 0.0
    results = 2 + (steps - 1) // file.result_steps
    intervals = (file.course_steps, file.result_steps, file.output.restart_steps)
    looks = len({steps}.union(*(range(0, steps, interval) for interval in intervals)))
    written = SINGLE * latitudes * longitudes * (4 * levels + 1)
    state = 2 * COMPLEX * (3 * levels + 1) * rows_of(truncation, range(truncation + 1))
    states = 1 + steps // file.output.restart_steps
    write = machine.write_bytes_per_second * nodes
    weather = 4 * levels + 1
    physics = {"none": 0.0, "held-suarez": rates.relaxation_seconds, "radiation": rates.radiation_seconds}[
        file.physics.forcing
    ]
    # A look at the state, or at its fields, brings these to the grid.
    again = (looks + results) * weather / (inward + back)
    phases = (
        Phase("start-up", rates.start_seconds + machine.more_to_start(ranks // nodes)),
        Phase("Legendre", (steps + again) * multiplied * rates.legendre_seconds * share, 0, 2 * steps),
        Phase("grid", (steps + again) * values * rates.grid_seconds * share, 0, steps),
        Phase("spectral", steps * own_rows * rates.row_seconds(levels) * share, 0, 3 * steps),
        Phase("physics", steps * places * levels * physics * share, 0, steps if physics else 0),
        Phase(
            "transpose",
            (steps + again) * (sent + arranged),
            (steps + round(again)) * sum(one["bytes"] for one in moved),
            steps * sum(one["calls"] for one in moved),
        ),
        Phase("diagnostics", looks * places * levels * rates.look_seconds * slower, 0, looks),
        Phase(
            "write fields", results * written * (1 / write + rates.value_seconds / SINGLE), results * written, results
        ),
        Phase("write restart", states * state / write, states * state, states),
        Phase("finish", rates.finish_seconds),
    )
    memory = {"process": int(rates.process_bytes or machine.process_bytes)}
    memory |= array_bytes(case, ranks, round(threads))
    return Prediction(nodes, ranks, phases, memory, KERNEL)
