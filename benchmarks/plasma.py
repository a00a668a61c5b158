"""Plasma turbulence: a stage beside transforms and NumPy, on threads and ranks, by every way of transposing; plans."""

from __future__ import annotations

import json
from statistics import median

from benchmarks.command import on_ranks
from benchmarks.plasma_program import PHASES
from benchmarks.restartable_plan import COLUMNS, Case, planned_rows
from benchmarks.table import Table
from fathometer.apps.plasma.cases import CASES, demo_text

Way = tuple[int, int, int, str, int]  # ranks, threads of each, P2, protocol, overlap


def plasma_stage(threads: int, quick: bool) -> Table:
    """A stage on one core, on two threads, and on two ranks in all ways, in turns."""
    repeats, rounds = (2, 1) if quick else (5, 5)
    ways: list[Way] = [(1, 1, 1, "alltoallv", 0)]
    if threads > 1:
        ways.append((1, 2, 1, "alltoallv", 0))
        protocols = ("alltoallw", "alltoallv", "pairwise")
        ways += [(2, 1, p2, name, late) for p2 in (1, 2) for name in protocols for late in (0, 1)]
    found: dict[Way, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            ranks, each, p2, protocol, late = way
            words = (int(quick), repeats, each, p2, protocol, late, int(ranks * each == 1))
            done = on_ranks(ranks, "benchmarks.plasma_program", *words)
            found[way].append(json.loads(done.splitlines()[-1]))
    rows = []
    for (ranks, each, p2, protocol, late), runs in found.items():
        typical = {name: median(run[name] for run in runs) for name in runs[0]}
        alone = "transforms alone" in typical
        beside = [
            f"{median(run['bracket'] / run['transforms alone'] for run in runs):.2f}" if alone else "",
            f"{median(run['NumPy'] / run['linear'] for run in runs):.1f}" if alone else "",
        ]
        shared = f"{ranks // p2} x {p2}" if ranks > 1 else ""
        way = f"{protocol}{', overlap' if late else ''}" if ranks > 1 else ""
        parts = (f"{1e3 * typical[name]:.1f}" for name in PHASES)
        rows.append((f"{ranks}, {each}", shared, way, f"{1e3 * typical['stage']:.1f}", *parts, *beside))
    return Table(
        "Plasma: a stage",
        "A box of 16 ky, 33 kx, 16 theta and 64 velocities, a stage (four a step); milliseconds, medians of "
        f"{rounds} programs in turns with {repeats} stages each, on the slowest rank. Bracket over transforms: SciPy's "
        "two-dimensional ones alone, as many as the bracket makes. NumPy: the linear terms of the same scheme "
        "(plasma_numpy.py), over all linear terms here. Wanted: a bracket within twice its "
        "transforms, NumPy at least 8, the best of two ranks at most 1/0.9 of two threads.",
        ("ranks, threads", "P1 x P2", "transposes", "stage", *PHASES, "bracket over transforms", "NumPy over linear"),
        tuple(rows),
    )


def plasma_plan(threads: int, quick: bool) -> Table:
    """The demo and growth rates on one rank and two: calibrate, run, plan."""
    rounds = 1 if quick else 3
    cases = [Case("demo", demo_text(quick), ranks) for ranks in (1, 2)]
    if not quick:
        text = CASES["standard-16"]().replace("most_steps = 1000", "most_steps = 30")
        cases += [Case("standard-16, 30 steps", text, ranks, like=False) for ranks in (1, 2)]
    return Table(
        "Plasma: plans and runs",
        f"`fathometer calibrate`, then the run and `plan`, {rounds} times in turns; medians. Steps of the demo are "
        "those of its run (`--like`), since turbulence shortens them. All cores work: one rank has as many threads. "
        "Wanted: total within 20 %, memory of the largest rank within 10 %.",
        COLUMNS,
        planned_rows("plasma", cases, rounds, lambda *_: (), ()),
    )
