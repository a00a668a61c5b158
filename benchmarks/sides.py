"""Absorbing sides compared at equal reflection by what a step of the same model costs with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from benchmarks.reflection import Reflection
from benchmarks.table import Table
from fathometer import _native
from fathometer.lab.turns import interleave
from fathometer.seismic.waves.boundary import Boundary, Pml, Sponge
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous


def sides(threads: int, quick: bool) -> Table:
    """Sponges and PMLs of several widths: the worst reflection from 0 to 60 degrees, and the time of a step."""
    interior, repeats = (40, 5) if quick else (100, 11)
    boundaries: dict[str, Boundary] = {f"sponge, {w} cells": Sponge(w) for w in (20, 30, 40, 60)}
    boundaries |= {f"PML, {w} cells": Pml(w) for w in (5, 8, 10, 15, 20)}
    _native.set_threads(threads)
    experiments = [Reflection(material, axis) for material in (ISOTROPIC, VTI) for axis in (0, 2)]
    worst = {name: [float(np.max(e.decibels(boundary))) for e in experiments] for name, boundary in boundaries.items()}
    tasks: dict[str, Callable[[], None]] = {
        name: partial(Homogeneous((interior,) * 3, VTI, boundary).propagator.advance, 1)
        for name, boundary in boundaries.items()
    }
    seconds = {name: median(times) for name, times in interleave(tasks, repeats).items()}
    fastest = min(seconds.values())
    rows = [
        (
            name,
            f"{max(worst[name][:2]):.1f}",
            f"{max(worst[name][2:]):.1f}",
            f"{1e3 * seconds[name]:.2f}",
            f"{seconds[name] / fastest:.2f}",
            _cheaper(name, worst, seconds),
        )
        for name in sorted(boundaries, key=lambda name: max(worst[name]), reverse=True)
    ]
    return Table(
        f"Absorbing sides, {threads} thread{'s'[: threads > 1]}",
        "The largest reflected amplitude between 0 and 60 degrees of incidence, x and z sides, relative to a perfect "
        f"mirror, and the time of a VTI step of order 8 in float32 of {interior}³ cells with the sides around them. "
        f"The last column is the cheapest of all that reflect no more. Medians of {repeats}, taken in turns.",
        ("sides", "isotropic, dB", "VTI, dB", "step, ms", "relative", "cheapest at this reflection"),
        tuple(rows),
    )


def _cheaper(name: str, worst: dict[str, list[float]], seconds: dict[str, float]) -> str:
    """The fastest of the sides that reflect no more than `name` does."""
    return min((n for n in seconds if max(worst[n]) <= max(worst[name])), key=seconds.__getitem__)
