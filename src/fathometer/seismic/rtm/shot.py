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
from fathometer.seismic.history.store import History
from fathometer.seismic.rtm.conditions import ImagingCondition
from fathometer.seismic.setup.cone import Cone, Saved
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Shot
from fathometer.seismic.shots.injection import ReversedTraces, source_series
from fathometer.seismic.shots.offsets import receivers_by_bin, volumes_of
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.seismic.traces.series import STRATEGIES, ReceiverSeries, SeriesRequest
from fathometer.seismic.waves.checked_steps import finish_steps
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.propagator import PointSet, Propagator, State


def migrate_shot(
    setup: Setup,
    wavefield: Propagator,
    shot: Shot,
    cone: Cone,
    history: History,
    condition: ImagingCondition,
    progress: Progress,
    source_wavefield: Propagator | None = None,
    hashes: TraceHashes | None = None,
) -> dict[str, Saved]:
    """Collective. Make the image of one shot in the imaging condition; the updates of cells of its two loops, by name.

    cone: the rows that are computed. source_wavefield: of the source loop, where the history computes snapshots again;
    None: the same as the receivers'. hashes: get those of the traces that this rank reads.

    Raises NotFiniteError on all ranks where a wavefield ceases to be finite, and InputError for unreadable traces.
    """
    imaging, comm = setup.survey.imaging, setup.comm
    saved = {"source": Saved(), "receiver": Saved()}
    with ledger.timeline(shot.name), ledger.phase("between time steps"):
        condition.begin()
        again = False
        source_rows = cone.source(shot)
        for volume, among in zip(volumes_of(imaging), receivers_by_bin(imaging, shot), strict=False):
            if not len(among):
                continue
            with ledger.phase("set up"), collective_errors(comm):
                receivers, series = receivers_of(setup, wavefield, shot, among, hashes)
            receiver_rows = cone.receivers(shot, among, source_rows)
            with closing(series):
                if not (again and history.rewind()):
                    source = SourceWavefield(setup, source_wavefield or wavefield, shot, source_rows)
                    source_loop(source, history, progress)
                condition.take(volume)
                receiver_loop(setup, wavefield, shot, receivers, series, history, condition, progress, receiver_rows)
            if not again:
                saved["source"].add(cone.updates(source_rows))
            saved["receiver"].add(cone.updates(receiver_rows))
            again = True
    return saved


class SourceWavefield:
    """The source's wavefield of a shot, at rest at first, from imaging step to imaging step (history.Source)."""

    def __init__(self, setup: Setup, wavefield: Propagator, shot: Shot, rows: ActiveRows | None) -> None:
        self.time, self.wavefield, self._rows = setup.time, wavefield, rows
        self.where = f"{shot.name}, source loop"
        with ledger.phase("set up"):
            self._source = wavefield.injectors(setup.points(shot.source))
            self._series = source_series(
                setup.wavelet, setup.time, setup.corrected, len(self._source.indices), setup.scheme.dtype
            )
            wavefield.reset(rows)

    def read(self, snapshot: np.ndarray) -> None:
        """Write the pressure now into `snapshot` (Propagator.image_shape)."""
        self.wavefield.pressure(snapshot)

    def advance(self, snapshot: np.ndarray | None) -> None:
        """Go on to the next imaging step and write the pressure there into `snapshot` (image_shape), if given."""
        start, every = self.wavefield.step, self.time.every
        self.wavefield.advance(every, self._source, self._series[start : start + every], snapshot=snapshot)

    def save(self, room: np.ndarray | None = None) -> State:
        """See Propagator.save."""
        return self.wavefield.save(room)

    def restore(self, state: State | None) -> None:
        """Back to a saved state; None: at rest."""
        if state is None:
            self.wavefield.reset(self._rows)
        else:
            self.wavefield.restore(state)


def source_loop(source: SourceWavefield, history: History, progress: Progress) -> None:
    """Propagate the source's series and push a snapshot every imaging step, the first and last state included."""
    history.begin(source)
    with ledger.phase("history push", bytes=history.snapshot_bytes):
        room = history.room()
        if room is not None:
            source.read(room)
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
    active: ActiveRows | None,
) -> None:
    """Propagate the reversed traces and form the image with the snapshots, latest first."""
    time, where = setup.time, f"{shot.name}, receiver loop"
    with ledger.phase("set up"):
        wavefield.reset(active)
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


def receivers_of(
    setup: Setup, wavefield: Propagator, shot: Shot, among: np.ndarray, hashes: TraceHashes | None = None
) -> tuple[PointSet, ReceiverSeries]:
    """The receivers `among` those of the shot (their numbers) that touch this rank's cells, and what they inject.

    Raises InputError for unreadable traces, FathometerError where they cannot be ordered by time.
    """
    survey, time, dtype = setup.survey, setup.time, setup.scheme.dtype
    points = setup.points(shot.receivers[among])
    receivers = wavefield.injectors(points)
    traces = ReversedTraces(
        setup.acquisition, time, setup.wavelet.fmax, setup.corrected, dtype, wavefield.threads, hashes
    )
    request = SeriesRequest(
        read=lambda indices, share: traces.series(shot, among[indices], share),
        own=receivers.indices,
        own_share=len(points.owned(setup.block)) / max(1, len(receivers.indices)),
        count=len(among),
        steps=time.steps,
        every=time.every,
        dtype=dtype,
        folder=setup.scratch_folder,
        worker=lambda: wavefield.threads.background_thread("slices"),
        comm=setup.comm,
    )
    return receivers, STRATEGIES[survey.storage.traces].open(request)
