"""What is averaged where a medium is smoothed or gets larger cells, and the medium that the averages make.

In the equations of constant density and vs = 0 a layer has, at the horizontal slowness p, the squared vertical slowness

    q^2(p) = 1/v^2 - (1 + 2 delta) p^2 / (1 - 2 (epsilon - delta) v^2 p^2)
           = 1/v^2 - (1 + 2 delta) p^2 - 2 (1 + 2 delta) (epsilon - delta) v^2 p^4 - ...

and layers thin beside the wavelength act as one whose q^2 is their mean (docs/theory.md; Backus 1962). So
"slowness-squared" averages 1/v^2, delta and the strength (1 + 2 delta) (epsilon - delta) v^2. "slowness" and "velocity"
average v to the power -1 and 1, beside it delta and epsilon - delta: in both epsilon stays at delta or above.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)

SLOWNESS_SQUARED, SLOWNESS, VELOCITY = "slowness-squared", "slowness", "velocity"
MEANS = (SLOWNESS_SQUARED, SLOWNESS, VELOCITY)


def of_velocity(mean: str, vp: npt.NDArray[Real]) -> npt.NDArray[Real]:
    """What is averaged of a velocity (m/s), in its shape and dtype."""
    if mean == VELOCITY:
        return vp
    slowness: npt.NDArray[Real] = np.reciprocal(vp)
    return np.multiply(slowness, slowness, out=slowness) if mean == SLOWNESS_SQUARED else slowness


def to_velocity(mean: str, averaged: npt.NDArray[Real]) -> npt.NDArray[Real]:
    """The velocity (m/s) of an average of `of_velocity`."""
    if mean == VELOCITY:
        return averaged
    slowness: npt.NDArray[Real] = np.sqrt(averaged) if mean == SLOWNESS_SQUARED else averaged
    return np.reciprocal(slowness)


def excess(mean: str, vp: npt.NDArray[Real], epsilon: npt.NDArray[Real], delta: npt.NDArray[Real]) -> npt.NDArray[Real]:
    """What is averaged of epsilon, beside delta itself, all in one shape and dtype: 0 where epsilon = delta, else
    of the sign of epsilon - delta."""
    difference: npt.NDArray[Real] = epsilon - delta
    if mean == SLOWNESS_SQUARED:
        difference *= (1 + 2 * delta) * (vp * vp)
    return difference


def to_epsilon(
    mean: str, vp: npt.NDArray[Real], delta: npt.NDArray[Real], averaged: npt.NDArray[Real]
) -> npt.NDArray[Real]:
    """Epsilon of an average of `excess`, for the averages' velocity (m/s) and delta."""
    difference = averaged
    if mean == SLOWNESS_SQUARED:
        difference = np.divide(averaged, (1 + 2 * delta) * (vp * vp))
    return np.add(delta, difference)
