"""An atmosphere: a step beside matrix products, on threads and ranks, by every way of transposing; plans."""

from __future__ import annotations

import json
from statistics import median

from benchmarks.atmosphere_program import PHASES
from benchmarks.command import on_ranks
from benchmarks.restartable_plan import COLUMNS, Case, planned_rows
from benchmarks.table import Table
from fathometer.apps.atmosphere.cases import CASES, demo_text

Way = tuple[int, int, str, int]  # ranks, threads of each, protocol, forced


def atmosphere_step(threads: int, quick: bool) -> Table:
    """A step on one core, on two threads, and on two ranks in all ways, in turns."""
    repeats, rounds = (2, 1) if quick else (9, 5)
    ways: list[Way] = [(1, 1, "alltoallv", forced) for forced in (0, 1)]
    if threads > 1:
        ways += [(1, 2, "alltoallv", forced) for forced in (0, 1)]
        ways += [(2, 1, name, 0) for name in ("alltoallw", "alltoallv", "pairwise")]
        ways.append((2, 1, "alltoallv", 1))
    found: dict[Way, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            ranks, each, protocol, forced = way
            words = (int(quick), repeats, each, protocol, forced, int(ranks * each == 1))
            found[way].append(json.loads(on_ranks(ranks, "benchmarks.atmosphere_program", *words).splitlines()[-1]))
    rows = []
    for (ranks, each, protocol, forced), runs in found.items():
        typical = {name: median(run[name] for run in runs) for name in runs[0]}
        alone = "kernel" in typical
        beside = f"{median(run['products'] / run['kernel'] for run in runs):.0%}" if alone else ""
        parts = (f"{1e3 * typical[name]:.1f}" for name in PHASES)
        way = protocol if ranks > 1 else ""
        what = "radiation" if forced else "none"
        rows.append((f"{ranks}, {each}", way, what, f"{1e3 * typical['step']:.0f}", *parts, beside))
    return Table(
        "Atmosphere: a step",
        f"T85 with 26 levels; milliseconds, medians of {rounds} programs in turns with {repeats} steps each, on the "
        "slowest rank. Last column: the Legendre kernel's rate over that of BLAS on the same matrices, each alone in "
        "memory, without packing rows, folding and unfolding. Wanted: without forcing at most 150 ms on two cores, "
        "with it 300; at least 40 %; two ranks at most 1/0.9 of two threads.",
        ("ranks, threads", "transposes", "forcing", "step", *PHASES, "Legendre over BLAS"),
        tuple(rows),
    )


def atmosphere_plan(threads: int, quick: bool) -> Table:
    """The demo and radiation on one rank and two: calibrate, run, plan."""
    rounds = 1 if quick else 3
    texts = [("demo", demo_text(quick))]
    if not quick:
        text = CASES["day-night"]().replace("end = 30.0", "end = 1.0")
        texts.append(("day and night, T42, a day", text))
        wave = CASES["baroclinic-wave"]().replace("\n[output]", "most_steps = 60\n\n[output]")
        texts.append(("wave, T85, 60 steps", wave))
    cases = [Case(name, text, ranks, like=False) for name, text in texts for ranks in (1, 2)]
    return Table(
        "Atmosphere: plans and runs",
        f"`fathometer calibrate`, then the run and `plan`, {rounds} times in turns; medians. All cores work: one rank "
        "has as many threads. Wanted: total within 20 %, memory of the largest rank within 10 %.",
        COLUMNS,
        planned_rows("atmosphere", cases, rounds, lambda *_: (), ()),
    )
