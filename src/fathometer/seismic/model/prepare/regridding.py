"""Regridding of a property along one axis, low-passed where cells become larger, to avoid aliasing.

    v(x) = sum_k w(x - x_k) v_k / sum_k w(x - x_k)

Larger cells: w is the low-pass kernel of resampling.py (Kaiser & Schafer 1980), with the pass band up to two
thirds of the new Nyquist wavenumber and the stop band, 100 dB down, from there on. Smaller cells: w is the hat function
of linear interpolation, which does not overshoot. Beyond the ends the edge cells repeat. Constants are preserved.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.resampling import LowPass, low_pass

_SAME = 1e-6  # of a cell
_PASS_BAND = 2.0 / 3.0  # of the Nyquist wavenumber of larger cells


def cell_count(first: float, last: float, spacing: float) -> int:
    """Number of cells of this spacing from `first` to at most `last`, all in m."""
    return math.floor((last - first) / spacing + _SAME) + 1


def same_spacing(spacing: float, other: float) -> bool:
    """Whether two spacings are equal to rounding."""
    return math.isclose(spacing, other, rel_tol=_SAME)


def reach(spacing: float, wanted: float) -> int:
    """Cells of `spacing` on either side of a position that enter its value on a grid of spacing `wanted`, both in m."""
    if same_spacing(spacing, wanted):
        return 0
    return math.ceil(_kernel(spacing, wanted).half_width / spacing) if wanted > spacing else 1


def regrid(
    values: npt.NDArray[np.float32], axis: int, first: float, spacing: float, positions: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """Values, float32 [x, y, z], at other positions along one axis.

    Args:
        values: float32 [x, y, z]; cell k along `axis` is at first + k spacing (m).
        positions: (n,), m, evenly spaced.
    """
    n = values.shape[axis]
    wanted = float(positions[1] - positions[0]) if len(positions) > 1 else spacing
    side = max(1, reach(spacing, wanted))
    nearest = np.floor((positions - first) / spacing + _SAME).astype(np.int64)
    cells = nearest[:, None] + np.arange(-side, side + 2)
    distance = positions[:, None] - (first + spacing * cells)
    if wanted > spacing and not same_spacing(spacing, wanted):
        weights = _kernel(spacing, wanted)(distance)
    else:
        weights = np.clip(1.0 - np.abs(distance) / spacing, 0.0, None)
    matrix = _sparse(weights / weights.sum(axis=1, keepdims=True), np.clip(cells, 0, n - 1), n)
    lines = np.moveaxis(values, axis, 0)
    result = (matrix @ lines.reshape(n, -1)).reshape(len(positions), *lines.shape[1:])
    return np.ascontiguousarray(np.moveaxis(result, 0, axis))


def _kernel(spacing: float, wanted: float) -> LowPass:
    return low_pass(_PASS_BAND * 0.5 / wanted, spacing, wanted)


def _sparse(weights: npt.NDArray[np.float64], columns: npt.NDArray[np.int64], n: int) -> Any:
    """Sparse matrix, float32 (rows, n); weights of the same cell, as at the ends, are summed."""
    from scipy.sparse import csr_array

    rows = np.broadcast_to(np.arange(len(weights))[:, None], columns.shape)
    return csr_array((weights.ravel(), (rows.ravel(), columns.ravel())), shape=(len(weights), n)).astype(np.float32)
