"""Analytic traces in a homogeneous isotropic medium."""

import numpy as np
from support import ricker

VELOCITY, FREQUENCY = 2000.0, 15.0
WAVELENGTH = VELOCITY / FREQUENCY
START = -1.6 / FREQUENCY


def exact_3d(t, r):
    """p = f(t - r/c) / (4 pi r)."""
    return ricker(t - r / VELOCITY, FREQUENCY) / (4 * np.pi * r)


def exact_2d(t, r):
    """p = 1/(2 pi) int f(t - s) / sqrt(s^2 - (r/c)^2) ds, with s = (r/c) cosh q."""
    arrival = r / VELOCITY
    longest = (t[-1] - START) / arrival
    q = np.linspace(0, np.arccosh(max(longest, 1.001)), 4001)
    values = ricker(t[:, None] - arrival * np.cosh(q), FREQUENCY)
    return np.trapezoid(values, q, axis=1) / (2 * np.pi)
