"""What a shot needs before its time steps: its rows (setup/cone.py), and the series that its receivers inject.

It is read when it is asked for, or, where a graphics card takes the time steps, by a thread beside those of the shot
before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from fathometer.base import ledger
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.setup.cone import Cone
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.injection import ReversedTraces
from fathometer.seismic.shots.offsets import receivers_by_bin, volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.seismic.traces.series import STRATEGIES, ReceiverSeries, SeriesRequest
from fathometer.seismic.waves.checked_steps import steps_at_a_time
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.points import SincPoints


@dataclass(frozen=True, eq=False)
class ReadyReceivers:
    """The receivers of a shot that make one volume of the image.

    Attributes:
        volume: its name. points: of all these receivers. series: what those of this rank inject; to be closed.
        rows: that the receiver loop computes; None: all.
    """

    volume: str
    points: SincPoints
    series: ReceiverSeries
    rows: ActiveRows | None


@dataclass(frozen=True, eq=False)
class ReadyShot:
    """A shot before its time steps.

    Attributes:
        rows: that the source loop computes; None: all. receivers: of each volume to which some contribute, to be gone
            through once. hashes: of the traces that this rank has read by then.
    """

    shot: Shot
    rows: ActiveRows | None
    receivers: Iterable[ReadyReceivers]
    hashes: TraceHashes


def ready_shot(setup: Setup, threads: ThreadCounts, cone: Cone, shot: Shot) -> ReadyShot:
    """The shot, whose receivers are collective: they are read as they are asked for.

    threads: that resample. Raises there, on all ranks, InputError for unreadable traces, FathometerError where they
    cannot be ordered by time.
    """
    hashes, rows = TraceHashes(len(shot.receivers)), cone.source(shot)
    return ReadyShot(shot, rows, _receivers(setup, threads, shot, cone, rows, hashes, True), hashes)


def read_ahead(setup: Setup, threads: ThreadCounts, cone: Cone, shot: Shot) -> ReadyShot:
    """The same with all that there is to read, by this rank alone. Raises errors of this rank."""
    hashes, rows = TraceHashes(len(shot.receivers)), cone.source(shot)
    return ReadyShot(shot, rows, list(_receivers(setup, threads, shot, cone, rows, hashes, False)), hashes)


def steps_of_advance(setup: Setup) -> int:
    """Time steps that a migration takes at a time, where its history takes several snapshots at a time."""
    return steps_at_a_time(setup.grid, setup.comm.size, setup.time.steps, setup.time.every)


def _receivers(
    setup: Setup,
    threads: ThreadCounts,
    shot: Shot,
    cone: Cone,
    source_rows: ActiveRows | None,
    hashes: TraceHashes,
    together: bool,
) -> Iterator[ReadyReceivers]:
    """together: collective, with errors that are the same on all ranks."""
    imaging = setup.survey.imaging
    for volume, among in zip(volumes_of(imaging), receivers_by_bin(imaging, shot), strict=False):
        if not len(among):
            continue
        with ledger.phase("set up"), collective_errors(setup.comm) if together else nullcontext():
            points = setup.points(shot.receivers[among])
            series = _series(setup, threads, shot, among, points, hashes)
        yield ReadyReceivers(volume, points, series, cone.receivers(shot, among, source_rows))


def _series(
    setup: Setup, threads: ThreadCounts, shot: Shot, among: np.ndarray, points: SincPoints, hashes: TraceHashes
) -> ReceiverSeries:
    """What those of the receivers `among` the shot's (their numbers) inject that touch this rank's cells."""
    survey, time, dtype = setup.survey, setup.time, setup.scheme.dtype
    own = points.touching(setup.block)
    traces = ReversedTraces(setup.acquisition, time, setup.wavelet.fmax, setup.corrected, dtype, threads, hashes)
    request = SeriesRequest(
        read=lambda indices, share: traces.series(shot, among[indices], share),
        own=own,
        own_share=len(points.owned(setup.block)) / max(1, len(own)),
        count=len(among),
        steps=time.steps,
        most=steps_of_advance(setup),
        dtype=dtype,
        folder=setup.scratch_folder,
        worker=lambda: threads.background_thread("slices"),
        comm=setup.comm,
    )
    return STRATEGIES[survey.storage.traces].open(request)
