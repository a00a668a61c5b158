"""Derivatives next to a sea floor that slopes: of points whose columns follow it, and of the grid further away.

Each column moves its points by at most half a cell, less with distance, so that the floor lies half way between two
nodes. Next to it, values at distances 0, 1/2, 1, ... cells below or above the floor form a strip that follows it, with

    d/dx at one depth = d/dx along the strip - s C,    s: rise of the floor, in cells a cell

d/dz is that of contact_closure.py half way between nodes; C a first derivative along a column with the same norms,
V C + C^T V = -e e^T, where e takes the value in the floor (so that no norm varies along the floor). Further away it is
the grid's own derivative, of values at the grid's depths. A window f over distance weighs both:

    K = S^T f V D S + T^T (1 - f) D T

with S, T from the moved points to the strip and to the grid's depths (polynomials of degree 3). Strains are M^-1 K v,
forces -M^-1 K^T sigma, M the row sums of both parts: energy is kept whatever the floor. Of rock K acts on velocities;
of water, on the pressure. Rock moves water's surface: a flux e^T vn in the strain of the water, and its transpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fathometer.seismic.elastic.contact_closure import ROCK, STENCIL, WATER, closure

PARTS = 128  # of a cell: what depths of columns are rounded to; tables of all fit into a cache
LANES = 16  # points of a side, from the floor on, that tables cover
BAND = 5  # points of a column that a value between them takes, around its own
ROWS = 14  # of them whose derivatives are not the grid's
EDGE = (15 / 8, -10 / 8, 3 / 8)  # e: the value in the floor from the three nodes next to it
_STRIP = 13  # points of the strip
_WINDOW = (3.0, 9.0)  # cells from the floor: where the strip's share begins to fall, where it ends
# Where points begin to be moved by less, where they are not moved. Half way, both ways of interpolation shift by a
# quarter of a cell at most; where one shifted by half a cell, waves of two cells would be slow and stay there.
_FADE = _WINDOW
_WHOLE = LANES + 8
_INSIDE = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}  # of C, far from the floor
_FREE = {False: 6, True: 8}  # rows of C whose elements are chosen, at nodes and at half points


OTHER_INERTIA = _FADE[1] + 2  # cells from the floor from which on points stand for a cell


def _step(share: np.ndarray) -> np.ndarray:
    u = np.clip(share, 0, 1)
    return np.asarray(u**4 * (35 - 84 * u + 70 * u**2 - 20 * u**3))


def window(distance: np.ndarray) -> np.ndarray:
    """The strip's share at distances from the floor, in cells."""
    return 1 - _step((distance - _WINDOW[0]) / (_WINDOW[1] - _WINDOW[0]))


def moved(distance: np.ndarray) -> np.ndarray:
    """The share of a column's shift that its points have, by their distance from the floor."""
    return 1 - _step((distance - _FADE[0]) / (_FADE[1] - _FADE[0]))


def places(side: int, half: bool, part: np.ndarray | float, count: int = LANES) -> np.ndarray:
    """Distances (..., count) of a column's points from the floor, in cells.

    half: of half points, of which the first lies in the floor; else of nodes. part: (...), of a cell, how far the floor
    lies below a node of the grid.
    """
    strip = np.arange(count) + (0.0 if half else 0.5)
    shift = np.asarray(part)[..., None] - 0.5
    return np.asarray(strip + (shift if side == WATER else -shift) * (1 - moved(strip)))


def _between(at: np.ndarray, to: np.ndarray, same: np.ndarray) -> np.ndarray:
    """Weights (n, count, BAND) of the points at `at` (n, count) for values at `to` (n, count), of degree 3; band b of
    value j is point j - 2 + b. same: (n, count), where a value is its own point's."""
    n, count = at.shape
    out = np.zeros((n, count, BAND))
    rows = np.arange(n)
    for j in range(count):
        first = np.where(at[:, j] < to[:, j], j - 1, j - 2)  # two points on each side
        first = np.clip(first, 0, count - 4)
        chosen = first[:, None] + np.arange(4)
        place = at[rows[:, None], chosen]
        for a in range(4):
            weight = np.ones(n)
            for b in range(4):
                if b != a:
                    weight *= (to[:, j] - place[:, b]) / (place[:, a] - place[:, b])
            band = first + a - j + BAND // 2
            use = ~same[:, j] & (band >= 0) & (band < BAND)
            out[rows[use], j, band[use]] = weight[use]
        out[same[:, j], j] = np.arange(BAND) == BAND // 2
    return out


