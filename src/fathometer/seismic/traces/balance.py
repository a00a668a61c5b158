"""Amplitudes of traces made alike, each trace by itself.

    RMS:  y_k = x_k / sqrt(m),                   m = mean of x^2 over the samples of the trace that are not 0
    AGC:  y_k = x_k / sqrt(m_k + 1e-4 m),        m_k = the same over the window around sample k

(automatic gain control, Yilmaz 2001, Seismic Data Analysis). Samples that are 0, as a mute leaves them, do not count,
so that a mute changes no gain. The small part of m keeps AGC from raising what is 40 dB below the trace.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

_FLOOR = 1e-4  # of the trace's mean square


@dataclass(frozen=True)
class Rms:
    """The step of conditioning: every trace has the RMS amplitude 1."""

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {"step": "balance", "kind": "rms"}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) balanced; a trace of zeros stays one."""
        result = np.zeros_like(traces)
        for row, trace in enumerate(traces):
            mean = mean_square(trace)
            if mean > 0.0:
                result[row] = trace / np.sqrt(mean)
        return result


@dataclass(frozen=True)
class Agc:
    """The step of conditioning: samples have the RMS amplitude 1 in a window of `window` s around each."""

    window: float
    interval: float

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {"step": "balance", "kind": "agc", "window_seconds": self.window}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) balanced; a trace of zeros stays one."""
        half = min(max(1, round(0.5 * self.window / self.interval)), traces.shape[1])
        result = np.zeros_like(traces)
        for row, trace in enumerate(traces):
            mean = mean_square(trace)
            if mean > 0.0:
                counted = np.maximum(_around(trace != 0.0, half), 1.0)
                result[row] = trace / np.sqrt(_around(trace**2, half) / counted + _FLOOR * mean)
        return result


def mean_square(trace: Doubles) -> float:
    """Of the samples of one trace (ns,) that are not 0; 0 where all are."""
    return float(np.sum(trace**2)) / max(1, int(np.count_nonzero(trace)))


def _around(values: npt.NDArray[Any], half: int) -> Doubles:
    """The sum of each value (ns,) and of `half` on either side: anew for each, because a running sum would leave the
    rounding of the loud in the quiet."""
    from scipy.ndimage import correlate1d  # slow to import, and seldom needed

    return np.asarray(correlate1d(values.astype(np.float64), np.ones(2 * half + 1), mode="constant"))
