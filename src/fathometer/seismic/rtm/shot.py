"""Reverse time migration of a shot (Baysal, Kosloff & Sherwood 1983, Geophysics 48(11)).

source loop:    snapshots of the source wavefield, forwards in time
receiver loop:  traces injected backwards in time, correlated with the snapshots in reverse order

The receiver loop has a wavefield of its own where the history goes back to the source's, else they are one.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import collective_errors
from fathometer.seismic.history.opening import scratch_folder
from fathometer.seismic.history.store import History
from fathometer.seismic.rtm.conditions import ImagingCondition
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Shot
from fathometer.seismic.shots.offsets import receivers_by_bin, volumes_of
from fathometer.seismic.traces.dispersion import adjoint_of_inverse, forward_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.traces.slices import BroadcastSeries, ReceiverSeries, SlicedSeries, WholeSeries
from fathometer.seismic.waves.propagator import PointSet, Propagator, State

STEPS_BETWEEN_CHECKS = 200  # that all fields are finite


def migrate_shot(
    setup: Setup,
    wavefield: Propagator,
    shot: Shot,
    history: History,
    condition: ImagingCondition,
    progress: Progress,
    source_wavefield: Propagator | None = None,
) -> None:
    """Collective. Make the image of one shot in the imaging condition.

    source_wavefield: of the source loop, where the history computes snapshots again; None: the same as the receivers'.

    Raises NotFiniteError on all ranks where a wavefield ceases to be finite, and InputError for unreadable traces.
    """
    imaging, comm = setup.survey.imaging, setup.comm
    with ledger.timeline(shot.name), ledger.phase("between time steps"):
        condition.begin()
        again = False
        for volume, among in zip(volumes_of(imaging), receivers_by_bin(imaging, shot), strict=False):
            if not len(among):
                continue
            with ledger.phase("set up"), collective_errors(comm):
                receivers, series = receivers_of(setup, wavefield, shot, among)
            with closing(series):
                if not (again and history.rewind()):
                    source = SourceWavefield(setup, source_wavefield or wavefield, shot)
                    source_loop(source, history, progress)
                condition.take(volume)
                receiver_loop(setup, wavefield, shot, receivers, series, history, condition, progress)
            again = True


class SourceWavefield:
    """The source's wavefield of a shot, at rest at first, from imaging step to imaging step (history.Source)."""

    def __init__(self, setup: Setup, wavefield: Propagator, shot: Shot) -> None:
        self.time, self.wavefield = setup.time, wavefield
        self.where = f"{shot.name}, source loop"
        with ledger.phase("set up"):
            self._source = wavefield.injectors(setup.points(shot.source))
            self._series = source_series(setup, self._source)
            wavefield.reset()

    def look(self, snapshot: np.ndarray) -> None:
        """snapshot = the pressure now."""
        self.wavefield.pressure(snapshot)

    def advance(self, snapshot: np.ndarray | None) -> None:
        """Go on to the next imaging step and write the pressure there, if wanted."""
        start, every = self.wavefield.step, self.time.every
        self.wavefield.advance(every, self._source, self._series[start : start + every], snapshot=snapshot)

    def save(self, room: np.ndarray | None = None) -> State:
        return self.wavefield.save(room)

    def restore(self, state: State | None) -> None:
        """Back to a saved state; None: at rest."""
        if state is None:
            self.wavefield.reset()
        else:
            self.wavefield.restore(state)


def source_loop(source: SourceWavefield, history: History, progress: Progress) -> None:
    """Propagate the source's series and push a snapshot every imaging step, the first and last state included."""
    history.begin(source)
    with ledger.phase("history push", bytes=history.snapshot_bytes):
        room = history.room()
        if room is not None:
            source.look(room)
        history.push()
        room = history.room()
    for left in reversed(range(source.time.snapshots - 1)):
        with ledger.phase("source propagation"):
            source.advance(room)
        with ledger.phase("history push", bytes=history.snapshot_bytes):
            history.push()
            room = history.room() if left else None
        finish_steps(source.wavefield, source.time.every, progress, source.where)
    source.wavefield.check(source.where)


def receiver_loop(
    setup: Setup,
    wavefield: Propagator,
    shot: Shot,
    receivers: PointSet,
    series: ReceiverSeries,
    history: History,
    condition: ImagingCondition,
    progress: Progress,
) -> None:
    """Propagate the reversed traces and form the image with the snapshots, latest first."""
    time, where = setup.time, f"{shot.name}, receiver loop"
    with ledger.phase("set up"):
        wavefield.reset()
    with ledger.phase("history pop", bytes=history.snapshot_bytes):
        snapshot = history.pop()
    with ledger.phase("imaging"):
        wavefield.correlate(condition.correlation(snapshot))
    for _ in range(0, time.steps, time.every):
        with ledger.phase("history pop", bytes=history.snapshot_bytes):
            correlation = condition.correlation(history.pop())
        rows = series.rows(time.every)
        with ledger.phase("receiver propagation"):
            wavefield.advance(time.every, receivers, rows, correlation=correlation)
        finish_steps(wavefield, time.every, progress, where)
    wavefield.check(where)


