"""Iterations of the barotropic solver that a plan counts with: those of a run, of the user, or an estimate.

Conjugate gradients need about sqrt(κ) / 2 · ln(2 / tolerance) iterations at most, where κ is the largest eigenvalue of
the matrix over the smallest, here by the Courant number of surface waves: κ = 1 + 4 θ² g H (Δt / Δx)². On basins and
an earth from 24 x 16 to 192 x 192 cells, with tolerances of 1e-6 and 1e-13, it took 0.28 to 0.57 times sqrt(κ) ln(2 /
tolerance) with the diagonal, 0.13 to 0.23 with blocks of 8 x 8 cells, and (8 / tile)^0.45 times that with others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.base.errors import InputError
from fathometer.base.regular_file import read_regular
from fathometer.storage.json_text import json_values

SHARE = {"diagonal": 0.4, "block": 0.18}
TILE, POWER = 8, 0.45


@dataclass(frozen=True)
class Iterations:
    """number: a step. origin: in words."""

    number: float
    origin: str


def iterations_of(file: OceanFile, grid: OceanGrid, options: Mapping[str, Any]) -> Iterations:
    """Of a plan with the options --like and --iterations. Raises InputError where these are of something else."""
    if options["like"] is not None:
        return Iterations(_of_run(options["like"]), f"those of {options['like']}")
    if options["iterations"] is not None:
        if len(options["iterations"]) != 1:
            raise InputError("--iterations: found two numbers; needed for an ocean: one, a step")
        return Iterations(options["iterations"][0], "--iterations")
    if file.barotropic.iterations is not None:
        return Iterations(file.barotropic.iterations, "[barotropic] iterations")
    words = "estimated from the step, to about a third; --like RUN.json takes those of a short run"
    return Iterations(estimated(file, grid), words)


def estimated(file: OceanFile, grid: OceanGrid) -> float:
    """Iterations of a step, see above."""
    keys = file.barotropic
    finest = np.maximum(1 / grid.dx_u**2, 1 / grid.dy**2)
    waves = 4 * keys.implicitness**2 * file.water.gravity * file.time.step**2 * (grid.depth_u * finest)
    share = SHARE[keys.preconditioner]
    if keys.preconditioner == "block":
        share *= (TILE / keys.tile) ** POWER
    found = share * math.sqrt(1 + float(waves.max(initial=0.0))) * math.log(2 / keys.tolerance)
    whole = keys.check_every * math.ceil(found / keys.check_every)
    return float(min(whole, keys.most_iterations))


def _of_run(path: Path) -> float:
    """Iterations a step of a run's record."""
    try:
        performance = json_values(read_regular(path))["results"]["performance"]
        found = float(performance["iterations_per_step"])
        if not 0 < found < math.inf:
            raise ValueError
        return found
    except (OSError, ValueError, LookupError, TypeError):
        raise InputError(f"--like {path}: found no record of an ocean with steps; allowed: its run.json") from None
