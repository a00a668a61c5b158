"""Smoothing of a property by a Gaussian; of a velocity it is the slowness that is to be smoothed.

Vertical travel time is the integral of slowness: smoothing slowness keeps it, for the weights of the Gaussian add up to
one, while smoothing velocity would make waves too fast (Versteeg 1993, Geophysics 58(6), on how smooth a model may be).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)

_TRUNCATE = 4.0  # standard deviations


def reach(deviation: float) -> int:
    """Cells on either side that enter the smoothing by a Gaussian of this standard deviation (cells)."""
    return int(_TRUNCATE * deviation + 0.5)


def smoothed(
    values: npt.NDArray[Real], deviation: Sequence[float], among: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[Real]:
    """Values [x, y, z] smoothed by a Gaussian of these standard deviations (cells) along each axis.

    Beyond the sides the outermost cells repeat. among: only these cells are smoothed, and only among themselves: the
    averages are normalised by the weight of what took part, so that an edge such as the sea floor stays where it is.
    What comes out is within the range of what was averaged.
    """
    from scipy.ndimage import gaussian_filter

    def blur(some: npt.NDArray[Real]) -> npt.NDArray[Real]:
        return np.asarray(gaussian_filter(some, deviation, mode="nearest", truncate=_TRUNCATE))

    if among is None:
        return np.asarray(np.clip(blur(values), values.min(), values.max()))
    if not among.any():
        return values
    weight = np.where(among, blur(among.astype(values.dtype)), values.dtype.type(1))
    mean = blur(np.where(among, values, values.dtype.type(0))) / weight
    return np.where(among, np.clip(mean, values[among].min(), values[among].max()), values)
