"""The rate of elastic time steps, plain and tiled, with absorbing layers, a free surface and attenuation."""

from __future__ import annotations

import itertools
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
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.elastic.homogeneous import homogeneous
from fathometer.seismic.elastic.propagator import ElasticPropagator

STEPS = 24  # of a measurement
WIDTH = 10  # of the absorbing layers
# Fewest numbers that both stages of a step move for a cell: nine fields (2D: five), which one stage reads and the other
# reads and writes, and eight arrays of the medium (2D: five); with attenuation as many memory variables as there are
# stresses are read and written, and what is relaxed is read.
MOVES = {"3D": 35, "2D": 20}
RELAXED = {"3D": 14, "2D": 8}
CASES = {
    "no sides": (0, False, False),
    "layers": (WIDTH, False, False),
    "layers, free surface": (WIDTH, True, False),
    "layers, free surface, attenuation": (WIDTH, True, True),
}


def elastic(threads: int, quick: bool) -> Table:
    """Steps in 3D and 2D with `threads` threads; every case in turns with the triad."""
    cells, repeats = (96, 3) if quick else (200, 5)
    _native.set_threads(threads)
    triad = Triad()
    flat = round(cells**1.5)
    shapes: dict[str, Index3] = {"3D": (cells,) * 3, "2D": (flat, 1, flat)}
    rows = []
    for (dimensions, shape), (name, case) in itertools.product(shapes.items(), CASES.items()):
        wave = homogeneous(shape, *case)
        tiling = best_tiling(wave, TuningTable(), STEPS, threads, print).tiling

        def advance(wave: ElasticPropagator, tiling: Tiling) -> None:
            wave.tiling = tiling
            wave.advance(STEPS)

        tasks: dict[str, Callable[[], object]] = {
            "triad": triad,
            "plain": partial(advance, wave, PLAIN),
            "tiled": partial(advance, wave, tiling),
        }
        seconds = {task: median(times) for task, times in interleave(tasks, repeats).items()}
        bandwidth = TRIAD_BYTES / seconds["triad"]
        plain, tiled = (math.prod(shape) * STEPS / seconds[task] for task in ("plain", "tiled"))
        limit = bandwidth / (ITEM_BYTES * (MOVES[dimensions] + (RELAXED[dimensions] if case[2] else 0)))
        rows.append(
            (
                f"{dimensions}, {name}",
                f"{bandwidth / 1e9:.1f}",
                f"{plain / 1e6:.0f}",
                f"{tiled / 1e6:.0f}",
                f"{plain / limit:.2f}",
                f"{tiled / plain:.2f}",
                ", ".join(map(str, tiling.numbers)),
            )
        )
    return Table(
        f"Elastic waves, {threads} thread{'s'[: threads > 1]}",
        f"{cells}³ and {flat}² cells with layers of {WIDTH} cells, float32, order 4, {STEPS} steps a measurement. The "
        f"limit is the triad's bandwidth over the fewest bytes of a cell and step, {ITEM_BYTES * MOVES['3D']} (2D: "
        f"{ITEM_BYTES * MOVES['2D']}), or {ITEM_BYTES * (MOVES['3D'] + RELAXED['3D'])} (2D: "
        f"{ITEM_BYTES * (MOVES['2D'] + RELAXED['2D'])}) with attenuation; the layers' own are not counted. Plain "
        f"sweeps take one stage of a step each, tiled ones several; nothing is recorded. Medians of {repeats}, taken "
        "in turns with the triad; the limit of plain sweeps is wanted to be reached to 0.75.",
        ("sides", "triad, GB/s", "plain, 10⁶ cells/s", "tiled", "plain, of the limit", "tiled over plain", "tiling"),
        tuple(rows),
    )
