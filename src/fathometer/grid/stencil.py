"""Finite-difference weights, and the time step that they allow."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np

LARGEST_SHARE_OF_LIMIT = 0.95  # of the stability limit: what dt = "auto" takes


# Up to this share of the Nyquist wavenumber, by radius 1 … 8, optimised weights keep the phase velocity to 1e-4.
OPTIMISED_BAND = (0.0, 0.18, 0.37, 0.51, 0.61, 0.68, 0.73, 0.77)


def second_derivative_weights(radius: int, kind: str = "taylor") -> np.ndarray:
    """Weights c0, c1 … cR (float64, radius + 1) of the centred second derivative on unit spacing: "taylor" or
    "optimised"."""
    return {"taylor": taylor_weights, "optimised": optimised_weights}[kind](radius)


def taylor_weights(radius: int) -> np.ndarray:
    """The weights of order 2R, exact for the longest waves.

    c_r = 2 (-1)^(r+1) (R!)^2 / (r^2 (R-r)! (R+r)!), c0 = -2 sum c_r (Fornberg 1988, Mathematics of Computation 51).

    >>> taylor_weights(1).tolist()
    [-2.0, 1.0]
    """
    weights = [
        Fraction((-1) ** (r + 1) * 2 * factorial(radius) ** 2, r**2 * factorial(radius - r) * factorial(radius + r))
        for r in range(1, radius + 1)
    ]
    return np.array([float(w) for w in (-2 * sum(weights), *weights)])


def optimised_weights(radius: int) -> np.ndarray:
    """Weights of least dispersion up to a share of the Nyquist wavenumber, OPTIMISED_BAND.

    The largest error of the velocity over a band is made small, as by Holberg 1987, Geophysical Prospecting 35(6), and
    Zhang & Yao 2013, J. Computational Physics 250. A wave of wavenumber k sees -sum c_r exp(i r k) in place of k^2.
    Divided by k^2 this is close to a polynomial of degree R - 1 in y = sin^2(k/2), which is least far from 1 over
    0 … Y where it is 1 at the zeros of a Chebyshev polynomial, the first of them moved to y = 0:

        sum_r c_r (sin(r k/2) / (k/2))^2 = 1  at R wavenumbers k, of which the first is 0;  c0 = -2 sum c_r

    So the constant and the second moment are exact, and waves of R - 1 more lengths have their true velocity. With
    R = 1 nothing is left to choose: these are Taylor's weights.
    """
    r = np.arange(1, radius + 1)
    zeros = np.cos((2 * r - 1) * np.pi / (2 * radius))
    largest = np.sin(OPTIMISED_BAND[radius - 1] * np.pi / 2) ** 2
    k = 2 * np.arcsin(np.sqrt(largest * (zeros[0] - zeros) / (zeros[0] + 1)))
    weights = np.linalg.solve((r * np.sinc(np.outer(k, r) / (2 * np.pi))) ** 2, np.ones(radius))
    return np.array([-2 * weights.sum(), *weights])


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


def weight_sum(radius: int, kind: str = "taylor") -> float:
    """S = |c0| + 2 sum |c_r|: the largest value of the discrete -d2/dx2 on unit spacing (at the Nyquist wavenumber, for
    both kinds have weights of alternating signs)."""
    weights = np.abs(second_derivative_weights(radius, kind))
    return float(weights[0] + 2 * weights[1:].sum())


def time_step_limit(eigenvalue: float) -> float:
    """Largest stable dt in s of the leapfrog scheme: dt <= 2 / sqrt(lambda)."""
    return float(2 / np.sqrt(eigenvalue))
