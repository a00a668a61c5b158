"""The time steps of one shot: from the series of its source to traces, snapshots and peak velocities."""

from __future__ import annotations

import numpy as np

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.receivers import receiver_points, time_shift
from fathometer.seismic.elastic.setup import ElasticSetup
from fathometer.seismic.elastic.snapshots import SnapshotWriter
from fathometer.seismic.elastic.sources import source_points
from fathometer.seismic.shots.gathering import gather_traces
from fathometer.seismic.shots.recording import sampled_traces
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.waves.checked_steps import finish_steps


def model_shot(
    setup: ElasticSetup,
    wavefield: ElasticPropagator,
    shot: Shot,
    snapshots: SnapshotWriter | None,
    progress: Progress,
) -> np.ndarray | None:
    """Collective. Propagate one source.

    Returns the traces (components, receivers, samples) float32 on rank 0, None on the others: band-limited, at the
    survey's sample interval. Raises FathometerError on all ranks where the wavefield ceases to be finite.
    """
    run, time, dtype, free = setup.run, setup.time, setup.scheme.dtype, setup.scheme.free_surface
    attenuates = setup.layout.attenuates
    with ledger.phase("set up"):
        points, series = source_points(
            grid=run.grid,
            sources=setup.sources,
            position=shot.source,
            wavelet=run.wavelet,
            time=time,
            free_surface=free,
            dtype=dtype,
            corrected=run.corrected,
            attenuates=attenuates,
            floor=setup.floor,
            block=wavefield.block,
        )
        sources = wavefield.injectors(points)
        series.prepare(sources.indices)
        places = receiver_points(
            run.grid, shot.receivers, setup.components, free, attenuates, setup.floor, wavefield.block
        )
        receivers = wavefield.samplers(places)
        recorded = np.zeros((time.steps, len(receivers.indices)), dtype)
        wavefield.reset()
    at_a_time, start = setup.steps_at_a_time, 0
    while start < time.steps:
        count = min(at_a_time, time.steps - start)
        due = snapshots.due(start) if snapshots is not None else None
        if due is not None:
            count = min(count, due)
        injected = series.rows(start, count, sources.indices)
        with ledger.phase("source propagation"):
            wavefield.advance(count, sources, injected, receivers, recorded[start : start + count])
        finish_steps(wavefield, count, progress, shot.name)
        start += count
        if snapshots is not None and due == count:
            snapshots.take(wavefield)
    wavefield.check(shot.name)
    with ledger.phase("resample traces"):
        traces = _resampled(setup, wavefield, np.ascontiguousarray(recorded.T), receivers.indices, len(shot.receivers))
    with ledger.phase("gather traces"):
        gathered = gather_traces(run.comm, len(setup.components) * len(shot.receivers), receivers.indices, traces)
    if gathered is None:
        return None
    return gathered.reshape(len(setup.components), len(shot.receivers), run.acquisition.samples)


def _resampled(
    setup: ElasticSetup, wavefield: ElasticPropagator, recorded: np.ndarray, columns: np.ndarray, receivers: int
) -> np.ndarray:
    """Traces (n, samples) float32 at the survey's samples.

    recorded: (n, steps). columns: (n,), of each: component times `receivers`, and the receiver.
    """
    run, time, acquisition = setup.run, setup.time, setup.run.acquisition
    traces = np.empty((len(columns), acquisition.samples), np.float32)
    for number, component in enumerate(setup.components):
        rows = columns // receivers == number

        def sampled(stepped: np.ndarray, shift: float = time_shift(component)) -> np.ndarray:
            return sampled_traces(stepped, time, acquisition, run.wavelet.fmax, run.corrected, shift)

        traces[rows] = wavefield.threads.map_rows(sampled, recorded[rows])
    return traces
