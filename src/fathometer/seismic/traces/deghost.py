"""Removal of the ghosts of the sea surface from traces, by the depths of source and receiver.

A wave that leaves a source d below the surface is followed by its reflection there, with reversed sign and a delay of
2 d / c at vertical incidence, and so is one that arrives at a receiver:

    G(f) = 1 - r exp(-2 pi i f tau),    tau = 2 d / c,    |G| = 2 |sin(pi f tau)| for r = 1

which vanishes at 0 and at the notches f = n c / (2 d). Its stabilised inverse is

    H(f) = conj(G) / max(|G|^2, 1 / gain^2)

which is 1 / G wherever |G| >= 1 / gain, and smaller elsewhere: near the notches nothing is there to be amplified but
noise. With a gain of 4 and r = 1, H is exact for 0.04 <= f tau <= 0.96: from 5 to 120 Hz at 6 m, 3 to 72 Hz at 10 m.
(Schneider, Larner, Burg & Backus 1964, Geophysics 29(5); Amundsen & Zhou 2013, Geophysics 78(4).)

At an angle a from the vertical the delay is tau cos(a): below the first notch the error of the phase is
pi f tau (1 - cos a), 6 degrees at 30 degrees, 10 m and 20 Hz.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.lengths import fast_length

Doubles = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complexfloating[Any, Any]]


@dataclass(frozen=True)
class Deghost:
    """Deghosting, a conditioning step. Depths of None are those of the headers, of 0: no ghost on that side."""

    interval: float  # s, sample interval
    source: float | None  # m below the surface
    receiver: float | None  # m below the surface
    velocity: float  # m/s, c
    reflection: float  # r, the surface's coefficient without its sign
    gain: float  # largest amplification by H, of each side

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {
            "step": "deghost",
            "source_metres": self.source,
            "receiver_metres": self.receiver,
            "metres_per_second": self.velocity,
            "reflection": self.reflection,
            "largest_gain": self.gain,
        }

    def __call__(self, traces: Doubles, source: float, receivers: Doubles) -> Doubles:
        """Traces (n, ns), float64, without the ghosts; depths of their headers: source, and receivers (n,), m.

        One transform a trace, so that the result of a trace does not depend on the others.
        """
        n, ns = traces.shape
        period = fast_length(2 * ns)
        frequency = np.asarray(np.fft.rfftfreq(period, self.interval), np.float64)
        of_source = self._inverse(frequency, source if self.source is None else self.source)
        result = np.empty_like(traces)
        for row in range(n):
            depth = float(receivers[row]) if self.receiver is None else self.receiver
            response = np.asarray(of_source * self._inverse(frequency, depth))
            result[row] = np.fft.irfft(response * np.fft.rfft(traces[row], period), period)[:ns]
        return result

    def _inverse(self, frequency: Doubles, depth: float) -> Complexes:
        """H of one side at frequencies (nf,), Hz; 1 for a depth of 0, where there is no ghost to tell apart."""
        if depth == 0.0:
            return np.ones(len(frequency), complex)
        return inverse_of(ghost(frequency, depth, self.velocity, self.reflection), self.gain)


def ghost(frequency: Doubles, depth: float, velocity: float, reflection: float) -> Complexes:
    """G at frequencies (nf,), Hz, for a depth in m and a velocity in m/s."""
    return np.asarray(1.0 - reflection * np.exp(-2j * math.pi * frequency * (2.0 * depth / velocity)))


def inverse_of(response: Complexes, gain: float) -> Complexes:
    """The stabilised inverse H of responses G (nf,), which amplifies by no more than `gain`."""
    return np.asarray(np.conj(response) / np.maximum(np.abs(response) ** 2, 1.0 / gain**2))


def notches_below(frequency: float, depth: float, velocity: float) -> int:
    """How many notches n c / (2 d), n >= 1, of a depth d in m lie below a frequency in Hz."""
    return math.ceil(2.0 * depth * frequency / velocity) - 1 if depth > 0.0 else 0
