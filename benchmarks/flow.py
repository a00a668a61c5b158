"""Incompressible flow: a step beside its fields' traffic and transforms, beside NumPy, on threads and ranks; plans."""

from __future__ import annotations

import json
from statistics import median

from benchmarks.command import on_ranks
from benchmarks.flow_program import MOVED, PHASES
from benchmarks.restartable_plan import COLUMNS, Case, planned_rows
from benchmarks.table import Table
from fathometer.apps.flow.demo import flow_text

WAYS = ((1, 1), (1, 2), (2, 1))  # ranks, and threads of each


def flow_steps(threads: int, quick: bool) -> Table:
    """Steps on one core, and on two by threads and by ranks, in turns; NumPy on one."""
    cells, repeats, rounds = (32, 3, 1) if quick else (128, 5, 7)
    ways = WAYS if threads > 1 else WAYS[:1]
    found: dict[tuple[int, int], list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for ranks, each in ways:
            words = (cells, repeats, each, int(ranks * each == 1))
            found[ranks, each].append(json.loads(on_ranks(ranks, "benchmarks.flow_program", *words).splitlines()[-1]))
    rows = []
    for (ranks, each), runs in found.items():
        typical = {name: median(run[name] for run in runs) for name in runs[0]}
        limits = [run["traffic"] + run["transforms alone"] for run in runs]
        over = median(run["step"] / limit for run, limit in zip(runs, limits, strict=True))
        beside = f"{median(run['NumPy'] / run['step'] for run in runs):.1f}" if "NumPy" in typical else ""
        parts = (f"{1e3 * typical[name]:.0f}" for name in PHASES)
        shown = (f"{1e3 * typical['traffic']:.0f}", f"{1e3 * typical['transforms alone']:.0f}", f"{over:.2f}", beside)
        rows.append((f"{ranks}, {each}", f"{1e3 * typical['step']:.0f}", *parts, *shown))
    return Table(
        "Incompressible flow: a step",
        f"Taylor's and Green's vortices, {cells}³ cells, a step with a look at its limits; milliseconds, medians of "
        f"{rounds} programs in turns with {repeats} steps each, on the slowest rank. Traffic: {sum(MOVED.values())} "
        "numbers of 8 bytes a cell and stage, as many as kernels must read and write if each has every array once, "
        "over what the triad moves in the same program on the same cores; transforms alone: SciPy's of a stage, there "
        "and back. Wanted: a step within 2.5 of both together, on two ranks at most 1/0.9 of that on two threads, and "
        "NumPy's (flow_numpy.py) at least 4.",
        ("ranks, threads", "step", *PHASES, "traffic", "transforms alone", "over both", "NumPy over it"),
        tuple(rows),
    )


def flow_plan(threads: int, quick: bool) -> Table:
    """The demo and some larger flows on one rank and two: calibrate, run, plan."""
    rounds = 1 if quick else 3
    texts = [("demo", flow_text(32, 40, 1.0) if quick else flow_text(64, 100, 2.0))]
    if not quick:
        texts.append(("128³, 10 steps", flow_text(128, 10, 20.0)))
    cases = [Case(name, text, ranks, like=False) for name, text in texts for ranks in (1, 2)]
    return Table(
        "Incompressible flow: plans and runs",
        f"`fathometer calibrate`, then the run and `plan`, {rounds} times in turns; medians. All cores work: one rank "
        "has as many threads. Wanted: total within 20 %, memory of the largest rank within 10 %.",
        COLUMNS,
        planned_rows("flow", cases, rounds, lambda *_: (), ()),
    )
