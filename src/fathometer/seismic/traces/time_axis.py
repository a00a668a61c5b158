"""Time axis of the propagation, and the imaging step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# Sampling rate of the imaging condition relative to the Nyquist rate of the wavefields, the least for a correlation.
IMAGING_MARGIN = 1.25


@dataclass(frozen=True)
class TimeAxis:
    """Time steps n = 0 … steps at times (n - before) dt, with an imaging step every `every` of them.

    Attributes:
        dt: time step, s. before: time steps before t = 0, where a zero-phase wavelet begins.
        steps: number of time steps, a multiple of `every`. every: time steps between snapshots.
    """

    dt: float
    before: int
    steps: int
    every: int

    @property
    def first(self) -> float:
        """Time of step 0, s."""
        return -self.before * self.dt

    @property
    def snapshots(self) -> int:
        """Number of snapshots of a shot, both ends included."""
        return self.steps // self.every + 1

    def times(self) -> np.ndarray:
        """Times of all steps, (steps + 1,), float64, s."""
        return (np.arange(self.steps + 1) - self.before) * self.dt


def imaging_step(fmax: float, dt: float) -> int:
    """Imaging step in time steps of dt (s): the largest whose Nyquist frequency exceeds fmax (Hz) by the margin."""
    return max(1, math.floor(1 / (2 * IMAGING_MARGIN * fmax * dt)))


def time_axis(dt: float, lead: float, end: float, every: int) -> TimeAxis:
    """Time axis from `lead` (s) before t = 0 to `end` (s), rounded up to whole imaging steps of `every` time steps."""
    before = math.ceil(lead / dt)
    steps = before + max(1, math.ceil(max(end, 0.0) / dt))
    return TimeAxis(dt, before, math.ceil(steps / every) * every, every)
