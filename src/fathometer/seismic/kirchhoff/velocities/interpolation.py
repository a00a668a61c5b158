"""Linear interpolation between evenly spaced cells; beyond the ends the outermost values hold.

All of it is elementwise, so that a column's values do not depend on the columns around it, bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]


def cells_and_weights(positions: Floats, count: int) -> tuple[Cells, Floats]:
    """The cell before each position (in cells, any shape), and the weight of the one behind it, from 0 to 1."""
    inside = np.clip(positions, 0.0, count - 1.0)
    first = np.minimum(np.floor(inside), max(count - 2, 0)).astype(np.int64)
    return first, inside - first


def along_last(values: NDArray[Any], positions: Floats) -> Floats:
    """Values (…, n) at positions (m,), in cells: (…, m)."""
    first, weight = cells_and_weights(positions, values.shape[-1])
    second = np.minimum(first + 1, values.shape[-1] - 1)
    return np.asarray(values[..., first] * (1.0 - weight) + values[..., second] * weight, np.float64)


def bilinear(values: NDArray[Any], i: Floats, j: Floats, lo: tuple[int, int], shape: tuple[int, int]) -> Floats:
    """Columns (…, n) at positions i, j (…), in cells of a volume of `shape` columns, whose box from `lo` on is `values`
    (ni, nj, n)."""
    (a, wa), (b, wb) = cells_and_weights(i, shape[0]), cells_and_weights(j, shape[1])
    a, b = a - lo[0], b - lo[1]
    a1, b1 = np.minimum(a + 1, values.shape[0] - 1), np.minimum(b + 1, values.shape[1] - 1)
    wa, wb = wa[..., None], wb[..., None]
    before = values[a, b] * (1.0 - wb) + values[a, b1] * wb
    behind = values[a1, b] * (1.0 - wb) + values[a1, b1] * wb
    return np.asarray(before * (1.0 - wa) + behind * wa, np.float64)


def needed_box(i: Floats, j: Floats, shape: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The half-open box of a volume's columns that `bilinear` needs at positions i, j."""
    (a, _), (b, _) = cells_and_weights(i, shape[0]), cells_and_weights(j, shape[1])
    lo = int(a.min()), int(b.min())
    return lo, (min(int(a.max()) + 2, shape[0]), min(int(b.max()) + 2, shape[1]))
