"""Zero-phase band-pass of traces: a trapezoid in frequency (Ormsby; Ryan 1994, CSEG Recorder 19(7)).

    y_j = dt sum_k h((j - k) dt) x_k,    h(t) = (f4 + f3 - f2 - f1) w(t)

w is the Ormsby wavelet with its window (wavelet.OrmsbyWavelet), which has its peak 1 at t = 0, so that the gain of the
pass band is 1. h is even, hence the phase zero. Traces are zero outside their samples.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.fft import next_fast_len

from fathometer.seismic.traces.wavelet import OrmsbyWavelet

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BandPass:
    """The step of conditioning; corners f1 to f4 in Hz, f4 at most the Nyquist frequency of `interval` (s)."""

    corners: tuple[float, float, float, float]
    interval: float

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {"step": "band-pass", "corners_hertz": self.corners}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) filtered, one transform a trace, so that none depends on the others."""
        n, ns = traces.shape
        reach = min(int(OrmsbyWavelet(self.corners).lead / self.interval) + 1, ns - 1)
        period = next_fast_len(ns + reach, real=True)
        response = self._response(reach, period)
        result = np.empty_like(traces)
        for row in range(n):
            result[row] = np.fft.irfft(response * np.fft.rfft(traces[row], period), period)[:ns]
        return result

    def _response(self, reach: int, period: int) -> Doubles:
        """The transform of h dt, which is real because h is even, of h at up to `reach` samples either side."""
        f1, f2, f3, f4 = self.corners
        half = OrmsbyWavelet(self.corners)(self.interval * np.arange(reach + 1, dtype=np.float64))
        circular = np.zeros(period)
        circular[: reach + 1] = half
        circular[period - reach :] = half[:0:-1]
        return np.asarray(np.fft.rfft(circular).real * (f4 + f3 - f2 - f1) * self.interval)
