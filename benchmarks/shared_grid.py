"""Ranks that share a grid beside threads that do: time steps alone, and those of whole migrations."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import fathometer, on_ranks
from benchmarks.one_shot import migration, modelled
from benchmarks.table import Table
from fathometer.lab.statistics.ratios import ratio

STEPS, REPEATS = 40, 3  # time steps of an advance, as a migration takes them; advances of a program
RARE = 5  # what nothing is wanted of is measured in every fifth round
ALL_CELLS = {"off": "all cells", "auto": "cone"}

Seconds = dict[int, float]  # by round


def shared_grid(threads: int, quick: bool) -> Table:
    """As many ranks as threads along y and along x, twice as many on the same cores, and parts without neighbours."""
    rounds = 2 if quick else 15
    rows = [*_steps(threads, rounds, quick), *_migrations(threads, rounds, quick)]
    return Table(
        "Ranks that share a grid",
        f"Rate of {threads} ranks of one thread over that of one rank of {threads} threads: ratios in the same rounds, "
        f"with 95 % intervals. Along y and x: the axis that is cut. Apart: each rank has its part for itself, without "
        f"a neighbour, which is what the machine allows. Twice: {2 * threads} ranks along y on the same cores, over "
        f"{threads}. Time steps: {STEPS} at a time, in programs of {REPEATS} such advances, tilings from a search. "
        "Migration: of one shot with absorbing layers, 600 steps, the seconds of its time steps (VTI, 240 x 240 x 200 "
        f"cells), tilings as runs learn them. {rounds} rounds in turns; along x, apart, twice every {RARE}th round.",
        ("what", f"1 x {threads}, s", "along y", "wanted", "along x", "apart", "twice", "wanted"),
        tuple(rows),
    )


def _ratio(reference: Seconds, seconds: Seconds) -> str:
    """Of rates."""
    found = ratio(reference, seconds) if seconds else None
    return "" if found is None else f"{found.median:.2f} ({found.low:.2f} to {found.high:.2f})"


def _row(what: str, found: dict[str, Seconds], wanted: str) -> tuple[str, ...]:
    one = found["threads"]
    beside = (_ratio(one, found.get(way, {})) for way in ("x", "apart"))
    twice = _ratio(found["y"], found.get("twice", {}))
    return (
        what,
        f"{median(one.values()):.3g}",
        _ratio(one, found["y"]),
        wanted,
        *beside,
        twice,
        "0.90" if twice else "",
    )


def _steps(threads: int, rounds: int, quick: bool) -> Iterator[tuple[str, ...]]:
    side = 3 if quick else 1  # so much smaller
    layers = 10
    cases: list[tuple[str, str, tuple[int, int, int], int, str]] = [
        ("VTI, 240 x 240 x 200", "vti", (240, 240, 200), 0, ""),
        ("the same in layers", "vti", (240, 240, 200), layers, ""),
        ("VTI, 320³", "vti", (320, 320, 320), 0, "0.93"),
        ("isotropic, 480 x 240 x 240", "isotropic", (480, 240, 240), 0, "0.93"),
        ("elastic, 160³ in layers", "elastic", (160, 160, 160), layers, "0.90"),
    ]
    ways = {"threads": (1, threads, 1), "y": (threads, 1, 1), "x": (threads, 1, 0), "apart": (threads, 1, 1)}
    ways["twice"] = (2 * threads, 1, 1)
    for name, physics, shape, width, wanted in cases:
        found: dict[str, Seconds] = {way: {} for way in ways}
        for number in range(rounds):
            for way, (ranks, each, axis) in ways.items():
                if way not in ("threads", "y") and number % RARE:
                    continue
                spec = {
                    "physics": physics,
                    "shape": [n // side for n in shape],
                    "width": width,
                    "threads": each,
                    "axis": axis,
                    "alone": way == "apart",
                    "steps": STEPS,
                    "repeats": REPEATS,
                }
                answer = json.loads(
                    on_ranks(ranks, "benchmarks.shared_grid_program", json.dumps(spec)).splitlines()[-1]
                )
                found[way][number] = answer["seconds"]
        yield _row(name, found, wanted)


def _migrations(threads: int, rounds: int, quick: bool) -> Iterator[tuple[str, ...]]:
    """Of commands, as users start them; their tilings are learned in a round that does not count."""
    shape, steps = ((80, 80, 60), 60) if quick else ((240, 240, 200), 600)
    ways: dict[str, tuple[int, int, list[int]]] = {
        "threads": (1, threads, [1, 1, 1]),
        "y": (threads, 1, [1, threads, 1]),
        "x": (threads, 1, [threads, 1, 1]),
    }
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        modelled(folder, shape, steps)
        found: dict[str, dict[str, Seconds]] = {cone: {way: {} for way in ways} for cone in ALL_CELLS}
        for number in range(-1, rounds):
            for cone in ALL_CELLS:
                for way, (ranks, each, cut) in ways.items():
                    if way == "x" and number > 0 and number % RARE:
                        continue
                    survey = migration(folder, steps, cone, more=f"[parallel]\ndecomposition = {cut}\n")
                    fathometer("migrate", survey, "--ranks", ranks, "--threads", each, "--quiet", "--overwrite")
                    run: dict[str, Any] = json.loads((Path(folder) / "image" / "run.json").read_text())
                    kernel = next(figure["value"] for figure in run["figures"] if figure["name"] == "kernel")
                    if number >= 0:
                        found[cone][way][number] = kernel
    for cone, words in ALL_CELLS.items():
        yield _row(f"migration, {words}", found[cone], "0.93" if cone == "off" else "0.90")
