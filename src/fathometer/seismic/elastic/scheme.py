"""What the time stepping of elastic waves depends on beside the medium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.seismic.waves.boundary import MultiaxialPml


@dataclass(frozen=True)
class ElasticScheme:
    """Time step, type of numbers, boundaries.

    Attributes:
        dt: s. dtype: float32 or float64.
        boundary: the absorbing layers at each side (not above a free surface); of width 0: sides reflect.
        free_surface: whether the plane k = 0 is one.
        vmax: largest P velocity of the model, m/s. frequency: peak frequency of the source, Hz; layers depend on both.
    """

    dt: float
    dtype: np.dtype[Any]
    boundary: MultiaxialPml
    free_surface: bool
    vmax: float
    frequency: float
