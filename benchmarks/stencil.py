"""The propagator against the figures that it is to reach: each a ratio, measured in one run and in turns."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.command import fathometer
from benchmarks.table import Table
from benchmarks.triad import TRIAD_BYTES, Triad
from fathometer import _native
from fathometer.config.sections import TuningTable
from fathometer.grid.tiling import PLAIN, Tiling
from fathometer.grid.tuning import best_tiling
from fathometer.lab.stencil import ITEM_BYTES
from fathometer.lab.turns import interleave
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous, Material, NoBoundary
from fathometer.seismic.waves.physics import PHYSICS
from fathometer.seismic.waves.propagator import Propagator

STEPS = 24  # of one measurement
PRIME, LONG = (311, 313, 317), (640, 320, 320)


class Case:
    """A wavefield of its own, and its best tiling with some threads."""

    def __init__(self, shape: Index3, material: Material, order: int, threads: int) -> None:
        self.threads, self.cells, self.material = threads, math.prod(shape), material
        _native.set_threads(threads)
        self.wave: Propagator = Homogeneous(shape, material, NoBoundary(), order).propagator
        self.tiling = best_tiling(self.wave, TuningTable(), STEPS, threads, print).tiling

    def advance(self, tiling: Tiling | None = None) -> None:
        """Take the steps with the best tiling or another one."""
        _native.set_threads(self.threads)
        self.wave.tiling = tiling or self.tiling
        self.wave.advance(STEPS)


def stencil(threads: int, quick: bool) -> Table:
    """All figures with `threads` threads."""
    side, small, repeats = (96, 64, 3) if quick else (320, 128, 7)
    cube = (side,) * 3
    prime, long = (
        (tuple(n * side // 320 for n in PRIME), tuple(n * side // 320 for n in LONG)) if quick else (PRIME, LONG)
    )
    cases = {
        "vti": Case(cube, VTI, 8, threads),
        "isotropic": Case(cube, ISOTROPIC, 8, threads),
        "order 16": Case(cube, VTI, 16, threads),
        "prime": Case(prime, VTI, 8, threads),
        "small": Case((small,) * 3, VTI, 8, threads),
        "one thread": Case(cube, VTI, 8, 1),
        "long": Case(long, VTI, 8, threads),
    }
    full_triad = Triad()

    def triad() -> None:
        _native.set_threads(threads)
        full_triad()

    tasks: dict[str, Callable[[], object]] = {"triad": triad, "plain": partial(cases["vti"].advance, PLAIN)}
    tasks |= {name: case.advance for name, case in cases.items()}
    seconds = interleave(tasks, repeats)
    cells = {name: case.cells * STEPS for name, case in cases.items()} | {
        "plain": cases["vti"].cells * STEPS,
        "triad": TRIAD_BYTES,
    }
    rates = {name: [cells[name] / s for s in times] for name, times in seconds.items()}

    def ratio(one: str, other: str, scale: float = 1.0) -> float:
        return scale * median(rates[one]) / median(rates[other])

    vti, isotropic = ITEM_BYTES * PHYSICS["vti"].fewest_moves, ITEM_BYTES * PHYSICS["isotropic"].fewest_moves
    size = f"{side}³"
    rows: list[tuple[str, float, float, str]] = [
        (f"VTI {size}, of the streaming limit", ratio("vti", "triad", vti), 1.3, "vti"),
        ("the same, of a plain sweep", ratio("vti", "plain"), 1.4, "vti"),
        (f"isotropic {size}, of its streaming limit", ratio("isotropic", "triad", isotropic), 1.1, "isotropic"),
        (f"VTI order 16, {size}, of the streaming limit", ratio("order 16", "triad", vti), 0.75, "order 16"),
        (f"VTI {_times(prime)}, of the rate at {size}", ratio("prime", "vti"), 0.95, "prime"),
        (f"VTI {_times(long)}, of the rate at {size}", ratio("long", "vti"), 0.9, "long"),
        (f"VTI {small}³, of the rate at {size}", ratio("small", "vti"), 0.8, "small"),
        (f"{threads} threads, of the rate of 1", ratio("vti", "one thread"), 0.85 * threads, "one thread"),
    ]
    shown = [
        (name, f"{value:.2f}", f"{goal:.2f}", f"{median(rates[case]) / 1e9:.3f}", _shape(cases[case].tiling))
        for name, value, goal, case in rows
    ]
    del tasks, cases
    share, best = kernel_share(quick)
    shown.append(("time steps' share of a whole migration", f"{share:.2f}", "0.85", f"{best / 1e9:.3f}", ""))
    shown.append(
        ("seconds from the start of a command to its end, for one step", f"{start_up():.2f}", "at most 1.5", "", "")
    )
    triads = [r / 1e9 for r in rates["triad"]]
    return Table(
        f"Time steps, {threads} threads",
        f"float32, order 8 unless said, {STEPS} steps a measurement, medians of {repeats} rounds in which all take "
        f"turns with each other and the triad ({median(triads):.1f} GB/s, {min(triads):.1f} to "
        f"{max(triads):.1f} GB/s). "
        f"The streaming limit is the triad over {vti} bytes a cell (VTI) or {isotropic} (isotropic). The migration: "
        "three shots, 240 x 240 x 200 cells and absorbing boundaries around them, history in memory, tuning known.",
        ("what", "ratio", "wanted, at least", "10⁹ cells/s", "steps, block, tile, team"),
        tuple(shown),
    )


def _times(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


def _shape(tiling: Tiling) -> str:
    return ", ".join(map(str, tiling.numbers))


SURVEY = """\
[model]
vp = "vp.npy"
epsilon = 0.1
delta = 0.05
spacing = [12.5, 12.5, 12.5]
[acquisition]
{acquisition}
[wavelet]
kind = "ricker"
peak_frequency = 12.0
[propagation]
duration = {duration}
[output]
directory = "{name}"
"""


def kernel_share(quick: bool) -> tuple[float, float]:
    """Share of the wall time of the command `migrate`, from its start to its end, in its time steps; cells a second."""
    shape, duration = ([64, 64, 48], 0.3) if quick else ([240, 240, 200], 1.3)
    x, y = (50.0 * ((n - 16) // 4) for n in shape[:2])  # of the last receivers
    geometry = (
        f"sources = {{x = [100.0, {x}, {(x - 100) / 2}], y = {y / 2}, z = 60.0}}\n"
        f"receivers = {{x = [100.0, {x}, 50.0], y = [100.0, {y}, 50.0], z = 56.0}}"
    )
    with tempfile.TemporaryDirectory() as folder:
        depth = np.arange(shape[2], dtype=np.float32)
        np.save(f"{folder}/vp.npy", np.broadcast_to(1800 + 5 * depth, shape))
        for name, acquisition in (("shots", geometry), ("image", 'gathers = "shots/shots.segy"')):
            text = SURVEY.format(acquisition=acquisition, name=name, duration=duration)
            (Path(folder) / f"{name}.toml").write_text(text)
        fathometer("model", f"{folder}/shots.toml", "--quiet")
        fathometer("migrate", f"{folder}/image.toml", "--quiet", "--overwrite")  # finds the tuning
        whole = fathometer("migrate", f"{folder}/image.toml", "--quiet", "--overwrite")
        run = json.loads((Path(folder) / "image" / "run.json").read_text())
    figures = {figure["name"]: figure["value"] for figure in run["figures"]}
    return figures["kernel"] / whole, figures["grid point updates"]


def start_up() -> float:
    """Seconds of `fathometer model` on a section of 40 x 40 cells, the median of several: imports, MPI, a few steps."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/vp.npy", np.full((40, 40), 2000.0, np.float32))
        text = SURVEY.replace("spacing = [12.5, 12.5, 12.5]", "spacing = [12.5, 12.5]").format(
            acquisition="sources = {x = 200.0, z = 50.0}\nreceivers = {x = 200.0, z = 50.0}", name="out", duration=0.001
        )
        (Path(folder) / "survey.toml").write_text(text)
        return median(fathometer("model", f"{folder}/survey.toml", "--quiet") for _ in range(5))
