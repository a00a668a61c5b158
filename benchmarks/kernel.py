"""The rate of the time steps of several orders, plain and tiled, with and without absorbing layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import median

from benchmarks.table import Table
from benchmarks.triad import TRIAD_BYTES, Triad
from fathometer import _native
from fathometer.config.sections import TuningTable
from fathometer.grid.tiling import PLAIN, Tiling
from fathometer.grid.tuning import best_tiling
from fathometer.lab.stencil import ITEM_BYTES
from fathometer.lab.turns import interleave
from fathometer.seismic.acoustic.probes import MATERIALS
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.homogeneous import Homogeneous, NoBoundary
from fathometer.seismic.waves.physics import PHYSICS
from fathometer.seismic.waves.propagator import Propagator

STEPS = 24  # of a measurement


def kernel(threads: int, quick: bool) -> Table:
    """VTI and isotropic steps of several orders with `threads` threads; every kernel in turns with the triad."""
    cells, repeats = (80, 3) if quick else (200, 9)
    _native.set_threads(threads)
    triad = Triad()
    rows = []
    for physics, order in [(p, o) for p in MATERIALS for o in (4, 8, 16)]:
        width = Pml().width
        bare, layered = (
            Homogeneous((n,) * 3, MATERIALS[physics], sides, order).propagator
            for n, sides in ((cells, NoBoundary()), (cells - 2 * width, Pml()))
        )
        tilings = {wave: best_tiling(wave, TuningTable(), STEPS, threads, print).tiling for wave in (bare, layered)}

        def advance(wave: Propagator, tiling: Tiling) -> None:
            wave.tiling = tiling
            wave.advance(STEPS)

        tasks: dict[str, Callable[[], object]] = {
            "triad": triad,
            "plain": partial(advance, bare, PLAIN),
            "tiled": partial(advance, bare, tilings[bare]),
            "layers": partial(advance, layered, tilings[layered]),
        }
        seconds = {name: median(times) for name, times in interleave(tasks, repeats).items()}
        bandwidth = TRIAD_BYTES / seconds["triad"]
        plain, tiled = (cells**3 * STEPS / seconds[name] for name in ("plain", "tiled"))
        limit = bandwidth / (ITEM_BYTES * PHYSICS[physics].fewest_moves)
        rows.append(
            (
                f"{physics}, order {order}",
                f"{bandwidth / 1e9:.1f}",
                f"{plain / 1e9:.2f}",
                f"{tiled / 1e9:.2f}",
                f"{plain / limit:.2f}",
                f"{tiled / limit:.2f}",
                f"{seconds['layers'] / seconds['tiled']:.2f}",
                ", ".join(map(str, tilings[bare].numbers)),
            )
        )
    share = 1 - math.prod([(cells - 2 * width) / cells] * 3)
    return Table(
        f"Orders, {threads} thread{'s'[: threads > 1]}",
        f"{cells}³ cells, float32, {STEPS} steps a measurement. The limit is the triad's bandwidth over the fewest "
        f"bytes of a cell and step, {ITEM_BYTES * PHYSICS['vti'].fewest_moves} (VTI) or "
        f"{ITEM_BYTES * PHYSICS['isotropic'].fewest_moves} (isotropic). "
        "Plain sweeps take one step each, tiled ones several. With layers: the time of tiled steps with the default "
        f"absorbing layers, which cover {100 * share:.0f} % of these cells, over that without. Medians of {repeats}, "
        "taken in turns with the triad.",
        (
            "kernel",
            "triad, GB/s",
            "plain, 10⁹ cells/s",
            "tiled",
            "plain, of the limit",
            "tiled",
            "with layers",
            "tiling",
        ),
        tuple(rows),
    )
