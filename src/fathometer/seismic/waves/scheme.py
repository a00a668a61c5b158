"""The scheme of the time stepping: what it depends on beside the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.seismic.waves.boundary import Boundary


@dataclass(frozen=True)
class Scheme:
    """Time step, stencil, boundaries: what the time stepping depends on beside the model.

    Attributes:
        dt: s. radius: the stencil reaches R cells, order 2R. dtype: float32 or float64.
        boundary: the absorbing boundary. free_surface: pressure is zero in the model's first z plane.
        vmax: largest (horizontal) velocity of the model in m/s, frequency: peak of the wavelet in Hz; the absorbing
            layers are tuned to them.
        space_weights: kind of the weights of the second derivatives, "taylor" or "optimised".
    """

    dt: float
    radius: int
    dtype: np.dtype[Any]
    boundary: Boundary
    free_surface: bool
    vmax: float
    frequency: float
    space_weights: str = "taylor"
