"""What an absorbing boundary sends back, measured against a grid too large to reflect."""

from __future__ import annotations

import numpy as np

from fathometer.seismic.traces.wavelet import RickerWavelet
from fathometer.seismic.waves.boundary import Boundary, Pml
from fathometer.seismic.waves.homogeneous import FREQUENCY, SPACING, VELOCITY, Homogeneous, Material

ANGLES = np.radians([0, 10, 20, 30, 40, 50, 60])  # of incidence
DISTANCE = 30  # cells from source and receivers to the side


class Reflection:
    """The experiment in two dimensions, float64, on the first side of `axis` (0: x, 2: z) in one material.

    A source and, at one depth with it, a receiver for each angle of incidence. The large grid has the same waves
    without the side, and at the receivers' mirror images those that a perfect mirror would have sent back.
    """

    def __init__(self, material: Material, axis: int, weights: str = "taylor") -> None:
        self.material, self.axis, self.weights = material, axis, weights
        path = 2 * DISTANCE / np.cos(ANGLES[-1]) * SPACING
        self.last = path / (0.9 * VELOCITY) + 1.5 / FREQUENCY
        self.reach = int((self.last + 1.5 / FREQUENCY) * 1.2 * VELOCITY / SPACING / 2) + 20
        large = self._traces(Pml(), self.reach + DISTANCE, mirrored=True)
        self.direct, self.mirrored = large[:, : len(ANGLES)], large[:, len(ANGLES) :]

    def decibels(self, boundary: Boundary) -> np.ndarray:
        """Reflected amplitude in dB at each of ANGLES."""
        reflected = self._traces(boundary, 0, mirrored=False) - self.direct
        return np.asarray(20 * np.log10(np.abs(reflected).max(axis=0) / np.abs(self.mirrored).max(axis=0)))

    def _traces(self, boundary: Boundary, extra: int, mirrored: bool) -> np.ndarray:
        """Pressure (steps, receivers) with the side `extra` cells further away."""
        axis, other = self.axis, 2 - self.axis
        shape = [1, 1, 1]
        shape[axis] = DISTANCE + self.reach + extra
        shape[other] = int(2 * DISTANCE * np.tan(ANGLES[-1])) + 60 + 2 * self.reach
        medium = Homogeneous((shape[0], 1, shape[2]), self.material, boundary, dtype=np.float64, weights=self.weights)
        source = np.zeros((1, 3))
        source[0, [axis, other]] = DISTANCE + extra, self.reach
        receivers = np.repeat(source, len(ANGLES), axis=0)
        receivers[:, other] += 2 * DISTANCE * np.tan(ANGLES)
        if mirrored:
            images = receivers.copy()
            images[:, axis] -= 2 * DISTANCE
            receivers = np.concatenate([receivers, images])
        wave = medium.propagator
        t = np.arange(-1.5 / FREQUENCY, self.last, medium.dt)
        traces = np.zeros((len(t), len(receivers)))
        wave.advance(
            len(t),
            wave.injectors(medium.points(source * SPACING)),
            RickerWavelet(FREQUENCY)(t)[:, None],
            wave.samplers(medium.points(receivers * SPACING)),
            traces,
        )
        return traces
