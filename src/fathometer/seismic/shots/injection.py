"""What sources and receivers inject into the wavefields: the wavelet, and recorded traces reversed in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.base import ledger
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.traces.dispersion import adjoint_of_inverse, forward_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet


def source_series(wavelet: Wavelet, time: TimeAxis, corrected: bool, sources: int, dtype: np.dtype[Any]) -> np.ndarray:
    """The wavelet at the times of all steps, (steps, sources) of `dtype`.

    corrected: the error of the time steps is added beforehand (traces/dispersion.py).
    """
    values = wavelet(time.times()[:-1])
    if corrected:
        (values,) = forward_transform(values[None], time.before)
    return np.ascontiguousarray(np.repeat(values[:, None], sources, axis=1), dtype)


@dataclass(frozen=True, eq=False)
class ReversedTraces:
    """Recorded traces as receivers inject them: -d/dt, last step first.

    Recorded pressure is what a layer of dipoles must radiate backwards (Rayleigh's second integral; Berkhout 1982,
    Seismic Migration); a layer of pressure sources radiates its time integral instead. With the derivative the image of
    a reflector is zero phase: its peak lies at the reflector, positive where velocity increases downwards.

    Row j is injected in step j of the receiver loop: time index steps - j, so that after j steps the field has the time
    of snapshot steps - j and holds all later samples.

    Attributes:
        fmax: highest frequency, Hz. corrected: the error of the time steps is added to the series, so that both
            wavefields have it alike and the image needs nothing more (traces/dispersion.py). threads: that resample.
    """

    acquisition: Acquisition
    time: TimeAxis
    fmax: float
    corrected: bool
    dtype: np.dtype[Any]
    threads: ThreadCounts

    def series(self, shot: Shot, receivers: np.ndarray, own: float) -> np.ndarray:
        """The series (steps, receivers) of some receivers of a shot; own: share that no other rank reads.

        Raises InputError for unreadable traces.
        """
        time, acquisition = self.time, self.acquisition
        with ledger.phase("read traces"), ledger.file("traces", "read", own=own):
            recorded = acquisition.traces(shot, receivers).astype(self.dtype)

        def rate_of(traces: np.ndarray) -> np.ndarray:
            with np.errstate(over="ignore", invalid="ignore"):  # the check of the wavefield finds what is not finite
                sampled = resample(
                    traces,
                    acquisition.start,
                    acquisition.sample_interval,
                    time.first,
                    time.dt,
                    time.steps + 1,
                    self.fmax,
                )
                rate = np.zeros_like(sampled)
                rate[:, 1:-1] = (sampled[:, :-2] - sampled[:, 2:]) / sampled.dtype.type(2 * time.dt)
                return adjoint_of_inverse(rate, time.before) if self.corrected else rate

        with ledger.phase("resample traces"):
            rate = self.threads.map_rows(rate_of, recorded)
            return np.ascontiguousarray(rate[:, :0:-1].T)
