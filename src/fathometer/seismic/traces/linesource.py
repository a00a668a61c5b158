"""Records of point sources made those of line sources: 3D field data for 2D propagation.

In a homogeneous medium of velocity c, far from the source (k r >> 1), the 2D and 3D Green's functions differ by

    G2 / G3 = sqrt(2 pi r c) (i omega)^(-1/2),    with r = c t:    p2 = c sqrt(2 pi) I½ [ sqrt(t) p3 ]

where I½ is the half integral, the convolution with H(t) / sqrt(pi t): -3 dB an octave and a phase of 45 degrees
(Deregowski & Brown 1983, Geophys. Prosp. 31(2); Pica, Diet & Tarantola 1990, Geophysics 55(3); Forbriger, Groos &
Schäfer 2014, Geophys. J. Int. 198(3), their transformation of reflected waves). sqrt(t) stands first: it belongs to
the arrival and not to the tail that the half integral gives it. What is neglected is of the order of 1 / (k r). Where
velocity varies with depth, c^2 t stands for the integral of v^2 over time, so an RMS velocity that varies with time
would change amplitudes further.

For traces of n samples the half integral is exact for what is band-limited: its kernel, cut at the traces' length T,
which none of their samples sees, has the transform sqrt(2 / omega) (C(u) - i S(u)), u = sqrt(2 omega T / pi), with
Fresnel's integrals C and S.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.fft import next_fast_len

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LineSource:
    """The step of conditioning; sample k at start + k interval (s) after the source's t = 0, velocity c in m/s."""

    velocity: float
    start: float
    interval: float

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {"step": "line source", "metres_per_second": self.velocity}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) of pressure of a point source as those of a line source; zero before t = 0."""
        t = self.start + self.interval * np.arange(traces.shape[1])
        weighted = traces * (self.velocity * math.sqrt(2.0 * math.pi) * np.sqrt(np.clip(t, 0.0, None)))
        return half_integral(weighted, self.interval)


def half_integral(traces: Doubles, interval: float) -> Doubles:
    """Traces (n, ns) convolved with H(t) / sqrt(pi t), one transform a trace, so that none depends on the others."""
    from scipy.special import fresnel  # slow to import, and seldom needed

    n, ns = traces.shape
    period = next_fast_len(2 * ns, real=True)
    omega = 2.0 * math.pi * np.fft.rfftfreq(period, interval)
    length = ns * interval
    response = np.empty(len(omega), complex)
    response[0] = 2.0 * math.sqrt(length / math.pi)
    sines, cosines = fresnel(np.sqrt(2.0 * omega[1:] * length / math.pi))
    response[1:] = np.sqrt(2.0 / omega[1:]) * (cosines - 1j * sines)
    result = np.empty_like(traces)
    for row in range(n):
        result[row] = np.fft.irfft(response * np.fft.rfft(traces[row], period), period)[:ns]
    return result
