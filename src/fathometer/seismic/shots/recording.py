"""From what receivers record at time steps to traces at a survey's samples."""

from __future__ import annotations

import numpy as np

from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.traces.dispersion import inverse_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.traces.time_axis import TimeAxis


def sampled_traces(
    stepped: np.ndarray, time: TimeAxis, acquisition: Acquisition, fmax: float, corrected: bool, shift: float = 0.0
) -> np.ndarray:
    """Band-limited traces (n, samples) float32 at the acquisition's samples.

    Args:
        stepped: (n, steps), at the times of the steps. shift: of these, in time steps: 1/2 for what lives in their
            middle. fmax: Hz. corrected: the inverse time-dispersion transform is applied.
    """
    if corrected:
        stepped = inverse_transform(stepped, time.before - shift)
    start, interval, samples = acquisition.start, acquisition.sample_interval, acquisition.samples
    with np.errstate(over="ignore"):  # what float32 cannot hold is refused when it is written
        values = resample(stepped, time.first + shift * time.dt, time.dt, start, interval, samples, fmax)
        return np.asarray(values.astype(np.float32))
