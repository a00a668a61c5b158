"""Values on an axis of other cells: low-passed where these are larger, so that nothing is aliased.

    v(x) = sum_k w(x - x_k) v_k / sum_k w(x - x_k)

Larger cells: w is the low-pass kernel of resampling.py (Kaiser & Schafer 1980), which passes wavenumbers up to two
thirds of the new cells' Nyquist and stops from there on, 100 dB down. Smaller cells: w is the hat of linear
interpolation, which has no overshoot. Beyond the ends the outermost cells repeat; constants stay constants.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.resampling import LowPass, low_pass

_SAME = 1e-6  # of a cell
_PASSED = 2.0 / 3.0  # of the Nyquist wavenumber of larger cells


def count(first: float, last: float, spacing: float) -> int:
    """Cells of this spacing from `first` to at most `last`, all in m."""
    return math.floor((last - first) / spacing + _SAME) + 1


def same(spacing: float, other: float) -> bool:
    """Whether two spacings are one."""
    return math.isclose(spacing, other, rel_tol=_SAME)


def reach(spacing: float, wanted: float) -> int:
    """Cells of `spacing` on either side of a place that enter its value where cells of `wanted` are made."""
    if same(spacing, wanted):
        return 0
    return math.ceil(_kernel(spacing, wanted).half_width / spacing) if wanted > spacing else 1


def regrid(
    values: npt.NDArray[np.float32], axis: int, first: float, spacing: float, places: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """Values [x, y, z] at other places (n,), m, evenly spaced, along one axis, whose cell k is at first + k spacing."""
    n = values.shape[axis]
    wanted = float(places[1] - places[0]) if len(places) > 1 else spacing
    side = max(1, reach(spacing, wanted))
    nearest = np.floor((places - first) / spacing + _SAME).astype(np.int64)
    near = nearest[:, None] + np.arange(-side, side + 2)
    away = places[:, None] - (first + spacing * near)
    if wanted > spacing and not same(spacing, wanted):
        weights = _kernel(spacing, wanted)(away)
    else:
        weights = np.clip(1.0 - np.abs(away) / spacing, 0.0, None)
    matrix = _sparse(weights / weights.sum(axis=1, keepdims=True), np.clip(near, 0, n - 1), n)
    lines = np.moveaxis(values, axis, 0)
    made = (matrix @ lines.reshape(n, -1)).reshape(len(places), *lines.shape[1:])
    return np.ascontiguousarray(np.moveaxis(made, 0, axis))


def _kernel(spacing: float, wanted: float) -> LowPass:
    return low_pass(_PASSED * 0.5 / wanted, spacing, wanted)


def _sparse(weights: npt.NDArray[np.float64], columns: npt.NDArray[np.int64], n: int) -> Any:
    """float32 (rows, n); weights of one cell, as they meet at the ends, are added up."""
    from scipy.sparse import csr_array

    rows = np.broadcast_to(np.arange(len(weights))[:, None], columns.shape)
    return csr_array((weights.ravel(), (rows.ravel(), columns.ravel())), shape=(len(weights), n)).astype(np.float32)
