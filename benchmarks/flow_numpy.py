"""Incompressible flow in a periodic box by NumPy and SciPy: the scheme of apps/flow, which is timed beside it.

Arrays are padded with a halo once a stage; differences are those of slices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import fft

Floats = npt.NDArray[np.float64]
NOW, BEFORE = (8 / 15, 5 / 12, 3 / 4), (0.0, -17 / 60, -5 / 12)


class NumpyFlow:
    """Velocities u, v, w at the lower faces of n cells along each axis of a box of 2 pi; axes are x, y and z."""

    def __init__(self, velocities: Floats, viscosity: float) -> None:
        self.velocities, self.viscosity = velocities, viscosity
        n = velocities.shape[1]
        self._h = 2 * np.pi / n
        eigenvalues = (2 - 2 * np.cos(2 * np.pi * np.arange(n) / n)) / self._h**2
        along = (eigenvalues[:, None, None], eigenvalues[None, :, None], eigenvalues[None, None, : n // 2 + 1])
        self._waves = -(along[0] + along[1] + along[2])
        self._waves[0, 0, 0] = 1.0

    def step(self, dt: float) -> None:
        """Take a step of dt seconds."""
        before: list[Floats] = []
        for now, then in zip(NOW, BEFORE, strict=True):
            rates = self._rates()
            for axis, rate in enumerate(rates):
                self.velocities[axis] += (dt * now) * rate
                if before:
                    self.velocities[axis] += (dt * then) * before[axis]
            before = rates
            self._project()

    def _rates(self) -> list[Floats]:
        padded = [np.pad(u, 1, mode="wrap") for u in self.velocities]
        return [self._rate(padded, axis) for axis in range(3)]

    def _rate(self, padded: list[Floats], axis: int) -> Floats:
        own, h = padded[axis], self._h
        rate = np.zeros_like(self.velocities[axis])
        for along in range(3):
            lower, here, upper = shifted(own, along, -1), shifted(own, along, 0), shifted(own, along, 1)
            if along == axis:
                above, below = (0.5 * (here + upper)) ** 2, (0.5 * (lower + here)) ** 2
            else:
                other = padded[along]
                after, corner = shifted(other, along, 1), shifted(other, along, 1, axis, -1)
                above = 0.25 * (here + upper) * (after + corner)
                below = 0.25 * (lower + here) * (shifted(other, along, 0) + shifted(other, along, 0, axis, -1))
            rate += (below - above) / h + (self.viscosity / h**2) * (upper - 2 * here + lower)
        return rate

    def _project(self) -> None:
        divergence = sum(shifted(np.pad(u, 1, mode="wrap"), a, 1) - u for a, u in enumerate(self.velocities))
        waves = fft.rfftn(divergence / self._h, workers=1)
        waves /= self._waves
        waves[0, 0, 0] = 0.0
        potential = np.pad(fft.irfftn(waves, s=divergence.shape, workers=1), 1, mode="wrap")
        for axis in range(3):
            self.velocities[axis] -= (shifted(potential, axis, 0) - shifted(potential, axis, -1)) / self._h


def shifted(padded: Floats, axis: int, by: int, other: int = 0, by_other: int = 0) -> Floats:
    """The cells within a halo of one, moved along an axis, and another."""
    moves = [0, 0, 0]
    moves[axis] += by
    moves[other] += by_other
    return padded[tuple(slice(1 + move, n - 1 + move) for move, n in zip(moves, padded.shape, strict=True))]
