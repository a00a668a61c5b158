"""The top mute: takes the direct wave off recorded traces."""

import numpy as np
import numpy.typing as npt


def top_mute(
    traces: npt.NDArray[np.float32],
    offset: npt.NDArray[np.float64],
    first: float,
    interval: float,
    velocity: float,
    taper: float,
) -> npt.NDArray[np.float32]:
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
    return np.asarray(traces * weight, dtype=np.float32)
