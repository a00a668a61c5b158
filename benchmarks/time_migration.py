"""Time migration: what `plan` says and what runs take; its sum over traces beside a plain loop, and what bounds it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.command import fathometer
from benchmarks.plan import SAID, Case, prepare
from benchmarks.table import Table
from benchmarks.triad import TRIAD_BYTES, Triad
from fathometer import _native
from fathometer.lab.stencil import ITEM_BYTES
from fathometer.lab.turns import interleave
from fathometer.seismic.kirchhoff.probes import Sizes, SumCase

# Of a sample, counted in native/kirchhoff/operator.cpp: roots and gathers; loads and stores beside these; flops (a root
# and a division are one each).
GATHERS = 2  # both neighbours of an interpolation
MOVED = {False: 4, True: 5}  # t0², 1/v², image read and written; eta
FLOPS = {False: 17, True: 33}
ROUNDS = 200_000  # of gathers and multiply-adds


def time_migration(threads: int, quick: bool) -> Table:
    """2D and 3D, with and without eta, with `threads` threads: kernel and plain loop in turns."""
    sizes = Sizes(8, 200, 32) if quick else Sizes(16, 500, 256)
    repeats = 3 if quick else 9
    _native.set_threads(threads)
    triad = Triad()
    rows = []
    for dimensions in (3, 2):
        for eta in (False, True):
            case = SumCase(dimensions, eta, sizes)
            computed, plainly = case.sum(), case.sum(plainly=True)
            tasks: dict[str, Callable[[], object]] = {
                "triad": triad,
                "gathers": partial(_native.gathers, ROUNDS),
                "flops": partial(_native.multiply_adds, ROUNDS),
                "kernel": case.sum,
                "plain": partial(case.sum, plainly=True),
            }
            seconds = {name: median(times) for name, times in interleave(tasks, repeats).items()}
            kernel, plain = computed / seconds["kernel"], plainly / seconds["plain"]
            bandwidth = TRIAD_BYTES / seconds["triad"]
            bounds = (
                _native.gathers(ROUNDS) / seconds["gathers"] / GATHERS,
                bandwidth / (ITEM_BYTES * MOVED[eta]),
                _native.multiply_adds(ROUNDS) / seconds["flops"] / FLOPS[eta],
            )
            rows.append(
                (
                    f"{dimensions}D{', eta' if eta else ''}",
                    f"{kernel / threads / 1e9:.2f}",
                    f"{plain / threads / 1e9:.2f}",
                    f"{kernel / plain:.1f}",
                    *(f"{bound / threads / 1e9:.2f}" for bound in bounds),
                    f"{kernel / bounds[0]:.2f}",
                )
            )
    return Table(
        f"Time migration, {threads} thread{'s'[: threads > 1]}",
        f"{sizes.traces} traces into {sizes.columns**2} columns of {sizes.samples} samples, all dips, anti-alias "
        "filter on; kernel and plain loop (same flags; it evaluates the whole operator at every sample, the kernel the "
        f"weights at nodes) in turns, medians of {repeats}. A sample takes {GATHERS} gathered values, {MOVED[False]} "
        f"others loaded or stored (with eta {MOVED[True]}) and {FLOPS[False]} ({FLOPS[True]}) operations; its share of "
        "weights at nodes and of filter banks, which the rate includes, is left out. The bounds are what gathers "
        "from the first cache give, the memory (the triad's rate, as if nothing came from a cache), and multiply-adds.",
        (
            "operator",
            "10⁹ samples/s a core",
            "plain loop",
            "times as fast",
            "bound by gathers",
            "by loads from memory",
            "by flops",
            "of the gathers'",
        ),
        tuple(rows),
    )


@dataclass(frozen=True)
class Run:
    """A time migration that is planned and run.

    Attributes:
        case: of the modelled shots. keys: of [time_migration], as options of the command. ranks: of the run.
    """

    name: str
    case: Case
    keys: dict[str, float | str]
    ranks: int


LINE = Case("line", (1200, 300), 10.0, False, 40, 2, 1.6, 4, 15.0, "migrate", 1)
CUBE = Case("cube", (120, 80, 60), 20.0, False, 6, 2, 1.0, 4, 7.5, "migrate", 1)
LINE_KEYS: dict[str, float | str] = {"interval": 0.002, "aperture": 3000.0}
CUBE_KEYS: dict[str, float | str] = {"aperture": 800.0}
RUNS = (
    Run("2D line", LINE, LINE_KEYS, 1),
    Run("2D line, blocks", LINE, LINE_KEYS, 2),
    Run("3D", CUBE, CUBE_KEYS, 1),
    Run("3D, blocks", CUBE, CUBE_KEYS, 2),
    Run("3D, tiles", CUBE, CUBE_KEYS | {"work": "tiles"}, 2),
)


def time_plan(threads: int, quick: bool) -> Table:
    """Calibrate, then plan and run each time migration, some rounds."""
    rounds = 1 if quick else 3
    said: dict[str, list[list[float]]] = {run.name: [] for run in RUNS}
    took: dict[str, list[list[float]]] = {run.name: [] for run in RUNS}
    with tempfile.TemporaryDirectory() as name:
        folders = {case: Path(name, case.name) for case in (LINE, CUBE)}
        for case, folder in folders.items():
            folder.mkdir()
            prepare(folder, case)
        for _ in range(rounds):  # what the machine gives changes within minutes: each round has its own calibration
            machine = Path(name, "machine.json")
            fathometer("calibrate", "--quiet", "-o", machine, "--files", name)
            for run in RUNS:
                plan, figures = planned_and_run(run, folders[run.case], machine)
                said[run.name].append(plan)
                took[run.name].append(figures)
    rows = []
    for run in RUNS:
        cells = []
        for number, unit in enumerate((1.0, 1.0, 1e6, 1e9)):
            one, other = (median(round[number] for round in of[run.name]) for of in (said, took))
            cells += [f"{one / unit:.3g}", f"{other / unit:.3g}", f"{one / other:.2f}"]
        rows.append((run.name, *cells))
    return Table(
        "Plans and runs of time migrations",
        f"`fathometer calibrate`, then `plan --migrate-time` and the run of each, {rounds} times in turns; medians. "
        "Wanted: the total within 20 %, the memory of the largest rank within 10 %.",
        (
            "survey",
            "total: plan, s",
            "run, s",
            "ratio",
            "kernel: plan, s",
            "run, s",
            "ratio",
            "memory: plan, MB",
            "run, MB",
            "ratio",
            "10⁹ samples: plan",
            "run",
            "ratio",
        ),
        tuple(rows),
    )


def planned_and_run(run: Run, folder: Path, machine: Path) -> tuple[list[float], list[float]]:
    """What the plan says, and the run took: seconds in all, of the kernel; bytes of a rank; samples."""
    options = [word for key, value in run.keys.items() for word in ("--set", f"time_migration.{key}={value}")]
    survey = folder / "migrate.toml"
    words = ["--on", machine, "--ranks", run.ranks, "--json", folder / "plan.json"]
    fathometer("plan", survey, "--migrate-time", *words, *options)
    plan = json.loads((folder / "plan.json").read_text())
    fathometer("migrate-time", survey, "--quiet", "--overwrite", "--ranks", run.ranks, *options)
    record = json.loads((folder / "migrate" / "time" / "run.json").read_text())
    shown = {figure["name"]: figure["value"] for figure in record["figures"]}
    return (
        [*(plan["asked"][key] for key in SAID), plan["samples_computed"]],
        [*(shown[key] for key in ("total", "kernel", "peak memory")), record["results"]["samples_computed"]],
    )
