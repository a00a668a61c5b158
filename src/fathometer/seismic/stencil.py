"""Finite-difference weights, and the time step that they allow."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np

LARGEST_SHARE_OF_LIMIT = 0.95  # of the stability limit: what dt = "auto" takes


def second_derivative_weights(radius: int) -> np.ndarray:
    """Taylor weights c0, c1 … cR (float64, radius + 1) of the centred second derivative of order 2R on unit spacing.

    c_r = 2 (-1)^(r+1) (R!)^2 / (r^2 (R-r)! (R+r)!), c0 = -2 sum c_r (Fornberg 1988, Mathematics of Computation 51).

    >>> second_derivative_weights(1).tolist()
    [-2.0, 1.0]
    """
    weights = [
        Fraction((-1) ** (r + 1) * 2 * factorial(radius) ** 2, r**2 * factorial(radius - r) * factorial(radius + r))
        for r in range(1, radius + 1)
    ]
    return np.array([float(w) for w in (-2 * sum(weights), *weights)])


def staggered_weights(pairs: int) -> np.ndarray:
    """Taylor weights g1 … gS (float64, pairs) of the first derivative halfway between two cells, order 2S.

    f'(i + 1/2) = sum_m g_m (f(i + m) - f(i + 1 - m)),  g_m = 1/(2m-1) prod_{n != m} (2n-1)^2 / ((2n-1)^2 - (2m-1)^2)
    (Fornberg 1988).

    >>> staggered_weights(2).tolist() == [9 / 8, -1 / 24]
    True
    """
    weights = []
    for m in range(1, pairs + 1):
        weight = Fraction(1, 2 * m - 1)
        for other in range(1, pairs + 1):
            if other != m:
                weight *= Fraction((2 * other - 1) ** 2, (2 * other - 1) ** 2 - (2 * m - 1) ** 2)
        weights.append(float(weight))
    return np.array(weights)


def weight_sum(radius: int) -> float:
    """S = |c0| + 2 sum |c_r|: the largest value of the discrete -d2/dx2 on unit spacing (at the Nyquist wavenumber)."""
    weights = np.abs(second_derivative_weights(radius))
    return float(weights[0] + 2 * weights[1:].sum())


def largest_eigenvalue(
    vp: np.ndarray, epsilon: np.ndarray, delta: np.ndarray, spacing: tuple[float, ...], radius: int
) -> np.ndarray:
    """Per cell, the largest eigenvalue (1/s^2) of the space operator M D at the Nyquist wavenumbers.

    T = Vp^2 [(1 + 2 epsilon) a + b], Delta = 2 Vp^4 a b (epsilon - delta), lambda = (T + sqrt(T^2 - 4 Delta)) / 2 with
    a = S (1/dx^2 + 1/dy^2), b = S / dz^2.

    Args:
        vp, epsilon, delta: arrays of one shape, m/s and Thomsen's parameters.
        spacing: dx, dy, dz in m; an infinite dy leaves y out (two dimensions).
    """
    total = weight_sum(radius)
    a = total * (1 / spacing[0] ** 2 + 1 / spacing[1] ** 2)
    b = total / spacing[2] ** 2
    square = vp.astype(np.float64) ** 2
    trace = square * ((1 + 2 * epsilon.astype(np.float64)) * a + b)
    determinant = 2 * square**2 * a * b * (epsilon.astype(np.float64) - delta)
    return np.asarray((trace + np.sqrt(np.maximum(trace**2 - 4 * determinant, 0.0))) / 2)


def time_step_limit(eigenvalue: float) -> float:
    """Largest stable dt in s of the leapfrog scheme: dt <= 2 / sqrt(lambda)."""
    return float(2 / np.sqrt(eigenvalue))
