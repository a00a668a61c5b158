"""Zero-phase band-pass filter of traces: a trapezoid in frequency (Ormsby; Ryan 1994, CSEG Recorder 19(7)).

    y_j = dt sum_k h((j - k) dt) x_k,    h(t) = (f4 + f3 - f2 - f1) w(t)

w is the windowed Ormsby wavelet (wavelet.OrmsbyWavelet), whose peak is 1 at t = 0: the factor gives the pass band the
gain 1. h is even, so the phase is zero. Traces are taken to be zero outside their samples.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.lengths import fast_length
from fathometer.seismic.traces.wavelet import OrmsbyWavelet

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BandPass:
    """Zero-phase band-pass filter, a conditioning step."""

    corners: tuple[float, float, float, float]  # Hz, f1 to f4, increasing; f4 at most the Nyquist frequency
    interval: float  # s, sample interval

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {"step": "band-pass", "corners_hertz": self.corners}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Filtered traces (n, ns), float64; the offsets (n,) are not used.

        One transform a trace, so that the result of a trace does not depend on the others.
        """
        n, ns = traces.shape
        reach = min(int(OrmsbyWavelet(self.corners).lead / self.interval) + 1, ns - 1)
        period = fast_length(ns + reach)
        response = self._response(reach, period)
        result = np.empty_like(traces)
        for row in range(n):
            result[row] = np.fft.irfft(response * np.fft.rfft(traces[row], period), period)[:ns]
        return result

    def _response(self, reach: int, period: int) -> Doubles:
        """DFT of h dt over `period` samples, h cut `reach` samples either side of its peak; real, since h is even."""
        f1, f2, f3, f4 = self.corners
        half = OrmsbyWavelet(self.corners)(self.interval * np.arange(reach + 1, dtype=np.float64))
        circular = np.zeros(period)
        circular[: reach + 1] = half
        circular[period - reach :] = half[:0:-1]
        return np.asarray(np.fft.rfft(circular).real * (f4 + f3 - f2 - f1) * self.interval)
