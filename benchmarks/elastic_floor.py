"""What a sea floor costs a step of elastic waves: level half way between nodes, and where columns move to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.table import Table
from fathometer import _native
from fathometer.config.sections import TuningTable
from fathometer.grid.tiling import PLAIN, Tiling
from fathometer.grid.tuning import best_tiling
from fathometer.lab.turns import interleave
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.homogeneous import homogeneous
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.sloping_floor import SlopingFloor

STEPS = 12  # of a measurement
NONE, LEVEL, MOVED, FALLING = "none", "level, half way between nodes", "level, in a node", "falls by 5 degrees"


def _floors(shape: Index3) -> dict[str, SeaFloor | SlopingFloor | None]:
    middle = shape[2] // 2
    columns = np.zeros(shape[:2])

    def following(degrees: float) -> SlopingFloor:
        fall = math.tan(math.radians(degrees))
        depths = middle + fall * (np.arange(shape[0])[:, None] - shape[0] / 2) + columns
        whole = np.floor(depths).astype(int)
        return SlopingFloor(depths, whole, whole + 1, degrees, fall, True, 0.05)

    return {
        NONE: None,
        LEVEL: SeaFloor(middle, 0.5, middle, middle + 1),
        MOVED: following(0.0),
        FALLING: following(5.0),
    }


def elastic_floor(threads: int, quick: bool) -> Table:
    """Steps in 3D and 2D with `threads` threads, all floors in turns."""
    cells, repeats = (96, 5) if quick else (160, 9)
    _native.set_threads(threads)
    rows = []
    shapes: dict[str, Index3] = {"3D": (cells,) * 3, "2D": (8 * cells, 1, 2 * cells)}
    for dimensions, shape in shapes.items():
        waves = {name: homogeneous(shape, 10, False, False, floor=floor) for name, floor in _floors(shape).items()}
        tiling = best_tiling(waves[NONE], TuningTable(), STEPS, threads, print).tiling

        def advance(wave: ElasticPropagator, tiling: Tiling) -> None:
            wave.tiling = tiling
            wave.advance(STEPS)

        tasks: dict[str, Callable[[], object]] = {}
        for name, wave in waves.items():
            tasks |= {f"{name} plain": partial(advance, wave, PLAIN), f"{name} tiled": partial(advance, wave, tiling)}
        seconds = interleave(tasks, repeats)
        rows += [
            (f"{dimensions}, {name}", *(_beside(seconds, name, kind) for kind in ("plain", "tiled"))) for name in waves
        ]
    return Table(
        f"Sea floors of elastic waves, {threads} thread{'s'[: threads > 1]}",
        f"The time of a step beside that without a floor, in {cells}³ cells and in {8 * cells} x {2 * cells} with "
        f"layers of 10 cells, float32. Medians of the ratios of {repeats} turns, and all but the outermost sixths of "
        "them.",
        ("floor", "plain sweeps", "tiled sweeps"),
        tuple(rows),
    )


def _beside(seconds: Mapping[str, Sequence[float]], name: str, kind: str) -> str:
    pairs = zip(seconds[f"{name} {kind}"], seconds[f"{NONE} {kind}"], strict=True)
    middle, low, high = np.quantile([one / other for one, other in pairs], (0.5, 1 / 6, 5 / 6))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"
