"""`fathometer plan` of a reactive flow: seconds and memory from cells, iterations and a machine's rates.

    set up              bytes of the arrays / what a node writes for the first time in a second
    assemble residual   evaluations · cells of a rank · rate
    assemble Jacobian   iterations of Newton's method · cells · rate · n² · blocks in a row
    solve               set-up of the preconditioner once a Newton iteration (n³), each linear iteration (n²), which
                        also exchanges one halo and sums twice over all ranks

Rates are those of all cores at work (`fathometer calibrate`, probes.py). Iterations come from the record of a short run
(--like), or --iterations, and are assumed otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fathometer.apps.reactive.case import case_of
from fathometer.apps.reactive.chemistry.system import ChemicalSystem
from fathometer.apps.reactive.fields import fields_of
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.apps.reactive.solver.distributed_grid import GHOST_WIDTH
from fathometer.apps.reactive.solver.memory import solver_bytes
from fathometer.base.errors import InputError
from fathometer.base.regular_file import read_regular
from fathometer.parallel.decomposition import choose_ranks
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import ImplicitRates, Machine
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.runs.application import CostEstimate
from fathometer.storage.json_text import json_values

ASSUMED = (4.0, 10.0)  # Newton's iterations a step, linear ones for each of these

MOST_LINEAR = 1.5  # times the mean: linear iterations of an iteration of Newton's method, each of which takes a vector
SUMS = 2  # over all ranks, of a linear iteration: GMRES with classical Gram-Schmidt
KERNEL = ("assemble residual", "assemble Jacobian", "solve")
DOUBLE = 8


@dataclass(frozen=True)
class Iterations:
    """steps: of the run. newton: a step. linear: of each iteration of Newton's method. origin: in words."""

    steps: float
    newton: float
    linear: float
    origin: str


