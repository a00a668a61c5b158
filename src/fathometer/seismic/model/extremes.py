"""Extreme phase velocities of a VTI model, and the largest eigenvalue of the space operator.

With vp the vertical P velocity (Thomsen 1986, Geophysics 51(10)), the lowest phase velocity near the vertical is taken
as vp sqrt(1 + 2 min(delta, 0)), and the horizontal one is vp sqrt(1 + 2 epsilon).
"""

from __future__ import annotations

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.grid.stencil import weight_sum
from fathometer.parallel.threads import over_planes


def extremes(
    vp: np.ndarray, epsilon: np.ndarray | None, delta: np.ndarray | None, grid: Grid, radius: int, weights: str
) -> tuple[float, float, float]:
    """Extremes over the cells of a model.

    Computed plane by plane, by all threads, in float64 without a copy of the model in float64.

    Args:
        vp: [x, y, z], m/s. epsilon, delta: of the same shape; None: isotropic.
        radius: of the space stencil, cells. weights: "taylor" or "optimised".
    Returns:
        Lowest phase velocity near the vertical (m/s), highest horizontal one (m/s), and largest eigenvalue of the space
        operator (1/s^2; largest_eigenvalue).
    """

    def of_plane(i: int) -> tuple[float, float, float]:
        plane = vp[i].astype(np.float64)
        e = np.zeros_like(plane) if epsilon is None else epsilon[i].astype(np.float64)
        d = np.zeros_like(plane) if delta is None else delta[i].astype(np.float64)
        return (
            float((plane * np.sqrt(1 + 2 * np.minimum(d, 0))).min()),
            float((plane * np.sqrt(1 + 2 * e)).max()),
            float(largest_eigenvalue(plane, e, d, grid.stencil_spacing, radius, weights).max()),
        )

    slowest, fastest, eigenvalue = zip(*over_planes(of_plane, vp.shape[0]), strict=True)
    return min(slowest), max(fastest), max(eigenvalue)


def largest_eigenvalue(
    vp: np.ndarray,
    epsilon: np.ndarray,
    delta: np.ndarray,
    spacing: tuple[float, ...],
    radius: int,
    kind: str = "taylor",
) -> np.ndarray:
    """Per cell, the largest eigenvalue (1/s^2) of the space operator M D at the Nyquist wavenumbers.

    T = Vp^2 [(1 + 2 epsilon) a + b], Delta = 2 Vp^4 a b (epsilon - delta), lambda = (T + sqrt(T^2 - 4 Delta)) / 2 with
    a = S (1/dx^2 + 1/dy^2), b = S / dz^2.

    Args:
        vp, epsilon, delta: arrays of one shape, m/s and Thomsen's parameters.
        spacing: dx, dy, dz in m; an infinite dy leaves y out (two dimensions).
        radius, kind: of the weights.
    """
    total = weight_sum(radius, kind)
    a = total * (1 / spacing[0] ** 2 + 1 / spacing[1] ** 2)
    b = total / spacing[2] ** 2
    square = vp.astype(np.float64) ** 2
    trace = square * ((1 + 2 * epsilon.astype(np.float64)) * a + b)
    determinant = 2 * square**2 * a * b * (epsilon.astype(np.float64) - delta)
    return np.asarray((trace + np.sqrt(np.maximum(trace**2 - 4 * determinant, 0.0))) / 2)
