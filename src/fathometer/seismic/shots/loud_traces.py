"""Recorded traces with a spike, or far louder than those beside them (storage/traces/amplitudes.py), and what is done
with them: one such sample would be all that an image shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.seismic.shots.shot import Shot

MUTE, CLIP, REFUSE, KEEP = "mute", "clip", "refuse", "keep"
MOST_LISTED = 20  # in a record


@dataclass(frozen=True, eq=False)
class Found:
    """Loud traces of a shot: receivers (k,), ascending; largest magnitudes peaks (k,), and limits (k,) of what fits."""

    receivers: npt.NDArray[np.int64]
    peaks: npt.NDArray[np.float64]
    limits: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoudTraces:
    """Loud traces of a survey, by the index of their shot, and what is done with them: "mute" or "clip"."""

    treatment: str
    found: Mapping[int, Found]

    def __call__(
        self, shot: int, receivers: npt.NDArray[np.int64], traces: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Traces (n, ns) of some receivers (n,) of a shot, with those that are loud treated."""
        found = self.found.get(shot)
        if found is None:
            return traces
        traces = traces.copy()
        for row in np.flatnonzero(np.isin(receivers, found.receivers)):
            limit = np.float32(found.limits[np.searchsorted(found.receivers, receivers[row])])
            traces[row] = 0.0 if self.treatment == MUTE else np.clip(traces[row], -limit, limit)
        return traces

    def words(self) -> bytes:
        """What images depend on, for a hash."""
        parts = [self.treatment.encode()]
        for shot, found in sorted(self.found.items()):
            parts += [str(shot).encode(), found.receivers.tobytes(), found.limits.tobytes()]
        return b" ".join(parts)

    def record(self, shots: Sequence[Shot]) -> dict[str, Any]:
        """The step with its counts, as JSON values."""
        return {
            "step": "loud traces",
            "treatment": self.treatment,
            "traces": sum(len(found.receivers) for found in self.found.values()),
            "first": [
                {
                    "ffid": shots[shot].ffid,
                    "channel": int(shots[shot].channel[receiver]),
                    "largest": float(peak),
                    "fits": float(limit),
                }
                for shot, found in sorted(self.found.items())
                for receiver, peak, limit in zip(found.receivers, found.peaks, found.limits, strict=True)
            ][:MOST_LISTED],
        }
