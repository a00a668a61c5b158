"""The top mute: takes the direct wave off recorded traces."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)


@dataclass(frozen=True)
class TopMute:
    """The step of conditioning; sample k at start + k interval (s), velocity in m/s, taper in s."""

    velocity: float
    taper: float
    start: float
    interval: float

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {"step": "mute", "metres_per_second": self.velocity, "taper_seconds": self.taper}

    def touches(self, offset: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which traces of these offsets (n,), m, are changed: those that begin before the mute ends."""
        return np.asarray(self.start < np.abs(offset) / self.velocity + self.taper)

    def __call__(self, traces: npt.NDArray[np.float64], offset: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Traces (n, ns) muted."""
        return top_mute(traces, offset, self.start, self.interval, self.velocity, self.taper)


def top_mute(
    traces: npt.NDArray[Real],
    offset: npt.NDArray[np.float64],
    first: float,
    interval: float,
    velocity: float,
    taper: float,
) -> npt.NDArray[Real]:
    """Traces (n, ns), sample k at first + k interval (s), zero before offset / velocity, unchanged from
    `taper` (s) later.

    Between lies half a cosine, 0.5 (1 - cos(pi (t - offset / velocity) / taper)). `offset` is (n,), m;
    velocity in m/s.
    """
    t = first + interval * np.arange(traces.shape[1], dtype=np.float64)
    late = t - (np.abs(offset) / velocity)[:, np.newaxis]
    if taper > 0.0:
        weight = 0.5 * (1.0 - np.cos(np.pi * np.clip(late / taper, 0.0, 1.0)))
    else:
        weight = np.where(late >= 0.0, 1.0, 0.0)
    return np.asarray(traces * weight, dtype=traces.dtype)
