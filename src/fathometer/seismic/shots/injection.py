"""Injected series: the source wavelet, and time-reversed recorded traces at the receivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.base import ledger
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.seismic.traces.dispersion import adjoint_of_inverse, forward_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet


def source_series(wavelet: Wavelet, time: TimeAxis, corrected: bool, sources: int, dtype: np.dtype[Any]) -> np.ndarray:
    """The wavelet at the times of all steps, the same for each point of the source: (steps, sources) of `dtype`.

    corrected: the forward time-dispersion transform is applied (traces/dispersion.py).
    """
    values = wavelet(time.times()[:-1])
    if corrected:
        (values,) = forward_transform(values[None], time.before)
    return np.ascontiguousarray(np.repeat(values[:, None], sources, axis=1), dtype)


@dataclass(frozen=True, eq=False)
class ReversedTraces:
    """Series that receivers inject for migration: -d/dt of recorded traces, in reverse time order.

    The boundary condition of the receiver wavefield is the recorded pressure as dipole sources (Rayleigh's second
    integral; Berkhout 1982, Seismic Migration); monopole pressure sources radiate its time integral instead, hence the
    derivative. The image of a reflector is then zero phase: its peak is at the reflector, positive where velocity
    increases downwards.

    Row j is injected in step j of the receiver loop, at time index steps - j: after j steps the wavefield is at the
    time of snapshot steps - j and contains all later samples.

    Attributes:
        fmax: highest frequency, Hz. corrected: the adjoint time-dispersion transform is applied, so that source and
            receiver wavefields have the same error and the image needs no correction (traces/dispersion.py).
        threads: the threads that resample. hashes: get those of the traces.
    """

    acquisition: Acquisition
    time: TimeAxis
    fmax: float
    corrected: bool
    dtype: np.dtype[Any]
    threads: ThreadCounts
    hashes: TraceHashes | None = None

    def series(self, shot: Shot, receivers: np.ndarray, own: float) -> np.ndarray:
        """The series (steps, n), `dtype`, of some receivers of a shot.

        receivers: indices (n,) into shot.receivers. own: fraction of these traces that no other rank reads, for the
        ledger. Raises InputError for unreadable traces.
        """
        time, acquisition = self.time, self.acquisition
        with ledger.phase("read traces"), ledger.file("traces", "read", own=own):
            recorded = acquisition.traces(shot, receivers, self.hashes).astype(self.dtype)

        def derivative(traces: np.ndarray) -> np.ndarray:
            with np.errstate(over="ignore", invalid="ignore"):  # reported by the check of the wavefield
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
            rate = self.threads.map_rows(derivative, recorded)
            return np.ascontiguousarray(rate[:, :0:-1].T)