def plan(file: FlowFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost on a machine, and the best layout.

    Raises InputError for a machine without rates of implicit solves, and for a request that cannot be met.
    """
    system = case_of(file).system
    if machine.implicit is None:
        raise InputError(
            f"machine {machine.name}: implicit: missing; needed for a reactive flow; `fathometer calibrate` where "
            "PETSc is installed"
        )
    iterations = _iterations(file, options)
    rates = machine.implicit

    layouts = layouts_of(
        file.path,
        machine,
        options,
        lambda ranks, nodes: predict(file, system, machine, rates, iterations, ranks, nodes),
    )
    record = {
        "schema_version": 1,
        "application": "plan",
        "flow_file": str(file.path),
        "command": "reactive",
        "machine": machine.name,
        "shape": file.grid.cells,
        "components": len(system.primary),
        "steps": iterations.steps,
        "newton_iterations_per_step": iterations.newton,
        "linear_iterations_per_newton_iteration": iterations.linear,
        "iterations": iterations.origin,
    } | layouts.as_dict()
    table = [
        f"{' x '.join(map(str, file.grid.cells))} cells, {len(system.primary)} components, "
        f"{iterations.steps:.0f} steps on {machine.name}",
        f"iterations: {iterations.newton:.3g} of Newton's method a step, {iterations.linear:.3g} linear ones for each "
        f"({iterations.origin})",
        "",
        *layouts.table(machine),
    ]
    return CostEstimate(record, table)


def predict(
    file: FlowFile,
    system: ChemicalSystem,
    machine: Machine,
    rates: ImplicitRates,
    iterations: Iterations,
    ranks: int,
    nodes: int,
) -> Prediction:
    """The cost of a run. Raises InputError for more ranks than the grid allows."""
    cells, n = math.prod(file.grid.cells), len(system.primary)
    layout = choose_ranks(file.grid.cells, ranks, GHOST_WIDTH[file.transport.scheme])
    block = [-(-all_of // parts) for all_of, parts in zip(file.grid.cells, layout, strict=True)]
    own = math.prod(block)
    # A rank has a core to itself, or less: rates are those of a core with all others at work.
    slower = max(1.0, ranks / nodes / machine.cores_per_node)
    size = n / rates.components
    width = (1 + 6 * GHOST_WIDTH[file.transport.scheme]) / rates.entries
    newton = iterations.steps * iterations.newton
    linear = newton * iterations.linear
    evaluations = newton + iterations.steps
    face = max((own // block[axis] for axis in range(3) if layout[axis] > 1), default=0) * n * DOUBLE
    where: Literal["local", "network"] = "network" if nodes > 1 else "local"
    exchange = machine.exchange_seconds(where, face) if face else 0.0
    total = SUMS * math.ceil(math.log2(ranks)) * machine.exchange_seconds(where, DOUBLE) if ranks > 1 else 0.0
    fields = len(fields_of(system, file.output.fields))
    times = len(file.output_times) + 1
    states = 1 + int(iterations.steps // file.output.restart_steps)
    written = times * fields * cells * 4
    kept = states * (n + len(system.minerals)) * cells * DOUBLE
    rate = machine.write_bytes_per_second * nodes
    memory = {"process": int(rates.process_bytes or machine.process_bytes)}
    most = MOST_LINEAR * iterations.linear
    memory |= solver_bytes(file.grid.cells, layout, n, len(system.minerals), file.transport.scheme, most)
    fresh = (sum(memory.values()) - memory["process"]) * ranks / nodes
    phases = (
        Phase("start-up", machine.start_seconds + rates.start_seconds + machine.more_to_start(ranks // nodes)),
        Phase("set up", machine.fresh_seconds(fresh)),
        Phase(
            "assemble residual",
            evaluations * (own * rates.residual_seconds * size * width * slower + exchange),
            0,
            evaluations,
        ),
        Phase("assemble Jacobian", newton * own * rates.jacobian_seconds * size**2 * width * slower, 0, newton),
        Phase(
            "solve",
            newton * own * rates.setup_seconds * size**3 * width * slower
            + linear * (own * rates.iteration_seconds * size**2 * width * slower + exchange + total),
            linear * face * ranks,
            linear,
        ),
        Phase("write fields", written / rate + times * fields * rates.file_seconds, written, times * fields),
        Phase("write restart", kept / rate + states * (n + len(system.minerals)) * rates.file_seconds, kept, states),
        Phase("finish", rates.finish_seconds),
    )
    return Prediction(nodes, ranks, phases, memory, KERNEL)


def _iterations(file: FlowFile, options: Mapping[str, Any]) -> Iterations:
    steps, certain = _steps(file)
    if options["like"] is not None:
        like = _of_run(options["like"])
        return Iterations(steps, like[0], like[1], f"those of {options['like']}")
    if options["iterations"] is not None:
        if len(options["iterations"]) != 2:
            raise InputError("--iterations: found one number; needed for a reactive flow: two, NEWTON,LINEAR")
        newton, linear = options["iterations"]
        return Iterations(steps, newton, linear, "--iterations")
    origin = "assumed; --like RUN.json takes those of a short run"
    return Iterations(steps, ASSUMED[0], ASSUMED[1], origin if certain else f"{origin}; steps: as if each were to grow")


def _steps(file: FlowFile) -> tuple[float, bool]:
    """Steps of a run, and whether that is certain; adaptive ones as if each were followed by a longer one."""
    keys, count = file.time, 0
    if not keys.adaptive:
        count = math.ceil(keys.end / keys.step * (1 - 1e-12))
        return float(min(count, keys.most_steps or count)), True
    time, step = 0.0, keys.step
    for end in file.output_times:
        while time < end * (1 - 1e-12):
            left = end - time
            taken = min(step, left)
            time, count = time + taken, count + 1
            step = min(step * keys.growth, keys.largest_step or keys.end)
            if count > 10_000_000:
                raise InputError(f"{file.path}: [time] step: found {keys.step:g} s, too many steps to count")
    return float(min(count, keys.most_steps or count)), False


def _of_run(path: Path) -> tuple[float, float]:
    """Newton's iterations a step and linear ones for each, of a run's record."""
    try:
        course = json_values(read_regular(path))["results"]["course"]
        newton = sum(float(row["newton_iterations"]) for row in course)
        linear = sum(float(row["linear_iterations"]) for row in course)
        return newton / len(course), linear / newton
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError):
        raise InputError(
            f"--like {path}: found no record of a reactive flow with steps; allowed: its run.json"
        ) from None
