"""Only what can matter: which rows of cells each loop over the time steps of a shot computes ([propagation] cone).

source loop:    a row from the first arrival of the source's wave on
receiver loop:  from the first arrival of what the receivers inject on, backwards in time, until the source's wave had
                not yet come: what is outside this cone can never come in again

First arrivals are lower bounds (waves/cone.py); a margin in periods makes up for what travels ahead of a wave on a
grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.setup.survey_layout import SurveyLayout, surface_of
from fathometer.seismic.shots.injection import source_series
from fathometer.seismic.shots.offsets import receivers_by_bin
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.cone import ActiveRows, Speeds, along_axis, block_cells
from fathometer.seismic.waves.points import sinc_points

PHASE = "first arrivals"
ONSET = 1e-5  # a wavelet begins where no more than this has passed of its L2 norm
HIGHEST = 1e-6  # the part of a wavelet's L2 norm beyond its highest frequency
STOP_BAND = 1.5  # times the wavelet's highest frequency: traces have nothing beyond
MOST_OF_STEP = 0.45  # periods of a time step, whatever a wavelet holds: beyond is what no scheme resolves
MARGIN = 0.5  # periods of the highest frequency before a first arrival
# `auto` weighs what arrivals cost, in updates of cells for each block, against the saving that is expected.
BLOCK_UPDATES, EXPECTED = 1000, 0.1
EXPECTED_FROM = 3  # shots that a plan looks at
MOST_BINS = 128  # of rows along an axis, by which parts are compared


@dataclass
class Saved:
    """Updates of cells in the loops of some shots: of all rows, and of those that were computed."""

    all: float = 0.0
    computed: float = 0.0

    def add(self, other: Saved) -> None:
        self.all += other.all
        self.computed += other.computed

    @property
    def share(self) -> float:
        """Of all updates that were saved."""
        return 1 - self.computed / self.all if self.all else 0.0


@dataclass(frozen=True, eq=False)
class Cone:
    """The rows of the shots on one grid.

    Attributes:
        layout: on that grid. speeds: of its model; None: all rows are computed in all steps.
    """

    layout: SurveyLayout
    time: TimeAxis
    speeds: Speeds | None
    _of_receivers: dict[bytes, np.ndarray] = field(default_factory=dict)  # of the latest, which the next shot may share

    @classmethod
    def of_model(
        cls, layout: SurveyLayout, time: TimeAxis, block: Decomposition, model: list[np.ndarray], comm: MPI.Intracomm
    ) -> Cone:
        """Collective. Of dt^2 M, of which each rank has its block."""
        speeds = None
        if is_wanted(layout, time):
            with ledger.phase(PHASE):
                speeds = Speeds.of_model(layout.grid, block, model, time.dt, comm)
        return cls(layout, time, speeds)

    def source(self, shot: Shot) -> ActiveRows | None:
        """The rows of the source loop; None: all."""
        time = self.time
        if self.speeds is None:
            return None
        with ledger.phase(PHASE):
            passed = np.cumsum(self._series**2)
            onset = int(np.searchsorted(passed, ONSET**2 * passed[-1]))
            arrivals = self._arrivals(shot.source)
            first = np.where(arrivals > 0, arrivals + onset, 0)
            return ActiveRows(_steps(first, time), np.full(first.shape, time.steps, np.int32))

    def receivers(self, shot: Shot, among: np.ndarray, source: ActiveRows | None) -> ActiveRows | None:
        """The rows of the receiver loop of some of the shot's receivers; source: those of the source loop."""
        time = self.time
        if self.speeds is None or source is None:
            return None
        with ledger.phase(PHASE):
            positions = shot.receivers[among]
            known = positions.tobytes()
            arrivals = self._of_receivers.get(known)
            if arrivals is None:
                arrivals = self._arrivals(positions)
                self._of_receivers.clear()
                self._of_receivers[known] = arrivals
            first = _steps(arrivals, time)
            return ActiveRows(first, np.maximum(_steps(time.steps - source.first, time), first))

    def _arrivals(self, positions: np.ndarray) -> np.ndarray:
        """Steps after which a wave that spreads from any of these positions (n, 3) can be in a row."""
        assert self.speeds is not None
        cells = self.layout.grid.to_cells(np.atleast_2d(positions))
        points = sinc_points(cells, surface_of(self.layout.free_surface))
        # Waves of the highest frequency are the fastest on time steps: their group speed is c / cos(pi f dt).
        period = 1 / (self.layout.wavelet.fmax * self.time.dt)
        steps = self.speeds.first_arrivals(points) / self.time.dt * math.cos(math.pi * self._highest * self.time.dt)
        return np.asarray(np.floor(steps - MARGIN * period))

    @cached_property
    def _series(self) -> np.ndarray:
        """What a source injects, (steps,) float64."""
        return source_series(self.layout.wavelet, self.time, self.layout.corrected, 1, np.dtype(float))[:, 0]

    @cached_property
    def _highest(self) -> float:
        """Frequency, Hz, beyond which sources inject no more than HIGHEST of their L2 norm, and traces, which have been
        low-passed (traces/resampling.py), nothing."""
        series, dt = self._series, self.time.dt
        power = np.abs(np.fft.rfft(series, 2 * len(series))) ** 2
        beyond = np.cumsum(power[::-1])[::-1]
        frequencies = np.fft.rfftfreq(2 * len(series), dt)[beyond > HIGHEST**2 * beyond[0]]
        return min(max(float(frequencies.max(initial=0.0)), STOP_BAND * self.layout.wavelet.fmax), MOST_OF_STEP / dt)

    def updates(self, rows: ActiveRows | None) -> Saved:
        """Of the cells of all ranks in a loop."""
        shape = self.layout.grid.full_shape
        every = float(math.prod(shape)) * self.time.steps
        return Saved(every, every if rows is None else float(rows.computed()[-1]) * shape[2])


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop over the time steps of a shot, by name, and the rows that it computes; None: all of them in all steps."""

    name: str
    cone: Cone
    rows: ActiveRows | None
    _sums: dict[int, tuple[tuple[np.ndarray, ...], np.ndarray]] = field(default_factory=dict)  # by number of instants

    def computed(self, parts: tuple[Sequence[int], Sequence[int]], instants: int) -> np.ndarray:
        """Updates of rows between so many instants of the loop, [instant, part along x, along y]. parts: rows where
        each begins and the last one ends, along x and y."""
        steps = self.cone.time.steps
        ends = np.linspace(0, steps, instants + 1)
        nx, ny = self.cone.layout.grid.full_shape[:2]
        if self.rows is None:
            sizes = np.multiply.outer(np.diff(parts[0]), np.diff(parts[1]))
            return np.diff(ends)[:, None, None] * sizes
        if instants not in self._sums:
            bins = tuple(np.unique(np.linspace(0, n, min(n, MOST_BINS) + 1).round().astype(int)) for n in (nx, ny))
            sums = np.zeros((instants + 1, len(bins[0]), len(bins[1])))
            for end, room in zip(ends, sums, strict=True):
                done = np.maximum(np.minimum(self.rows.last, end) - self.rows.first, 0)
                done = np.add.reduceat(np.add.reduceat(done, bins[0][:-1], axis=0), bins[1][:-1], axis=1)
                room[1:, 1:] = done.cumsum(axis=0).cumsum(axis=1)
            self._sums[instants] = (bins, sums)
        bins, sums = self._sums[instants]
        for axis in (0, 1):  # between bins in proportion
            places = np.interp(parts[axis], bins[axis], np.arange(len(bins[axis])))
            low = np.minimum(places.astype(int), len(bins[axis]) - 2)
            share = along_axis(places - low, axis + 1)
            sums = np.take(sums, low, axis + 1) * (1 - share) + np.take(sums, low + 1, axis + 1) * share
        return np.diff(np.diff(np.diff(sums, axis=0), axis=1), axis=2)


def loops_of_some(layout: SurveyLayout, time: TimeAxis, speeds: np.ndarray) -> list[Loop]:
    """Of some of the survey's shots, where no more is known of the model than the highest phase velocity at each depth,
    (nz,) m/s."""
    shots = layout.acquisition.shots
    found: list[Loop] = []
    cones: dict[Grid, Cone] = {}
    for index in np.unique(np.linspace(0, len(shots) - 1, EXPECTED_FROM).astype(int)):
        shot = shots[index]
        on = layout.on(shot) if layout.imaging else layout
        cone = cones.setdefault(
            on.grid, Cone(on, time, Speeds.of_depths(on.grid, speeds) if is_wanted(on, time) else None)
        )
        rows = cone.source(shot)
        found.append(Loop("source", cone, rows))
        for among in receivers_by_bin(layout.survey.imaging, shot) if layout.imaging else ():
            if len(among):
                found.append(Loop("receiver", cone, cone.receivers(shot, among, rows)))
    return found


def expected(loops: Sequence[Loop]) -> dict[str, Saved] | None:
    """What will be saved in these loops, by name; None: all rows are computed."""
    if all(loop.cone.speeds is None for loop in loops):
        return None
    saved: dict[str, Saved] = {}
    for loop in loops:
        saved.setdefault(loop.name, Saved()).add(loop.cone.updates(loop.rows))
    return saved


def record(loops: Mapping[str, Saved]) -> dict[str, Any]:
    """For the record and the plan: the share of the updates of cells that was saved, in all loops and in each."""
    total = Saved()
    for saved in loops.values():
        total.add(saved)
    return {"saved_share": total.share} | {f"{name}_loop_saved_share": saved.share for name, saved in loops.items()}


def is_wanted(layout: SurveyLayout, time: TimeAxis) -> bool:
    """Whether rows are left out. Decided from the survey alone, as all that changes bits is."""
    if layout.survey.propagation.cone == "off":
        return False
    shape = layout.grid.full_shape
    blocks = math.prod(-(-n // c) for n, c in zip(shape, block_cells(layout.grid), strict=True))
    return BLOCK_UPDATES * blocks < EXPECTED * math.prod(shape) * time.steps


def _steps(steps: np.ndarray, time: TimeAxis) -> np.ndarray:
    return np.asarray(np.clip(steps, 0, time.steps), np.int32)
