"""Trace amplitude balancing (RMS or AGC), each trace by itself.

    RMS:  y_k = x_k / sqrt(m),                   m = mean of x^2 over the samples of the trace that are not 0
    AGC:  y_k = x_k / sqrt(m_k + 1e-4 m),        m_k = the same over the window centred on sample k

(automatic gain control: Yilmaz 2001, Seismic Data Analysis). Samples that are 0, as a mute leaves them, do not count,
so a mute changes no gain. The term 1e-4 m keeps AGC from amplifying what is 40 dB below the trace.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

_STABILISATION = 1e-4  # of the mean square of the trace


@dataclass(frozen=True)
class Rms:
    """RMS balancing, a conditioning step: every trace gets the RMS amplitude 1."""

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {"step": "balance", "kind": "rms"}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Balanced traces (n, ns), float64; a trace of zeros stays zero. The offsets (n,) are not used."""
        result = np.zeros_like(traces)
        for row, trace in enumerate(traces):
            mean = mean_square(trace)
            if mean > 0.0:
                result[row] = trace / np.sqrt(mean)
        return result


@dataclass(frozen=True)
class Agc:
    """Automatic gain control, a conditioning step: RMS amplitude 1 in a window centred on each sample."""

    window: float  # s, its length
    interval: float  # s, sample interval

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {"step": "balance", "kind": "agc", "window_seconds": self.window}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Balanced traces (n, ns), float64; a trace of zeros stays zero. The offsets (n,) are not used."""
        half = min(max(1, round(0.5 * self.window / self.interval)), traces.shape[1])
        result = np.zeros_like(traces)
        for row, trace in enumerate(traces):
            mean = mean_square(trace)
            if mean > 0.0:
                samples = np.maximum(_window_sum(trace != 0.0, half), 1.0)
                result[row] = trace / np.sqrt(_window_sum(trace**2, half) / samples + _STABILISATION * mean)
        return result


def mean_square(trace: Doubles) -> float:
    """Mean square of the samples of one trace (ns,) that are not 0; 0 for a trace of zeros."""
    return float(np.sum(trace**2)) / max(1, int(np.count_nonzero(trace)))


def _window_sum(values: npt.NDArray[Any], half: int) -> Doubles:
    """Sum (ns,) of each value and of `half` values on either side, float64.

    Each sum is computed by itself: a running sum would carry the rounding errors of large values into small ones.
    """
    from scipy.ndimage import correlate1d  # slow to import and rarely needed

    return np.asarray(correlate1d(values.astype(np.float64), np.ones(2 * half + 1), mode="constant"))
