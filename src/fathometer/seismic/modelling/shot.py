"""Synthetic shot gathers by forward modelling."""

from __future__ import annotations

import numpy as np

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Shot
from fathometer.seismic.shots.injection import source_series
from fathometer.seismic.shots.recording import sampled_traces
from fathometer.seismic.waves.checked_steps import finish_steps, steps_at_a_time
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.propagator import Propagator


def record_shot(
    setup: Setup, wavefield: Propagator, shot: Shot, rows: ActiveRows | None, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Propagate one source, in these rows. Returns the indices of the receivers that this rank samples, and their
    traces (receivers, samples) at the survey's sample interval, band-limited."""
    time, acquisition = setup.time, setup.acquisition
    with ledger.phase("set up"):
        source = wavefield.injectors(setup.points(shot.source))
        receivers = wavefield.samplers(setup.points(shot.receivers))
        series = source_series(setup.wavelet, time, setup.corrected, len(source.indices), setup.scheme.dtype)
        recorded = np.zeros((time.steps, len(receivers.indices)), setup.scheme.dtype)
        wavefield.reset(rows)
    at_a_time = steps_at_a_time(setup.grid, setup.comm.size, time.steps)
    for start in range(0, time.steps, at_a_time):
        count = min(at_a_time, time.steps - start)
        steps = slice(start, start + count)
        with ledger.phase("source propagation"):
            wavefield.advance(count, source, series[steps], receivers, recorded[steps])
        finish_steps(wavefield, count, progress, shot.name)
    wavefield.check(shot.name)

    def traces(stepped: np.ndarray) -> np.ndarray:
        return sampled_traces(stepped, time, acquisition, setup.wavelet.fmax, setup.corrected)

    with ledger.phase("resample traces"):
        return receivers.indices, wavefield.threads.map_rows(traces, np.ascontiguousarray(recorded.T))
