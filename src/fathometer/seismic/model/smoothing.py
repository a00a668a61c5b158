"""Gaussian smoothing of a property. What of a velocity model is smoothed, so that reflectors keep their depths, is in
means.py.

The weights of the Gaussian sum to one: what is smoothed keeps its integral (Versteeg 1993, Geophysics 58(6), on how
smooth a model may be).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)

_TRUNCATE = 4.0  # standard deviations


def reach(deviation: float) -> int:
    """Half width, cells, of the Gaussian of this standard deviation (cells)."""
    return int(_TRUNCATE * deviation + 0.5)


def smoothed(
    values: npt.NDArray[Real], deviation: Sequence[float], mask: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[Real]:
    """Values smoothed by a Gaussian, in their shape and dtype and within their range.

    Beyond the sides the edge cells repeat.

    Args:
        values: [x, y, z], float32 or float64. deviation: standard deviations along each axis, cells.
        mask: [x, y, z], only these cells are smoothed and contribute; averages are normalised by the sum of their
            weights, so that an edge such as the sea floor stays sharp. None: all cells.
    """
    from scipy.ndimage import gaussian_filter

    def blur(array: npt.NDArray[Real]) -> npt.NDArray[Real]:
        return np.asarray(gaussian_filter(array, deviation, mode="nearest", truncate=_TRUNCATE))

    if mask is None:
        return np.asarray(np.clip(blur(values), values.min(), values.max()))
    if not mask.any():
        return values
    weight = np.where(mask, blur(mask.astype(values.dtype)), values.dtype.type(1))
    mean = blur(np.where(mask, values, values.dtype.type(0))) / weight
    return np.where(mask, np.clip(mean, values[mask].min(), values[mask].max()), values)
