"""Point-source to line-source conversion of traces: 3D field data for 2D propagation.

In a homogeneous medium of velocity c, far from the source (k r >> 1), the 2D and 3D Green's functions differ by

    G2 / G3 = sqrt(2 pi r c) (i omega)^(-1/2),    with r = c t:    p2 = c sqrt(2 pi) I½ [ sqrt(t) p3 ]

where I½ is the half integral, the convolution with H(t) / sqrt(pi t): -3 dB per octave and a phase of 45 degrees
(Deregowski & Brown 1983, Geophys. Prosp. 31(2); Pica, Diet & Tarantola 1990, Geophysics 55(3); Forbriger, Groos &
Schäfer 2014, Geophys. J. Int. 198(3), their transformation of reflected waves). sqrt(t) is applied first: it belongs
to the arrival, not to the tail that the half integral adds. The error is of the order of 1 / (k r). Where velocity
varies with depth, c^2 t stands for the integral of v^2 over time; one velocity c is assumed for all times, although an
RMS velocity that varies with time would change amplitudes further.

The half integral is exact for band-limited traces: its kernel, cut at the trace length T, beyond which no sample is
reached, has the transform sqrt(2 / omega) (C(u) - i S(u)), u = sqrt(2 omega T / pi), with
Fresnel's integrals C and S.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.lengths import fast_length

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LineSource:
    """Point-source to line-source conversion, a conditioning step."""

    velocity: float  # m/s, c
    start: float  # s, time of the first sample; 0 is the time of the source
    interval: float  # s, sample interval

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {"step": "line source", "metres_per_second": self.velocity}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Pressure traces (n, ns) of a point source as those of a line source, float64; zero before t = 0.

        The offsets (n,) are not used.
        """
        t = self.start + self.interval * np.arange(traces.shape[1])
        weighted = traces * (self.velocity * math.sqrt(2.0 * math.pi) * np.sqrt(np.clip(t, 0.0, None)))
        return half_integral(weighted, self.interval)


def half_integral(traces: Doubles, interval: float) -> Doubles:
    """Traces (n, ns), float64, convolved with H(t) / sqrt(pi t); interval: sample interval, s.

    One transform a trace, so that the result of a trace does not depend on the others.
    """
    from scipy.special import fresnel  # slow to import and rarely needed

    n, ns = traces.shape
    period = fast_length(2 * ns)
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