def finish_steps(wavefield: Propagator, steps: int, progress: Progress, where: str) -> None:
    """After every few steps: show progress, and now and then look for numbers that are not finite."""
    with ledger.phase("progress"):
        progress.advance(steps)
    if wavefield.step // STEPS_BETWEEN_CHECKS > (wavefield.step - steps) // STEPS_BETWEEN_CHECKS:
        wavefield.check(where)


def source_series(setup: Setup, source: PointSet) -> np.ndarray:
    """The wavelet at the times of all steps: (steps, sources that touch this rank), in the propagation's dtype.

    Where the error in time is corrected it is added beforehand (dispersion.py).
    """
    values = setup.wavelet(setup.time.times()[:-1])
    if setup.corrected:
        (values,) = forward_transform(values[None], setup.time.before)
    return np.ascontiguousarray(np.repeat(values[:, None], len(source.indices), axis=1), setup.scheme.dtype)


def receivers_of(setup: Setup, wavefield: Propagator, shot: Shot, among: np.ndarray) -> tuple[PointSet, ReceiverSeries]:
    """The receivers `among` those of the shot (their numbers) that touch this rank's cells, and what they inject.

    Raises InputError for unreadable traces, FathometerError where they cannot be ordered by time.
    """
    survey, comm, steps, every = setup.survey, setup.comm, setup.time.steps, setup.time.every
    dtype = setup.scheme.dtype
    points = setup.points(shot.receivers[among])
    receivers = wavefield.injectors(points)
    own = len(points.owned(setup.block)) / max(1, len(receivers.indices))

    def sliced(indices: np.ndarray, share: float) -> SlicedSeries:
        def make(some: np.ndarray) -> np.ndarray:
            return reversed_traces(setup, wavefield, shot, among[indices[some]], share)

        worker = wavefield.threads.beside("slices")
        return SlicedSeries(make, len(indices), steps, every, dtype, scratch_folder(setup), worker)

    match survey.storage.traces:
        case "slices":
            return receivers, sliced(receivers.indices, own)
        case "root-broadcast":
            count = len(among)
            slices = sliced(np.arange(count), 1.0) if comm.rank == 0 else None
            return receivers, BroadcastSeries(slices, receivers.indices, count, dtype, comm)
    return receivers, WholeSeries(reversed_traces(setup, wavefield, shot, among[receivers.indices], own))


def reversed_traces(setup: Setup, wavefield: Propagator, shot: Shot, indices: np.ndarray, own: float) -> np.ndarray:
    """What some receivers of a shot inject: -d/dt of their traces, last step first.

    Recorded pressure is what a layer of dipoles must radiate backwards (Rayleigh's second integral; Berkhout 1982,
    Seismic Migration); a layer of pressure sources radiates its time integral instead. With the derivative the image of
    a reflector is zero phase: its peak lies at the reflector, positive where velocity increases downwards.

    Row j is injected in step j of the receiver loop: time index steps - j, so that after j steps the field has the time
    of snapshot steps - j and holds all later samples.

    Where the error in time is corrected it is added to the series, so that both wavefields have it alike and the image
    needs nothing more (dispersion.py).

    own: share of the traces that no other rank reads. Returns: (steps, receivers) in the propagation's dtype.
    """
    time, acquisition = setup.time, setup.acquisition
    with ledger.phase("read traces"), ledger.file("traces", "read", own=own):
        recorded = acquisition.traces(shot, indices).astype(setup.scheme.dtype)

    def series(traces: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # the check of the wavefield finds what is not finite
            sampled = resample(
                traces,
                acquisition.start,
                acquisition.sample_interval,
                time.first,
                time.dt,
                time.steps + 1,
                setup.wavelet.fmax,
            )
            rate = np.zeros_like(sampled)
            rate[:, 1:-1] = (sampled[:, :-2] - sampled[:, 2:]) / sampled.dtype.type(2 * time.dt)
            return adjoint_of_inverse(rate, time.before) if setup.corrected else rate

    with ledger.phase("resample traces"):
        rate = wavefield.threads.on_traces(series, recorded)
        return np.ascontiguousarray(rate[:, :0:-1].T)
