"""The largest time step that derivatives next to a sea floor allow."""

from __future__ import annotations

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.seismic.elastic.contact_closure import ROCK, STENCIL, WATER, Closure, closure
from fathometer.seismic.elastic.contact_media import PlaneSides, Row, Sides
from fathometer.seismic.elastic.fields import WEIGHT_SUM
from fathometer.seismic.elastic.floor_strip import EDGE
from fathometer.seismic.elastic.sloping_media import SlopingSides

_CELLS = 12  # of a side: further away nothing adds
# How steep a floor is, in degrees and in cells a cell, and by what share each adds to the largest eigenvalue, at most.
_BY_DEGREES = ((0.0, 20.0, 30.0), (0.03, 0.1, 0.36))
_BY_CELLS = ((0.0, 0.4, 1.0), (0.0, 0.04, 0.26))
_FINE = 256  # steps of a factor e to which moduli and densities are rounded, towards less time


def contact_eigenvalue(sides: PlaneSides, grid: Grid) -> float:
    """Largest eigenvalue of the space operator at a block's floor, 1/s^2: waves along z in columns of the two media,
    and the shortest ones along x and y."""
    floor = sides.floor
    unique = _media(sides, floor.last, floor.last + 1)
    along = 4 * WEIGHT_SUM**2 * sum(1 / grid.spacing[axis] ** 2 for axis in grid.axes[:-1])
    water, rock = _whole(closure(WATER, floor.part)), _whole(closure(ROCK, 1 - floor.part))
    largest = 0.0
    for p_water, p_rock, mu, rho_water, rho_rock in unique:
        # Rows: nodes of both sides; columns: half points, the one in the floor first.
        strain = np.zeros((2 * _CELLS, 2 * _CELLS - 1))
        strain[:_CELLS, :_CELLS] = water[0]
        strain[_CELLS:, 0] = rock[0][:, 0]
        strain[_CELLS:, _CELLS:] = rock[0][:, 1:]
        stiffness = np.concatenate([p_water / water[1], p_rock / rock[1]])
        joined = water[2][0] * rho_water + rock[2][0] * rho_rock
        mass = np.concatenate([[joined], water[2][1:] * rho_water, rock[2][1:] * rho_rock])
        shear = _norm(rock[0][:, 1:].T, mu / rock[2][1:], rock[1] * rho_rock)  # none in the floor
        down = max(_norm(strain, stiffness, mass), shear) / grid.spacing[2] ** 2
        largest = max(largest, down + along * max(p_water / rho_water, p_rock / rho_rock))
    return largest


def sloping_eigenvalue(sides: SlopingSides, grid: Grid) -> float:
    """As contact_eigenvalue, at a floor that slopes: of columns whose points are not moved, times what the steepest
    floors were found to add."""
    nodes = sides.rows("sxx")
    water, rock = (_whole(closure(side, 0.5)) for side in (WATER, ROCK))
    along = 4 * WEIGHT_SUM**2 * sum(1 / grid.spacing[axis] ** 2 for axis in grid.axes[:-1])
    edge = np.zeros(_CELLS)
    edge[: len(EDGE)] = EDGE
    largest = 0.0
    for p_water, p_rock, mu, rho_water, rho_rock in _media(sides, nodes, nodes + 1):
        # Rows: nodes of both sides; columns: half points of both sides, of each the one in the floor first.
        strain = np.zeros((2 * _CELLS, 2 * _CELLS))
        strain[:_CELLS, :_CELLS] = water[0]
        strain[:_CELLS, 0] += edge  # pressure counts in the floor
        strain[:_CELLS, _CELLS] = -edge
        strain[_CELLS:, _CELLS:] = rock[0]
        stiffness = np.concatenate([p_water / water[1], p_rock / rock[1]])
        mass = np.concatenate([water[2] * rho_water, rock[2] * rho_rock])
        sheared = rock[0].T.copy()
        sheared[0] += edge
        shear = _norm(sheared, mu / rock[2], rock[1] * rho_rock)
        down = max(_norm(strain, stiffness, mass), shear) / grid.spacing[2] ** 2
        largest = max(largest, down + along * max(p_water / rho_water, p_rock / rho_rock))
    floor = sides.floor
    return largest * float(1 + np.interp(floor.steepest, *_BY_DEGREES) + np.interp(floor.fall, *_BY_CELLS))


def _media(sides: Sides, above: Row, below: Row) -> np.ndarray:
    """(n, 5) different media: lambda + 2 mu of water and rock, mu, densities of water and rock, in the rows above and
    below a floor, rounded towards less time."""
    rows = ((WATER, above), (ROCK, below))
    moduli = [sides.of("p", side, row, stiffest=True) for side, row in rows]
    moduli.append(sides.of("mu", ROCK, below, stiffest=True))
    densities = [sides.of("density", side, row) for side, row in rows]
    logarithms = [np.ceil(_FINE * np.log(some)) for some in moduli]
    logarithms += [np.floor(_FINE * np.log(some)) for some in densities]
    return np.asarray(np.exp(np.unique(np.stack([some.reshape(-1) for some in logarithms]), axis=1).T / _FINE))


def _norm(derivative: np.ndarray, stiffness: np.ndarray, mass: np.ndarray) -> float:
    return float(np.linalg.norm(np.sqrt(stiffness)[:, None] * derivative / np.sqrt(mass), 2) ** 2)


def _whole(near: Closure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of _CELLS cells of a side: Q, and what nodes and half points weigh."""
    rows, halves = near.to_nodes.shape
    out = np.zeros((_CELLS, _CELLS + 2))
    nodes, half_points = np.ones(_CELLS), np.ones(_CELLS)
    nodes[:rows], half_points[:halves] = near.nodes, near.half_points
    out[:rows, :halves] = near.nodes[:, None] * near.to_nodes
    for row in range(rows, _CELLS):
        out[row, row - 1 : row + 3] = STENCIL[: _CELLS + 3 - row]
    return out[:, :_CELLS], nodes, half_points
