"""When things happen: the time axis of the propagation and the imaging step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# The product of two fields of highest frequency f is sampled this many times oftener than its mean needs.
IMAGING_MARGIN = 1.25


@dataclass(frozen=True)
class TimeAxis:
    """Steps n = 0 … steps at times (n - before) dt; an image step every `every` of them.

    Attributes:
        dt: s. before: steps before t = 0, where a zero-phase wavelet begins.
        steps: number of steps, a multiple of `every`. every: time steps between snapshots.
    """

    dt: float
    before: int
    steps: int
    every: int

    @property
    def first(self) -> float:
        """Time of step 0 in s."""
        return -self.before * self.dt

    @property
    def snapshots(self) -> int:
        """Snapshots of a shot, both ends included."""
        return self.steps // self.every + 1

    def times(self) -> np.ndarray:
        """Times (steps + 1) in s."""
        return (np.arange(self.steps + 1) - self.before) * self.dt


def imaging_step(fmax: float, dt: float) -> int:
    """Largest step whose Nyquist frequency exceeds fmax (Hz) with a margin."""
    return max(1, math.floor(1 / (2 * IMAGING_MARGIN * fmax * dt)))


def time_axis(dt: float, lead: float, end: float, every: int) -> TimeAxis:
    """The axis from `lead` (s) before t = 0 to `end` (s), rounded up to whole imaging steps."""
    before = math.ceil(lead / dt)
    steps = before + max(1, math.ceil(max(end, 0.0) / dt))
    return TimeAxis(dt, before, math.ceil(steps / every) * every, every)
