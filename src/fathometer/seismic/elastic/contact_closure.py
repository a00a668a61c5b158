"""Derivatives along z on one side of a contact that lies anywhere between two nodes, with an energy that cannot grow.

    D+ from half points, the first one in the contact, to nodes;  D- back
    V D+ = Q,   W D- = -Q^T   with diagonal V, W: what a node, a half point stands for in an energy, in cells

(summation by parts, as in closure.py.) Distances count from the contact: nodes lie at d, d + 1, ..., half points at 0,
d + 1/2, d + 3/2, ... with d from 0 to 1. Both operators are exact for polynomials of degree 2 and go over into the
grid's stencil of order 4; D- holds the value in the contact, which the other side's D- takes back where the two are
joined. That leaves 13 numbers free. They are polynomials in d here, of water and of rock, found by least squares: the
ratio of traction and motion in the contact is to be that of the differential equations, for waves from 9 to 32 cells
long along the contact that travel at all angles or decay away from it, with V, W near 1 and a largest singular value
near that of the grid's stencil.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

WATER, ROCK = 0, 1  # sides
ROWS, HALVES = 5, 7  # nodes and half points whose derivatives or weights differ
PARTS = 1024  # of a cell: what depths of floors are rounded to
STENCIL = (1 / 24, -9 / 8, 9 / 8, -1 / 24)  # of a derivative, over the spacing
# Of each side, elements of Q, V and W, and the coefficients of 1, d, d^2, d^3, d^4 that make them.
_FREE = {
    WATER: {
        ("Q", 1, 1): (-0.75325, -1.47050, 0.97607, 3.01828, -2.05812),
        ("Q", 1, 2): (0.95075, 0.58831, -0.59019, 0.80874, -0.84497),
        ("Q", 1, 4): (0.06880, 0.26868, -2.48783, 4.23060, -2.34234),
        ("Q", 1, 5): (0.01465, 0.07242, 0.30598, -2.25712, 1.98518),
        ("Q", 2, 5): (-0.05027, 0.29977, -0.36802, 0.08628, 0.53277),
        ("Q", 3, 1): (-0.03013, -0.38288, 2.98817, -7.43088, 3.75028),
        ("Q", 3, 2): (0.21137, -0.70247, 1.82081, -2.68769, 1.27542),
        ("Q", 3, 4): (1.03694, 0.05255, 1.43391, -3.52450, 2.41796),
        ("Q", 3, 5): (-0.13012, 0.54458, -1.82443, 2.98169, -1.37635),
        ("V", 1, 0): (1.12270, 1.33780, -6.43070, 5.72784, -1.38789),
        ("V", 3, 0): (0.96568, 0.81582, -4.78998, 8.81185, -4.84752),
        ("W", 1, 0): (0.75158, 1.66478, -3.29033, 5.25658, -2.49925),
        ("W", 3, 0): (1.05676, -1.56127, 7.20504, -11.79753, 5.46068),
    },
    ROCK: {
        ("Q", 1, 1): (-0.80310, -1.18195, 0.20101, 3.73578, -2.17270),
        ("Q", 1, 2): (0.98374, 0.22057, 0.87329, -1.34888, 0.05066),
        ("Q", 1, 4): (0.01490, 0.89086, -5.50047, 9.50308, -5.20981),
        ("Q", 1, 5): (0.03985, 0.01714, 1.01629, -3.62170, 2.55705),
        ("Q", 2, 5): (-0.04260, -0.05836, 1.35834, -2.39036, 1.42659),
        ("Q", 3, 1): (-0.00857, -0.28258, 1.28923, -3.49963, 1.14897),
        ("Q", 3, 2): (0.17187, -0.46261, 1.14154, -1.64231, 0.71733),
        ("Q", 3, 4): (1.07871, -0.27770, 2.74474, -5.27056, 3.12227),
        ("Q", 3, 5): (-0.14057, 0.27464, -0.69239, 1.05882, -0.08506),
        ("V", 1, 0): (1.11818, 1.13557, -4.90571, 2.59154, 0.50836),
        ("V", 3, 0): (0.94906, 0.76427, -3.24392, 4.58664, -1.53720),
        ("W", 1, 0): (0.71179, 1.70691, -2.30583, 4.07159, -2.32820),
        ("W", 3, 0): (1.13494, -1.62088, 7.23119, -12.44060, 6.02604),
    },
}


@dataclass(frozen=True, eq=False)
class Closure:
    """One side of a contact.

    Attributes:
        to_nodes: D+ (ROWS, HALVES), further nodes have the grid's stencil. to_half_points: D- (HALVES, ROWS + 3).
        nodes, half_points: V (ROWS,), W (HALVES,); 1 further away.
    """

    to_nodes: np.ndarray
    to_half_points: np.ndarray
    nodes: np.ndarray
    half_points: np.ndarray


@lru_cache(None)
def closure(side: int, first: float) -> Closure:
    """first: d, of a cell."""
    nodes = first + np.arange(ROWS + 3.0)
    halves = np.concatenate([[0.0], first + np.arange(HALVES - 1) + 0.5])
    at_v, at_w = ROWS * HALVES, ROWS * HALVES + ROWS  # of V and W among the unknowns, after Q row by row
    whole = np.zeros((ROWS + 3, HALVES))  # of Q: rows of the grid's stencil
    for row in range(ROWS, ROWS + 3):
        for n, weight in enumerate(STENCIL):
            if row - 1 + n < HALVES:
                whole[row, row - 1 + n] = weight
    conditions, right = [], []
    for power in range(3):
        for j in range(ROWS):  # the sum over c of Q_jc (h_c - x_j)^m is V_j for m = 1, else 0
            condition = np.zeros(at_w + HALVES)
            condition[j * HALVES : (j + 1) * HALVES] = (halves - nodes[j]) ** power
            condition[at_v + j] = -(power == 1)
            conditions.append(condition)
            right.append(0.0)
        for c in range(HALVES):  # that over j of Q_jc (x_j - h_c)^m is -W_c for m = 1, else 0; -1 in the contact
            condition = np.zeros(at_w + HALVES)
            condition[c:at_v:HALVES] = (nodes[:ROWS] - halves[c]) ** power
            condition[at_w + c] = power == 1
            conditions.append(condition)
            right.append(-float(c == power == 0) - whole[:, c] @ (nodes - halves[c]) ** power)
    for (kind, a, b), coefficients in _FREE[side].items():
        condition = np.zeros(at_w + HALVES)
        condition[{"Q": a * HALVES + b, "V": at_v + a, "W": at_w + a}[kind]] = 1.0
        conditions.append(condition)
        right.append(float(np.polynomial.polynomial.polyval(first, coefficients)))
    # More conditions than unknowns, which agree.
    found = np.linalg.lstsq(np.array(conditions), np.array(right), rcond=1e-10)[0]
    v, w = found[at_v:at_w], found[at_w:]
    whole[:ROWS] = found[:at_v].reshape(ROWS, HALVES)
    return Closure(whole[:ROWS] / v[:, None], -whole.T / w[:, None], v, w)
