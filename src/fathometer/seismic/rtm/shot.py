"""Reverse time migration of a shot (Baysal, Kosloff & Sherwood 1983, Geophysics 48(11)).

source loop:    snapshots of the source wavefield, forwards in time
receiver loop:  traces injected backwards in time, correlated with the snapshots in reverse order

The receiver loop has a wavefield of its own where the history goes back to the source's, else they are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import collective_errors
from fathometer.seismic.history.store import History
from fathometer.seismic.rtm.conditions import ImagingCondition
from fathometer.seismic.rtm.ready import ReadyShot, steps_of_advance
from fathometer.seismic.setup.cone import Cone, Saved
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Shot
from fathometer.seismic.shots.injection import source_series
from fathometer.seismic.traces.series import ReceiverSeries
from fathometer.seismic.waves.checked_steps import finish_steps
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.propagator import Propagator, State
from fathometer.seismic.waves.stepped import PointSet


def migrate_shot(
    setup: Setup,
    wavefield: Propagator,
    ready: ReadyShot,
    cone: Cone,
    history: History,
    condition: ImagingCondition,
    progress: Progress,
    written: Callable[[], None],
    source_wavefield: Propagator | None = None,
) -> dict[str, Saved]:
    """Collective. Make the image of one shot in the imaging condition; the updates of cells of its two loops, by name.

    written: called before the condition's volumes are changed. source_wavefield: of the source loop, where the history
    computes snapshots again; None: the same as the receivers'.

    Raises NotFiniteError on all ranks where a wavefield ceases to be finite, and InputError for unreadable traces.
    """
    shot, saved = ready.shot, {"source": Saved(), "receiver": Saved()}
    with ledger.timeline(shot.name), ledger.phase("between time steps"):
        again = False
        for some in ready.receivers:
            with closing(some.series):
                with ledger.phase("set up"), collective_errors(setup.comm):
                    receivers = wavefield.injectors(some.points)
                if not (again and history.rewind()):
                    source = SourceWavefield(setup, source_wavefield or wavefield, shot, ready.rows)
                    source_loop(source, history, progress)
                if not again:
                    written()
                    condition.begin()
                condition.take(some.volume)
                receiver_loop(
                    setup=setup,
                    wavefield=wavefield,
                    shot=shot,
                    receivers=receivers,
                    series=some.series,
                    history=history,
                    condition=condition,
                    progress=progress,
                    active=some.rows,
                )
            if not again:
                saved["source"].add(cone.updates(ready.rows))
            saved["receiver"].add(cone.updates(some.rows))
            again = True
        if not again:
            written()
            condition.begin()
    return saved


class SourceWavefield:
    """The source's wavefield of a shot, at rest at first, from imaging step to imaging step (history.Source)."""

    def __init__(self, setup: Setup, wavefield: Propagator, shot: Shot, rows: ActiveRows | None) -> None:
        self.time, self.wavefield, self._rows = setup.time, wavefield, rows
        self._together = steps_of_advance(setup) // setup.time.every
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

    @property
    def together(self) -> int:
        """Imaging steps that are best taken at a time."""
        return self._together

    def advance(self, snapshots: Sequence[np.ndarray | None]) -> None:
        """Go on by so many imaging steps and write the pressure there into `snapshots` (image_shape), where given."""
        start, steps = self.wavefield.step, len(snapshots) * self.time.every
        self.wavefield.advance(steps, self._source, self._series[start : start + steps], snapshots=snapshots)

    def save(self, room: np.ndarray | None = None) -> State:
        """The state of the wavefield, which `restore` takes."""
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
        [first] = history.rooms(1)
        if first is not None:
            source.read(first)
        history.push(1)
        left = source.time.snapshots - 1
        rooms: Sequence[np.ndarray | None] = history.rooms(min(left, source.together))
    while left:
        with ledger.phase("source propagation"):
            source.advance(rooms)
        left -= (taken := len(rooms))
        with ledger.phase("history push", bytes=taken * history.snapshot_bytes):
            history.push(taken)
            rooms = history.rooms(min(left, source.together)) if left else []
        finish_steps(source.wavefield, taken * source.time.every, progress, source.where)
    with ledger.phase("source propagation"):
        source.wavefield.settle()
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
        [last] = history.pop(1)
    with ledger.phase("imaging"):
        wavefield.correlate(condition.correlation(last))
    left, together = time.snapshots - 1, steps_of_advance(setup) // time.every
    while left:
        with ledger.phase("history pop"):
            snapshots = history.pop(min(left, together))
            ledger.work(bytes=len(snapshots) * history.snapshot_bytes)
        correlations = [condition.correlation(snapshot) for snapshot in snapshots]
        steps = len(snapshots) * time.every
        rows = series.rows(steps)
        with ledger.phase("receiver propagation"):
            wavefield.advance(steps, receivers, rows, correlations=correlations)
        left -= len(snapshots)
        finish_steps(wavefield, steps, progress, where)
    with ledger.phase("receiver propagation"):
        wavefield.settle()
    wavefield.check(where)
