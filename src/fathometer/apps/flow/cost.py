"""`fathometer plan` of an incompressible flow: seconds and memory from cells, steps and a machine's rates.

Rates of the parts of a step are those of all cores at work (`fathometer calibrate`, probes.py), for each cell and
stage; a transform takes as many of its own as its length doubles. Steps that the Courant number decides are those of
the largest velocity at the beginning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fathometer.apps.flow.case import IncompressibleCase, case_of, ranks_of
from fathometer.apps.flow.flow_file import IncompressibleFile
from fathometer.apps.flow.solver.model import NOW
from fathometer.base.errors import InputError
from fathometer.plan.counts import counts_to
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import Machine, SpectralRates
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.runs.application import CostEstimate

DOUBLE = 8
KERNEL = ("momentum", "projection", "transforms", "solve columns", "transpose", "halos")


def plan(file: IncompressibleFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost on a machine, and the best layout. Raises InputError for what cannot be met."""
    rates = machine.spectral
    if rates is None:
        raise InputError(
            f"machine {machine.name}: spectral: missing; needed for an incompressible flow; `fathometer calibrate`"
        )
    case = case_of(file)
    steps, results = counts_of(case)
    layouts = layouts_of(
        file.path, machine, options, lambda ranks, nodes: predict(case, machine, rates, steps, results, ranks, nodes)
    )
    record = {
        "schema_version": 1,
        "application": "plan",
        "flow_file": str(file.path),
        "command": "flow",
        "machine": machine.name,
        "shape": list(file.grid.cells),
        "steps": steps,
    } | layouts.as_dict()
    title = f"{' x '.join(map(str, file.grid.cells))} cells, about {steps} steps on {machine.name}"
    return CostEstimate(record, [title, "", *layouts.table(machine)])


def counts_of(case: IncompressibleCase) -> tuple[int, int]:
    """Steps of a run, as many as its largest velocity at the beginning or at sides needs, and times at which it writes
    results: the beginning, those that it comes to, and its end."""
    file, keys, problem = case.file, case.file.time, case.problem
    dt = keys.step
    if dt is None:
        speed = _largest_speed(file)
        rate = speed * sum(1 / h for h in file.grid.spacing)
        dt = min(keys.courant / rate if rate else math.inf, keys.diffusion * problem.diffusive_step(), keys.end)
    return counts_to(file.output_times, dt, keys.most_steps)


def _largest_speed(file: IncompressibleFile) -> float:
    keys = file.initial
    speeds = [abs(value) for side in file.side for value in side.velocity or ()]
    if keys.kind in ("taylor-green", "beltrami"):
        speeds.append(abs(keys.speed) * (2 if keys.kind == "beltrami" else 1))
    return max([*speeds, *map(abs, keys.velocity or ())], default=0.0) + keys.noise


def predict(
    case: IncompressibleCase, machine: Machine, rates: SpectralRates, steps: int, results: int, ranks: int, nodes: int
) -> Prediction:
    """The cost of a run. steps, results: as of `counts_of`. Raises InputError for more ranks than the grid allows."""
    file, problem = case.file, case.problem
    along_z, along_y = ranks_of(problem, ranks, file.path)
    nx, ny, nz = problem.cells
    own = nx * math.ceil(ny / along_y) * math.ceil(nz / along_z)
    number = problem.dims + problem.fluid.heated
    # A rank has a core to itself, or less: rates are those of a core with all others at work.
    slower = max(1.0, ranks / nodes / machine.cores_per_node)
    faster = max(1.0, machine.cores_per_node * nodes / ranks)  # threads of a rank
    each = own * slower / faster
    where: Literal["local", "network"] = "network" if nodes > 1 else "local"
    stages = steps * len(NOW)
    cut = (along_z > 1) + (along_y > 1)
    plane = DOUBLE * number * max(nx * ny, nx * nz)
    transposed = own * DOUBLE * cut
    doublings = sum(math.log2(n) for n in (nx, ny)[: problem.dims - 1])
    of_a_cell = value_bytes(file.variables, file.output.tecplot.precision)
    values = results * math.prod(problem.cells) * len(file.variables)
    written = results * math.prod(problem.cells) * of_a_cell
    states = 1 + steps // file.output.restart_steps
    kept = states * number * DOUBLE * math.prod(problem.cells)
    write = machine.write_bytes_per_second * nodes
    phases = (
        Phase("start-up", rates.start_seconds + machine.more_to_start(ranks // nodes)),
        Phase("momentum", stages * each * number * rates.momentum_seconds, 0, stages),
        Phase("projection", stages * each * rates.projection_seconds, 0, stages),
        Phase("transforms", stages * each * doublings * rates.transform_seconds, 0, stages),
        Phase("solve columns", stages * each * rates.column_seconds, 0, stages),
        Phase(
            "transpose",
            2 * cut * stages * machine.exchange_seconds(where, transposed) if cut else 0.0,
            2 * stages * transposed * ranks,
            2 * cut * stages,
        ),
        Phase("halos", 3 * cut * stages * machine.exchange_seconds(where, plane) if cut else 0.0, 0, 3 * cut * stages),
        Phase("diagnostics", steps * each * rates.look_seconds, 0, steps),
        Phase("write fields", written / write + values * rates.value_seconds / ranks, written, results),
        Phase("write restart", kept / write, kept, states),
        Phase("finish", rates.finish_seconds),
    )
    memory = {"process": int(rates.process_bytes or machine.process_bytes)}
    memory |= array_bytes(own, number, of_a_cell)
    return Prediction(nodes, ranks, phases, memory, KERNEL)


def value_bytes(variables: Sequence[str], precision: str) -> int:
    """Of a cell's values in a file."""
    return len(variables) * (4 if precision == "float32" else DOUBLE)


def array_bytes(cells: int, fields: int, values: int) -> dict[str, int]:
    """Memory of a rank's arrays, by what takes it. fields: velocities, and the temperature. values: bytes of a cell in
    a file: they are all there while the pressure is solved for."""
    return {
        "fields": cells * DOUBLE * 3 * fields,
        "pressure": cells * DOUBLE * 5,
        "results": cells * values,
    }