def _transposed(weights: np.ndarray) -> np.ndarray:
    """(n, count, BAND) of the transpose."""
    count, band = weights.shape[1:]
    out = np.zeros_like(weights)
    for b in range(band):
        step = b - band // 2  # value j takes point j + step
        lo, hi = max(0, -step), min(count, count - step)
        out[:, lo + step : hi + step, band - 1 - b] = weights[:, lo:hi, b]
    return out


@dataclass(frozen=True, eq=False)
class Columns:
    """Weights of columns of all parts of a cell, [part in 1 / PARTS, point from the floor on, band].

    Attributes:
        gather: from points to the strip, and to the grid's depths; weighted by the window where this kind of points is
            the one that K writes. scatter: back, over what a point stands for.
        inertia: (PARTS, LANES), what a point stands for, in cells.
    """

    gather: tuple[np.ndarray, np.ndarray]
    scatter: tuple[np.ndarray, np.ndarray]
    inertia: np.ndarray


@lru_cache(None)
def columns(side: int, half: bool, weighted: bool) -> Columns:
    """Of nodes or half points of a side. weighted: whether K writes them: stresses of rock, velocities of water."""
    part = np.arange(PARTS) / PARTS
    at = places(side, half, part, _WHOLE)
    strip = np.broadcast_to(np.arange(_WHOLE) + (0.0 if half else 0.5), at.shape)
    shift = (part - 0.5) * (1 if side == WATER else -1)
    depth = strip + shift[:, None]  # of the grid's own points
    to_strip = _between(at, strip, np.abs(at - strip) < 1e-9)
    to_grid = _between(at, depth, np.abs(at - depth) < 1e-9)
    # Closer to the floor no value at a depth of the grid is asked for, and further away none in the strip.
    to_grid[depth <= _WINDOW[0] - 2.0] = 0
    to_strip[:, _STRIP + half :] = 0
    near = closure(side, 0.5)
    norm = np.ones(_WHOLE)
    known = near.half_points if half else near.nodes
    norm[: len(known)] = known
    share = window(strip) * norm
    share[:, _STRIP + half :] = 0
    rest = np.where(depth > 0, 1 - window(depth), 0.0)
    back_strip, back_grid = _transposed(to_strip * share[..., None]), _transposed(to_grid * rest[..., None])
    inertia = (back_strip + back_grid).sum(axis=2)
    if not weighted:
        back_strip, back_grid = _transposed(to_strip), _transposed(to_grid)
    else:
        to_strip, to_grid = to_strip * share[..., None], to_grid * rest[..., None]
    per = inertia[:, :LANES, None]
    cut = slice(0, LANES)
    return Columns(
        (to_strip[:, cut], to_grid[:, cut]), (back_strip[:, cut] / per, back_grid[:, cut] / per), inertia[:, cut]
    )


@dataclass(frozen=True, eq=False)
class Strip:
    """Derivatives along a column of the strip, from the floor on; columns of nodes are _STRIP long, those of half
    points one more, of which the first lies in the floor.

    Attributes:
        to_nodes, to_half_points: d/dz, the latter with e in the floor. along_nodes, along_half_points: C.
    """

    to_nodes: np.ndarray
    to_half_points: np.ndarray
    along_nodes: np.ndarray
    along_half_points: np.ndarray


@lru_cache(None)
def strip(side: int) -> Strip:
    """Distances from the floor on grow along the columns, on either side."""
    n = _STRIP + 6
    near = closure(side, 0.5)
    rows, halves = near.to_nodes.shape
    nodes, half_points = np.ones(n), np.ones(n + 1)
    nodes[:rows], half_points[:halves] = near.nodes, near.half_points
    whole = np.zeros((n, n + 1))
    whole[:rows, :halves] = near.to_nodes * near.nodes[:, None]
    for row in range(rows, n):
        for m, weight in enumerate(STENCIL):
            if row - 1 + m <= n:
                whole[row, row - 1 + m] = weight
    edge = np.zeros(n)
    edge[: len(EDGE)] = EDGE
    first = np.zeros(n + 1)
    first[0] = 1.0
    back = -(whole.T + np.outer(first, edge)) / half_points[:, None]
    cut = _STRIP
    return Strip(
        (whole / nodes[:, None])[:cut, : cut + 1],
        back[: cut + 1, :cut],
        _along(np.arange(n) + 0.5, nodes, edge, half=False)[:cut, :cut],
        _along(np.arange(n + 1.0), half_points, first, half=True)[: cut + 1, : cut + 1],
    )


