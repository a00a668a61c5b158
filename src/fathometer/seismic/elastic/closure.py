"""Derivatives along z next to a free surface: of order 4 inside, 2 at the surface, with an energy that cannot grow.

    D+ from nodes 0, 1, 2 … to half points 1/2, 3/2 …;  D- back, of fields that are zero in the surface
    W D- = -(V D+)^T   with diagonal W, V: what a node, a half point stands for in an energy, in cells

(summation by parts; Strand 1994, J. Comput. Phys. 110; on staggered grids O'Reilly et al. 2017, J. Comput. Phys. 342.)
The tractions sxz, syz are zero in the surface by D-, szz because it is kept zero there, and dvz/dz in the surface is
what keeps it so. All products in the balance of energy cancel then, in any medium. Order 2 of both operators leaves one
number free, W at the surface: with 3/8 the largest singular value is no larger than inside (9/8 + 1/24), so that the
time step's limit is the same.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

ROWS = 8  # of the tables: next to the surface, those that differ and some that do not
COLUMNS = ROWS + 2
NODES = tuple(Fraction(n, 72) for n in (27, 85, 66, 75, 71))  # W; 1 further below
HALF_POINTS = (Fraction(13, 12), Fraction(7, 8), Fraction(25, 24))  # V
_FORWARD = (
    (Fraction(-27, 26), Fraction(85, 78), Fraction(-1, 26), Fraction(-1, 26), Fraction(1, 39)),
    (Fraction(1, 7), Fraction(-85, 63), Fraction(25, 21), Fraction(2, 21), Fraction(-5, 63)),
    (Fraction(0), Fraction(0), Fraction(-1), Fraction(1), Fraction(0)),
)
_INSIDE = (Fraction(1, 24), Fraction(-9, 8), Fraction(9, 8), Fraction(-1, 24))  # from one node before the half point on


def norms(half: bool, cells: int) -> np.ndarray:
    """(cells,) float64: what nodes (half: half points) below a free surface stand for, in cells."""
    out = np.ones(cells)
    first = HALF_POINTS if half else NODES
    out[: len(first)] = [float(w) for w in first[:cells]]
    return out


def tables() -> np.ndarray:
    """(2, COLUMNS, ROWS) float64: D- and D+ as they act on a field's first COLUMNS points, per cell."""
    n = COLUMNS + 2
    forward = np.zeros((n, n + 2))
    for row in range(n):
        if row < len(_FORWARD):
            forward[row, : len(_FORWARD[row])] = [float(w) for w in _FORWARD[row]]
        else:
            forward[row, row - 1 : row + 3] = [float(w) for w in _INSIDE]
    forward = forward[:, :n]
    backward = -(norms(True, n)[:, None] * forward).T / norms(False, n)[:, None]
    return np.ascontiguousarray(np.stack([backward[:ROWS, :COLUMNS].T, forward[:ROWS, :COLUMNS].T]))
