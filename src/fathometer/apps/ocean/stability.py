"""The longest time step that the scheme allows, from what is known before the run.

- Lateral friction and diffusion are explicit, Euler forward: step (4 / dx² + 4 / dy²) K <= 2, with K the coefficient.
- Restoring at the surface is explicit: step <= its timescale.
- Internal gravity waves are forward-backward, stable to step c k < 2. On a B-grid differences are means of two, so that
  the largest k is 2 / min(dx, dy). SAFETY leaves room for what this linear analysis does not know. c is that of the
  first mode of a column, its levels taken as layers of uniform water under a rigid lid: L η = g'/c² η for the
  displacements of the interfaces, L the tridiagonal matrix of 1/h, g' = g (density below - above) / density at the
  interface's pressure. The model's own waves are slower: its density changes gradually from level to level.

Surface waves, vertical mixing and rotation are implicit and set no limit. Currents do, at run time: c dt < 1 in a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.solver.baroclinic import density
from fathometer.apps.ocean.solver.physics import Physics
from fathometer.apps.ocean.solver.problem import TRACERS, Problem
from fathometer.base.errors import InputError

SAFETY = 0.7  # of the limit of internal waves
COLUMNS = 8  # along each axis, of which the deepest column each is looked at
ROUNDING = 1e-9
SMALL = 1e-9  # of the largest reduced gravity


@dataclass(frozen=True)
class Limit:
    """The longest step, s, and what sets it, in words."""

    step: float
    words: str


def check_step(problem: Problem, place: str) -> list[str]:
    """Notes on what is allowed but may not be meant. Raises InputError for a step that is too long; place: of its key,
    for the error."""
    found = [*mixing_limits(problem.grid, problem.physics), *restoring_limits(problem), wave_limit(problem)]
    limit = min(found, key=lambda entry: entry.step)
    if problem.step > limit.step * (1 + ROUNDING):
        allowed = f"up to {_rounded_down(limit.step)} s, {limit.words}"
        raise InputError(f"{place}: found {problem.step:g} s; allowed: {allowed}")
    return _notes(problem)


def mixing_limits(grid: OceanGrid, physics: Physics) -> list[Limit]:
    """Of lateral friction and diffusion."""
    found = []
    for name, value, wet, widths in (
        ("viscosity", physics.viscosity, grid.levels_u, grid.dx_u),
        ("diffusivity", physics.diffusivity, grid.levels, grid.dx),
    ):
        rows = (wet > 0).any(0)
        dx = float(widths[rows].min()) if rows.any() else np.inf
        rate = 2 * value * (1 / dx / dx + 1 / grid.dy / grid.dy)
        if rate > 0:
            words = f"which [mixing] {name} of {value:g} m²/s allows in cells of {dx:.4g} m x {grid.dy:.4g} m"
            found.append(Limit(1 / rate, words))
    return found


def restoring_limits(problem: Problem) -> list[Limit]:
    """Of restoring at the surface, which is explicit: a step must not go beyond the target."""
    return [
        Limit(1 / surface.rate, f"the timescale of [forcing] {name}")
        for name, surface in zip(TRACERS, problem.surface, strict=False)
        if surface.rate > 0
    ]


def wave_limit(problem: Problem) -> Limit:
    """Of internal gravity waves."""
    grid = problem.grid
    speed = wave_speed(problem)
    rows = (grid.levels_u > 1).any(0)
    if speed == 0 or not rows.any():
        return Limit(np.inf, "")
    size = min(float(grid.dx_u[rows].min()), grid.dy)
    words = f"which internal waves of {speed:.3g} m/s allow in cells of {size:.4g} m"
    return Limit(SAFETY * size / speed, words)


def wave_speed(problem: Problem) -> float:
    """Of the fastest internal wave, m/s: the largest of the deepest columns in COLUMNS x COLUMNS parts of the grid."""
    grid, fastest = problem.grid, 0.0
    for i, j in _deep_columns(grid):
        levels = int(grid.levels[i, j])
        temperature, salinity = (tracer((i, j), (i + 1, j + 1))[0, 0, :levels] for tracer in problem.tracers[:2])
        fastest = max(fastest, column_speed(problem.physics, grid.thickness[:levels], temperature, salinity))
    return fastest


def column_speed(physics: Physics, thickness: Floats, temperature: Floats, salinity: Floats) -> float:
    """Of the fastest internal wave of a column, m/s; arguments (levels,)."""
    if len(thickness) < 2:
        return 0.0
    interfaces = np.cumsum(thickness)[:-1]
    pressure = physics.gravity * physics.density * interfaces
    upper, lower = (
        density(physics, temperature[part], salinity[part], pressure) for part in (slice(-1), slice(1, None))
    )
    reduced = physics.gravity / physics.density * (lower - upper)
    kept = reduced > max(SMALL * float(reduced.max()), 0.0)  # layers of the same density, or heavier above, are one
    if not kept.any():
        return 0.0
    starts = np.concatenate([[0], np.flatnonzero(kept) + 1])
    layers, reduced = np.add.reduceat(thickness, starts), reduced[kept]
    diagonal = (1 / layers[:-1] + 1 / layers[1:]) / reduced
    beside = -1 / layers[1:-1] / np.sqrt(reduced[:-1] * reduced[1:])
    if not np.isfinite([diagonal.sum(), beside.sum()]).all():  # of numbers that no ocean has
        return np.inf
    lowest = float(eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))[0])  # 1/c²
    return float(1 / np.sqrt(lowest)) if lowest > 0 else np.inf


def _deep_columns(grid: OceanGrid) -> list[tuple[int, int]]:
    """The deepest column in each of COLUMNS x COLUMNS parts of the grid, where there is water."""
    nx, ny, _ = grid.shape
    xs, ys = (np.unique(np.linspace(0, n, COLUMNS + 1).astype(int)) for n in (nx, ny))
    found = []
    for a, b in pairwise(xs):
        for c, d in pairwise(ys):
            part = grid.levels[a:b, c:d]
            if part.max() > 0:
                i, j = np.unravel_index(part.argmax(), part.shape)
                found.append((int(a + i), int(c + j)))
    return found


def _notes(problem: Problem) -> list[str]:
    grid, physics = problem.grid, problem.physics
    wet = grid.levels_u > 0
    rows = wet.any(0)
    notes = []
    if physics.advect_momentum and physics.viscosity == 0:
        notes.append("[mixing] viscosity is 0: nothing damps motion at the scale of the cells")
    beta = float(np.abs(np.gradient(grid.f) / grid.dy)[rows].max()) if len(grid.f) > 1 else 0.0
    widest = float(grid.dx_u[rows].max())
    if physics.viscosity > 0 and beta > 0 and wet[:, rows].sum() > 0:
        layer = (physics.viscosity / beta) ** (1 / 3)
        if layer < widest:
            enough = beta * widest**3
            notes.append(
                f"western boundary layers, {layer:.3g} m by [mixing] viscosity, are narrower than a cell of "
                f"{widest:.4g} m: {enough:.3g} m²/s would resolve them"
            )
    turning = float(np.abs(grid.f[rows]).max()) * problem.step
    if turning > 1:
        notes.append(f"the step is {turning:.3g} / f: inertial oscillations are stable, but not resolved")
    return notes


def _rounded_down(step: float) -> str:
    """In at most three digits, not above it."""
    if not 0 < step < np.inf:
        return f"{step:g}"
    unit = 10.0 ** (np.floor(np.log10(step)) - 2)
    return f"{np.floor(step / unit) * unit:.6g}"
