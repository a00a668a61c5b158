"""Work, memory and messages of an atmosphere by its sizes and by ranks; `fathometer plan`.

Rates of the parts of a step are those of all cores at work (`fathometer calibrate`, probes.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.atmosphere.case import AtmosphereCase, case_of, check_ranks
from fathometer.apps.atmosphere.solver.columns import PHASE, Integers, moved, owners
from fathometer.apps.atmosphere.solver.equations import columns_of
from fathometer.apps.atmosphere.solver.physics import RESULTS, Forcing, sun
from fathometer.apps.atmosphere.solver.tracers import WIDTH, wind_columns
from fathometer.apps.atmosphere.solver.transform import rows_of, shared_waves
from fathometer.base.errors import InputError
from fathometer.parallel import overlap
from fathometer.parallel.decomposition import split
from fathometer.parallel.transpose import METHODS
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import AtmosphereRates, Machine
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.runs.application import CostEstimate

COMPLEX, DOUBLE, SINGLE = 16, 8, 4
HOURS = 3  # between times of a day at which work is counted
# Phases of a step.
KERNEL = ("Legendre", "transpose", "grid", "spectral", "physics", PHASE, "tracers")
HALOS = "halos of tracers"
PATH = 14  # as many tracers as finding where air comes from costs


def messages(case: AtmosphereCase, nodes: Sequence[int], width: int = WIDTH) -> list[dict[str, Any]]:
    """Messages of a step, over all ranks: of each transposition, of columns that other ranks compute, and of the halos
    of tracers, the MPI function, how often a rank calls it (a mean), messages between ranks, and their bytes.

    nodes: of each rank, by number. width: of these halos.
    """
    ranks, protocol = len(nodes), case.file.parallel.protocol
    if ranks == 1:
        return []
    waves, pairs = case.grid.truncation + 1, case.grid.pairs
    kept = sum(
        (hi - lo) * (last - first)
        for (lo, hi), (first, last) in ((split(waves, ranks, r), split(pairs, ranks, r)) for r in range(ranks))
    )
    _, inward, back = columns_of(case.equations.levels)
    transposes = [
        {
            "what": what,
            "function": METHODS[protocol].function,
            "calls": METHODS[protocol].calls(ranks),
            "messages": ranks * (ranks - 1),
            "bytes": 2 * COMPLEX * columns * (waves * pairs - kept),
        }
        for what, columns in (("to latitudes", inward), ("to wavenumbers", back))
    ]
    return transposes + _column_messages(case, nodes) + _halo_messages(case, ranks, width)


def _column_messages(case: AtmosphereCase, nodes: Sequence[int]) -> list[dict[str, Any]]:
    forcing = case.file.forcing
    if forcing is None:
        return []
    _, levels, _, longitudes = case.sizes
    count, between = moved(_owners(case, forcing, nodes), case.grid.pairs, longitudes, len(nodes))
    if not count:
        return []
    return [
        {
            "what": what,
            "function": "MPI_Alltoallv" if forcing.all_to_all else "MPI_Isend",
            "calls": 1 if forcing.all_to_all else between / len(nodes),
            "messages": between,
            "bytes": DOUBLE * width * count,
        }
        for what, width in (("to physics", 3 * levels + 1), ("from physics", 3 * levels + RESULTS))
    ]


def _owners(case: AtmosphereCase, forcing: Forcing, nodes: Sequence[int]) -> Integers:
    return owners(forcing.layout, forcing.balance, case.grid.pairs, case.grid.longitudes, nodes)


def largest_work(case: AtmosphereCase, nodes: Sequence[int], by_day: float = 1.0, by_night: float = 1.0) -> float:
    """Work of physics on the rank that has most, a mean over times of a day: what its columns cost by day and by
    night."""
    forcing = case.file.forcing
    if forcing is None:
        return 0.0
    ranks = len(nodes)
    if ranks == 1 or (forcing.layout == "pairs" and forcing.balance == "none"):
        # Half of a ring is lit, or as much of the one in the other hemisphere is dark.
        return 2 * -(-case.grid.pairs // ranks) * case.grid.longitudes * (by_day + by_night) / 2
    owner = _owners(case, forcing, nodes)
    sines, largest = np.stack([case.grid.sines, -case.grid.sines], axis=1)[..., None], []
    for hour in range(0, 24, HOURS):
        lit = sun(sines, case.grid.longitude, forcing.declination, hour * 3600.0) > 0
        largest.append(np.bincount(owner, np.where(lit, by_day, by_night).reshape(-1)).max())
    return float(np.mean(largest))


def _halo_messages(case: AtmosphereCase, ranks: int, width: int) -> list[dict[str, Any]]:
    if not case.file.tracers:
        return []
    shares = [share for rank in range(ranks) for share in overlap.shares(case.grid.pairs, ranks, rank, width)]
    return [
        {
            "what": HALOS,
            "function": overlap.FUNCTION,
            "calls": len(shares) / ranks,
            "messages": len(shares),
            "bytes": sum(last - first for _, first, last in shares) * pair_bytes(case),
        }
    ]


def pair_bytes(case: AtmosphereCase) -> int:
    """Of winds and tracers on a pair of latitudes."""
    levels = case.equations.levels
    return DOUBLE * 2 * case.grid.longitudes * (wind_columns(levels) + len(case.file.tracers) * levels)


def array_bytes(case: AtmosphereCase, ranks: int, workers: int) -> dict[str, int]:
    """Memory of the arrays of the largest rank, by what takes it."""
    truncation, levels, _, longitudes = case.sizes
    rows = max(rows_of(truncation, own) for own in shared_waves(truncation, ranks))
    waves, pairs = -(-(truncation + 1) // ranks), -(-case.grid.pairs // ranks)
    state, inward, back = columns_of(levels)
    rings = COMPLEX * 2 * (inward + back + 4 * levels + 1)
    near, far = rings * waves * case.grid.pairs, rings * (truncation + 1) * pairs
    weather = DOUBLE * 2 * pairs * longitudes * (4 * levels + 1)
    # A step makes the state's rates, and coefficients of what goes to the grid and comes back, one after the other.
    found = {
        "state": COMPLEX * rows * 2 * state,
        "Legendre functions": DOUBLE * rows * case.grid.pairs,
        "coefficients": COMPLEX * rows * (state + max(inward, back)),
        "rings": near if ranks == 1 else near + far,
        "grid": DOUBLE * 2 * longitudes * 2 * (inward + back) * workers,
        "weather": weather + round(1.5 * weather),  # what looks at it and draws it: as seen, 1.5 times as much
    }
    if case.file.forcing is not None:
        places = 2 * pairs * longitudes
        found["physics"] = DOUBLE * places * (9 * levels + 9)
        if ranks > 1 and (case.file.forcing.layout, case.file.forcing.balance) != ("pairs", "none"):
            found["columns"] = DOUBLE * places * (9 * levels + 9)
    if case.file.tracers:
        around = max(
            high - low for low, high in (overlap.wanted(case.grid.pairs, ranks, r, WIDTH) for r in range(ranks))
        )
        # Two copies of them while a state is written, when two of the weather are gone.
        copied = DOUBLE * 2 * pairs * longitudes * levels * len(case.file.tracers) - weather
        found["tracers"] = pair_bytes(case) * (2 * pairs + around) + max(0, 2 * copied)
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
    on = [rank * nodes // ranks for rank in range(ranks)]
    found = messages(case, on)
    transposed, further = found[:2], found[2:]
    halos = [one for one in further if one["what"] == HALOS]
    balanced = [one for one in further if one["what"] != HALOS]

    def sent(rows: Sequence[Mapping[str, Any]]) -> float:
        each = (machine.exchange_seconds(where, one["bytes"] / ranks / one["calls"]) * one["calls"] for one in rows)
        return float(sum(each))

    tracers = len(file.tracers)
    carried = places * levels * (PATH + tracers) * rates.tracer_seconds * share if tracers else 0.0
    fields = 4 * levels + 1 + tracers * levels
    rings = COMPLEX * 2 * (truncation + 1) * own_pairs * (inward + back)
    arranged = machine.rearrange_seconds(rings, ranks / nodes) if ranks > 1 else 0.0
    results = 2 + (steps - 1) // file.result_steps
    intervals = (file.course_steps, file.result_steps, file.output.restart_steps)
    looks = len({steps}.union(*(range(0, steps, interval) for interval in intervals)))
    written = SINGLE * latitudes * longitudes * fields
    state = 2 * COMPLEX * (3 * levels + 1) * rows_of(truncation, range(truncation + 1))
    if file.forcing is not None:
        state += DOUBLE * latitudes * longitudes * (3 * levels + 1 + RESULTS)
    state += case.grid.pairs * pair_bytes(case) if tracers else 0
    states = 1 + steps // file.output.restart_steps
    write = machine.write_bytes_per_second * nodes
    weather = 4 * levels + 1
    night = rates.night_seconds or rates.radiation_seconds
    # By day and by night, of a level of a column.
    physics = {
        "none": (0.0, 0.0),
        "held-suarez": (rates.relaxation_seconds, rates.relaxation_seconds),
        "radiation": (2 * rates.radiation_seconds - night, night),
    }[file.physics.forcing]
    width = 6 * levels + 1 + RESULTS
    columns_arranged = machine.rearrange_seconds(DOUBLE * places * width, ranks / nodes) / 2 if balanced else 0.0
    # A look at the state, or at its fields, brings these to the grid.
    again = (looks + results) * weather / (inward + back)
    phases = (
        Phase("start-up", rates.start_seconds + machine.more_to_start(ranks // nodes)),
        Phase("Legendre", (steps + again) * multiplied * rates.legendre_seconds * share, 0, 2 * steps),
        Phase("grid", (steps + again) * values * rates.grid_seconds * share, 0, steps),
        Phase("spectral", steps * own_rows * rates.row_seconds(levels) * share, 0, 3 * steps),
        Phase("physics", steps * levels * largest_work(case, on, *physics) * share, 0, steps if any(physics) else 0),
        Phase(
            "tracers",
            steps * (carried + sent(halos)),
            steps * sum(one["bytes"] for one in halos),
            steps if tracers else 0,
        ),
        Phase(
            "transpose",
            (steps + again) * (sent(transposed) + arranged),
            (steps + round(again)) * sum(one["bytes"] for one in transposed),
            steps * sum(one["calls"] for one in transposed),
        ),
        Phase(
            PHASE,
            steps * (sent(balanced) + columns_arranged),
            steps * sum(one["bytes"] for one in balanced),
            round(steps * sum(one["calls"] for one in balanced)),
        ),
        Phase("diagnostics", looks * places * levels * (1 + tracers / 4) * rates.look_seconds * slower, 0, looks),
        Phase(
            "write fields", results * written * (1 / write + rates.value_seconds / SINGLE), results * written, results
        ),
        Phase("write restart", states * state / write, states * state, states),
        Phase("finish", rates.finish_seconds),
    )
    memory = {"process": int(rates.process_bytes or machine.process_bytes)}
    memory |= array_bytes(case, ranks, round(threads))
    return Prediction(nodes, ranks, phases, memory, KERNEL)
