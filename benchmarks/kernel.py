"""The rate of a time step against the streaming limit: the triad's bandwidth over the fewest bytes of a cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from benchmarks.table import Table
from fathometer import _native
from fathometer.lab.statistics import interleave
from fathometer.seismic.boundary import Boundary, Pml
from fathometer.seismic.homogeneous import ISOTROPIC, VTI, Homogeneous

FEWEST_BYTES = {ISOTROPIC: 16, VTI: 36}  # float32: fields now and before read, the model read, the next field written


def kernel(threads: int, quick: bool) -> Table:
    """VTI and isotropic steps of several orders with `threads` threads; every kernel in turns with the triad."""
    cells, repeats, elements = (120, 5, 1 << 23) if quick else (200, 15, 1 << 25)
    _native.set_threads(threads)
    a, b, c = (_native.zerosFloat32((1, 1, elements)) for _ in range(3))
    rows = []
    for material, order in [(m, o) for m in (VTI, ISOTROPIC) for o in (4, 8, 16)]:
        inside = cells - 2 * Pml().width
        boundaries: dict[str, Boundary] = {"layers": Pml(), "bare": Bare()}
        tasks: dict[str, Callable[[], None]] = {"triad": partial(_native.triad, a, b, c)}
        for name, boundary in boundaries.items():
            wave = Homogeneous((inside,) * 3, material, boundary, order).propagator
            tasks[name] = partial(wave.advance, 1)
        seconds = interleave(tasks, repeats)
        bandwidth = 12 * elements / seconds["triad"]
        rate = cells**3 / seconds["bare"]
        rows.append(
            (
                f"{material.name}, order {order}",
                f"{bandwidth / 1e9:.1f}",
                f"{rate / 1e9:.2f}",
                f"{rate * FEWEST_BYTES[material] / bandwidth:.2f}",
                f"{seconds['layers'] / seconds['bare']:.2f}",
            )
        )
    share = 1 - math.prod([inside / cells] * 3)
    return Table(
        f"Time step, {threads} thread{'s'[: threads > 1]}",
        f"{cells}³ cells, float32. The limit is the triad's bandwidth over the fewest bytes of a cell and step, "
        f"{FEWEST_BYTES[VTI]} (VTI) or {FEWEST_BYTES[ISOTROPIC]} (isotropic). A share above 1 is "
        f"possible: the triad's stores first read what they overwrite, which its 12 bytes do not count, while the step "
        f"reads it anyway. The last column is a step with the "
        f"default absorbing layers, which cover {100 * share:.0f} % of these cells, over a step without. "
        f"Medians of {repeats}, taken in turns with the triad.",
        ("kernel", "triad, GB/s", "10⁹ cells/s", "share of the limit", "with layers, times"),
        tuple(rows),
    )
