"""Synthetic shot gathers by forward modelling."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import LARGEST_MESSAGE, synchronised
from fathometer.seismic.setup.cone import Cone, Saved
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Shot
from fathometer.seismic.shots.injection import source_series
from fathometer.seismic.traces.dispersion import inverse_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.waves.checked_steps import finish_steps, steps_at_a_time
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.propagator import Propagator

TAG = 78  # of messages of traces: others may be on their way


def model_shots(
    setup: Setup, wavefield: Propagator, cone: Cone, saved: Saved, progress: Progress
) -> Iterator[tuple[Shot, np.ndarray | None]]:
    """Collective. Each shot, in the survey's order, with its traces (receivers, samples) float32 on rank 0, else None.

    cone: the rows that are computed. saved: gets the updates of cells.

    Raises FathometerError on all ranks where the wavefield ceases to be finite.
    """
    for shot in setup.acquisition.shots:
        progress.start_task(shot.index, setup.time.steps)
        with ledger.timeline(shot.name), ledger.phase("between time steps"):
            rows = cone.source(shot)
            indices, traces = record_shot(setup, wavefield, shot, rows, progress)
            saved.add(cone.updates(rows))
        with ledger.phase("gather traces"):
            all_traces = gather_traces(setup, shot, indices, traces)
        progress.finish_task()
        yield shot, all_traces


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
        with np.errstate(over="ignore"):  # what float32 cannot hold is refused when it is written
            sampled = resample(
                inverse_transform(stepped, time.before) if setup.corrected else stepped,
                time.first,
                time.dt,
                acquisition.start,
                acquisition.sample_interval,
                acquisition.samples,
                setup.wavelet.fmax,
            )
            return np.asarray(sampled.astype(np.float32))

    with ledger.phase("resample traces"):
        return receivers.indices, wavefield.threads.map_rows(traces, np.ascontiguousarray(recorded.T))


def gather_traces(setup: Setup, shot: Shot, indices: np.ndarray, traces: np.ndarray) -> np.ndarray | None:
    """Collective. The traces of all receivers, (receivers of the shot, samples) float32, on rank 0; None on the others.

    They are received rank after rank, in messages of at most LARGEST_MESSAGE bytes.

    Args:
        indices: (n,) int64, which of the shot's receivers this rank has sampled; each belongs to one rank.
        traces: (n, samples) float32, in the order of `indices`, pressure in the unit of the source.
    """
    comm, samples = setup.comm, setup.acquisition.samples
    most = max(1, LARGEST_MESSAGE // (samples * traces.itemsize))  # traces in a message
    all_traces = np.zeros((len(shot.receivers), samples), np.float32) if comm.rank == 0 else None
    with synchronised(comm):
        if all_traces is None:
            with ledger.communication(bytes=indices.nbytes + traces.nbytes):
                comm.send(indices, 0, TAG)
                for start in range(0, len(indices), most):
                    comm.Send(traces[start : start + most], 0, TAG)
            return None
        all_traces[indices] = traces
        for rank in range(1, comm.size):
            with ledger.communication():
                indices = comm.recv(source=rank, tag=TAG)
                for start in range(0, len(indices), most):
                    part = np.empty((len(indices[start : start + most]), samples), np.float32)
                    comm.Recv(part, rank, TAG)
                    all_traces[indices[start : start + most]] = part
    return all_traces
