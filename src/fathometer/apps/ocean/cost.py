"""`fathometer plan` of an ocean: seconds and memory from cells, iterations and a machine's rates.

    baroclinic             steps · (cells · rate + columns · rate) of the rank with most, shared by its threads
    barotropic             steps · (iterations · seconds of one on so many columns + columns · rate)
    barotropic halo        an exchange an iteration, one cell wide
    barotropic reduction   one an iteration (pcg: two), log2 of the ranks exchanges of a few numbers
    baroclinic halo        four exchanges a step

The blocks are those that the run would have. Rates are those of all cores at work (`fathometer calibrate`, probes.py).
Iterations come from the record of a short run (--like), or --iterations, and are estimated otherwise (iterations.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from fathometer.apps.ocean.case import grid_of
from fathometer.apps.ocean.field_kinds import fields_of
from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.iterations import Iterations, iterations_of
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.ocean.share import Share, layout_for, share_of
from fathometer.apps.ocean.solver.memory import field_bytes, model_bytes
from fathometer.apps.ocean.solver.problem import TRACERS
from fathometer.base.errors import InputError
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import Machine, OceanRates
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.runs.application import CostEstimate

KERNEL = (
    "baroclinic",
    "baroclinic halo",
    "barotropic",
    "barotropic halo",
    "barotropic reduction",
)
NUMBER = 8  # bytes
TILE = 8  # cells, of which rates of the block preconditioner are
STATE_DEEP, STATE_FLAT = 2 + len(TRACERS) + 4, 2  # of a restart file: with tendencies of two steps; over levels, or not


def plan(file: OceanFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost on a machine, and the best layout.

    Raises InputError for a machine without rates of oceans, and for a request that cannot be met.
    """
    if machine.ocean is None:
        raise InputError(f"machine {machine.name}: ocean: missing; needed for an ocean; `fathometer calibrate`")
    rates = machine.ocean
    grid, _ = grid_of(file)
    iterations = iterations_of(file, grid, options)

    layouts = layouts_of(
        file.path, machine, options, lambda ranks, nodes: predict(file, grid, machine, rates, iterations, ranks, nodes)
    )
    steps = file.time.count
    record = {
        "schema_version": 1,
        "application": "plan",
        "ocean_file": str(file.path),
        "command": "ocean",
        "machine": machine.name,
        "shape": list(grid.shape),
        "wet_cells": int(grid.levels.sum()),
        "steps": steps,
        "iterations_per_step": iterations.number,
        "iterations": iterations.origin,
    } | layouts.as_dict()
    table = [
        f"{' x '.join(map(str, grid.shape))} cells, {int(grid.levels.sum())} of water, {steps} steps on {machine.name}",
        f"iterations: {iterations.number:.3g} of conjugate gradients a step ({iterations.origin})",
        "",
        *layouts.table(machine),
    ]
    return CostEstimate(record, table)