def _along(at: np.ndarray, norm: np.ndarray, edge: np.ndarray, half: bool) -> np.ndarray:
    """C: exact for straight lines, close to the derivative of polynomials of degree 4, and with elements close to those
    of the grid's collocated derivative of order 4 in rows that accuracy leaves free."""
    n, rows = len(at), _FREE[half]
    pairs = [(a, b) for a in range(rows) for b in range(a + 1, rows)]
    base = np.zeros((n, n))
    for a in range(n):
        for step, weight in _INSIDE.items():
            if step > 0 and a + step < n and a + step >= rows:
                base[a, a + step] = weight
    base = base - base.T - 0.5 * np.outer(edge, edge)
    exact: list[np.ndarray] = []
    exact_right: list[float] = []
    close: list[np.ndarray] = []
    close_right: list[float] = []
    for j in range(rows):
        for power in range(5):
            away = (at - at[j]) ** power
            row = np.zeros(len(pairs))
            for q, (a, b) in enumerate(pairs):
                if a == j:
                    row[q] += away[b]
                if b == j:
                    row[q] -= away[a]
            right = norm[j] * (power == 1) - base[j] @ away
            if power <= 1:
                exact.append(row)
                exact_right.append(right)
            else:
                weight = {2: 1.0, 3: 0.1, 4: 0.03}[power]
                close.append(weight * row)
                close_right.append(weight * right)
    near = 0.03  # weight of the grid's elements
    close_rows = np.concatenate([np.array(close), near * np.eye(len(pairs))])
    wanted = np.concatenate([close_right, [near * _INSIDE.get(b - a, 0.0) for a, b in pairs]])
    conditions = np.array(exact)
    found = np.linalg.lstsq(conditions, np.array(exact_right), rcond=1e-11)[0]
    _, size, directions = np.linalg.svd(conditions)
    free = directions[int((size > 1e-10).sum()) :].T
    found = found + free @ np.linalg.lstsq(close_rows @ free, wanted - close_rows @ found, rcond=None)[0]
    out = base.copy()
    for q, (a, b) in enumerate(pairs):
        out[a, b] += found[q]
        out[b, a] -= found[q]
    return np.asarray(out / norm[:, None])


def native_tables(dtype: np.dtype[Any]) -> dict[str, np.ndarray]:
    """What the kernels take (native/elastic/sloping.hpp). Lanes are in the order of rows: of water the last one is next
    to the floor.

    weights: [side, half, weighted][part][gather strip, gather grid, scatter strip, scatter grid][band][lane].
    inverse: [side, half, weighted][part][lane], 1 / inertia.
    derivative: [side][to nodes, to half points, C of nodes, C of half points][transposed][column][lane], with signs so
        that along rows (downwards) d/dz is the sum itself, and d/dx that along the strip plus the sum times s.
    """
    weights = np.zeros((2, 2, 2, PARTS, 4, BAND, LANES))
    inverse = np.zeros((2, 2, 2, PARTS, LANES))
    derivative = np.zeros((2, 4, 2, LANES, LANES))
    for side in (WATER, ROCK):
        order = slice(None, None, -1) if side == WATER else slice(None)
        sign = -1.0 if side == WATER else 1.0
        for half in (False, True):
            for weighted in (False, True):
                some = columns(side, half, weighted)
                for number, one in enumerate((*some.gather, *some.scatter)):
                    weights[side, int(half), int(weighted), :, number] = one[:, order, order].swapaxes(1, 2)
                inverse[side, int(half), int(weighted)] = 1 / some.inertia[:, order]
        along = strip(side)
        matrices = (
            (sign * along.to_nodes, -sign * along.to_half_points.T),
            (sign * along.to_half_points, -sign * along.to_nodes.T),
            (-sign * along.along_nodes, sign * along.along_nodes.T),
            (-sign * along.along_half_points, sign * along.along_half_points.T),
        )
        for number, pair in enumerate(matrices):
            for transposed, matrix in enumerate(pair):
                whole = np.zeros((LANES, LANES))
                whole[: matrix.shape[0], : matrix.shape[1]] = matrix
                derivative[side, number, transposed] = whole[order, order].T
    return {
        "weights": np.ascontiguousarray(weights.reshape(8, *weights.shape[3:]), dtype),
        "inverse": np.ascontiguousarray(inverse.reshape(8, *inverse.shape[3:]), dtype),
        "derivative": np.ascontiguousarray(derivative.reshape(16, LANES, LANES), dtype),
    }
