"""Top mute of recorded traces: removes the direct wave.

w(t) = 0                                  before t0 = |offset| / velocity
w(t) = 0.5 (1 - cos(pi (t - t0) / taper)) from t0 to t0 + taper
w(t) = 1                                  later
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)


@dataclass(frozen=True)
class TopMute:
    """Top mute, a conditioning step."""

    velocity: float  # m/s, of the direct wave
    taper: float  # s
    start: float  # s, time of the first sample; 0 is the time of the source
    interval: float  # s, sample interval

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {"step": "mute", "metres_per_second": self.velocity, "taper_seconds": self.taper}

    def affects(self, offset: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which traces (n,) at these offsets (n,), m, the mute changes: those that begin before it ends."""
        return np.asarray(self.start < np.abs(offset) / self.velocity + self.taper)

    def __call__(self, traces: npt.NDArray[np.float64], offset: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Muted traces (n, ns), float64, for offsets (n,), m."""
        return top_mute(traces, offset, self.start, self.interval, self.velocity, self.taper)


def top_mute(
    traces: npt.NDArray[Real],
    offset: npt.NDArray[np.float64],
    first: float,
    interval: float,
    velocity: float,
    taper: float,
) -> npt.NDArray[Real]:
    """Muted traces (n, ns), in the dtype of `traces`.

    Args:
        traces: (n, ns), float32 or float64, sample k at first + k interval (s).
        offset: (n,), m. velocity: of the direct wave, m/s. taper: s; 0: a step.
    """
    t = first + interval * np.arange(traces.shape[1], dtype=np.float64)
    after_onset = t - (np.abs(offset) / velocity)[:, np.newaxis]
    if taper > 0.0:
        weight = 0.5 * (1.0 - np.cos(np.pi * np.clip(after_onset / taper, 0.0, 1.0)))
    else:
        weight = np.where(after_onset >= 0.0, 1.0, 0.0)
    return np.asarray(traces * weight, dtype=traces.dtype)