def predict(
    file: OceanFile,
    grid: OceanGrid,
    machine: Machine,
    rates: OceanRates,
    iterations: Iterations,
    ranks: int,
    nodes: int,
) -> Prediction:
    """The cost of a run. Raises InputError for more ranks than the grid allows."""
    layout = layout_for(file, grid, ranks)
    share = share_of(layout, grid)
    nx, ny, nz = grid.shape
    # Cores of a rank: its threads; less than one where ranks share them.
    cores = machine.cores_per_node / (ranks / nodes)
    threads = max(1.0, cores // 1) if cores >= 1 else cores
    slower = 1 / min(cores, 1.0)  # of what one thread does
    where: Literal["local", "network"] = "network" if nodes > 1 else "local"
    steps, stored = file.time.count, share.stored * nz

    def exchange(all_bytes: float) -> float:
        if not share.neighbours:
            return 0.0
        if where == "local" and rates.halo_seconds:
            return rates.halo_seconds + all_bytes / machine.local_bytes_per_second
        return share.neighbours * machine.exchange_seconds(where, all_bytes / share.neighbours)

    deep, flat = share.rings, nz * NUMBER
    baroclinic_bytes = 2 * (deep[3] + deep[2]) * flat + (3 * deep[3] + 3 * deep[1]) * NUMBER
    halo = (
        exchange(2 * deep[1] * NUMBER)
        + exchange(deep[1] * NUMBER)
        + exchange(2 * deep[3] * (flat + NUMBER))
        + exchange(2 * deep[2] * flat + deep[3] * NUMBER)
    )
    own = _iteration(file, rates, share, threads)
    total = iterations.number * steps
    all_sums, message = _sums(file), deep[1] * NUMBER
    stage = rates.sum_seconds if where == "local" else 0.0
    stage = stage or machine.exchange_seconds(where, 3 * NUMBER)
    reduction = all_sums * math.ceil(math.log2(ranks)) * stage
    if ranks == 1:
        reduction = 0.0
    elif file.barotropic.solver == "pipelined":
        reduction = max(0.0, reduction - own)
    fields = fields_of(file.output.fields, TRACERS[2:], grid.spherical)
    times = 1 + -(-steps // file.field_steps)
    each = sum(nz if field.levels else 1 for field in fields) * nx * ny
    written = times * each * 4.0
    states = -(-steps // file.output.restart_steps)
    kept = states * (STATE_DEEP * nz + STATE_FLAT) * nx * ny * NUMBER
    disk = min(machine.write_bytes_per_second * nodes, machine.storage_bytes_per_second or math.inf)
    looks = -(-steps // file.output.course_steps)
    memory = _memory(file, grid, machine, rates, share)
    fresh = memory["state"] + memory["surface"] + memory["preconditioner"]
    phases = (
        Phase(
            "start-up",
            (rates.start_seconds or machine.start_seconds) * slower + machine.more_to_start(ranks // nodes),
        ),
        Phase("set up", rates.setup_seconds * stored * slower),
        Phase(
            "baroclinic",
            steps * (rates.cell_seconds * share.cells + rates.column_seconds * share.columns) / threads
            + rates.page_seconds * fresh * slower,
            0,
            2 * steps,
        ),
        Phase("baroclinic halo", steps * halo, steps * baroclinic_bytes * ranks, 4 * steps),
        Phase("barotropic", total * own + steps * rates.solve_seconds * share.stored * slower, 0, steps),
        Phase("barotropic halo", total * exchange(message), total * message * ranks, total),
        Phase("barotropic reduction", total * reduction, 0, total * all_sums),
        Phase("diagnostics", looks * rates.look_seconds * stored * slower, 0, looks),
        Phase(
            "write fields",
            times * (rates.field_seconds * stored * slower + rates.file_seconds) + written / disk,
            written,
            times,
        ),
        Phase(
            "write restart",
            states * (rates.restart_seconds * (STATE_DEEP * stored) * slower + rates.file_seconds) + kept / disk,
            kept,
            states,
        ),
        Phase("finish", rates.finish_seconds * slower),
    )
    return Prediction(nodes, ranks, phases, memory, KERNEL)


def _iteration(file: OceanFile, rates: OceanRates, share: Share, threads: float) -> float:
    """Seconds of an iteration on a rank, without messages: those of a core with a part of its columns."""
    keys = file.barotropic
    kinds = ((keys.preconditioner, keys.sums), ("diagonal", keys.sums))
    columns = share.columns / threads
    own, plain = (rates.gradient_seconds(keys.solver, kind, sums, columns) for kind, sums in kinds)
    if own is None:
        raise InputError(
            f"gradients of the machine: found none for {keys.solver}, {keys.preconditioner}, {keys.sums}; "
            "`fathometer calibrate`"
        )
    if keys.preconditioner == "block" and plain is not None:
        own = plain + max(0.0, own - plain) * (keys.tile + 1) / (TILE + 1)  # by the band of its factors
    return own


def _sums(file: OceanFile) -> int:
    """Reductions of an iteration."""
    return 2 if file.barotropic.solver == "pcg" else 1


def _memory(file: OceanFile, grid: OceanGrid, machine: Machine, rates: OceanRates, share: Share) -> dict[str, int]:
    """Bytes of the largest rank, rank 0, by what takes them. It draws when fields are written."""
    nx, ny, nz = grid.shape
    keys = file.barotropic
    process = rates.process_bytes or machine.process_bytes
    more = max(field_bytes(share.stored, nz), rates.finish_bytes - process)
    arrays = model_bytes(share.stored, nz, nx * ny, keys.tile, keys.preconditioner, share.rings)
    return {"process": int(process), **arrays, "fields and picture": int(more)}
