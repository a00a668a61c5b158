"""Conditioning of recorded traces: the sequence of processing steps between the files and the propagation.

In this order, each optional step where the survey has its key:

    shots, offsets    selection by headers                            traces left out   selection.py
    loud traces       those with a spike too: muted or clipped        trace by trace    loud_traces.py
    dead traces       detected by RMS amplitude, set to zero          trace by trace    here
    deghost           ghosts of the sea surface removed               trace by trace    deghost.py
    polarity          sign reversed                                   trace by trace    here
    band-pass         zero-phase filter                               trace by trace    bandpass.py
    line source       3D data for 2D propagation                      trace by trace    linesource.py
    mute              zero until the direct wave has passed           trace by trace    mute.py
    balance           by RMS or AGC                                   trace by trace    balance.py
    resampling        to the time step, always                        trace by trace    resampling.py, from injection.py

Filters come before the mute, which removes what they smear to earlier times. The balance is last, so that neither the
direct wave nor the frequencies that the band-pass removes contribute to its gains. The result of a step for a trace
depends on that trace and its headers alone, so it is bitwise the same for any distribution of traces over ranks. The
exceptions are loud traces, which are found once before the run, and the median RMS amplitude of a shot, to which dead
traces may be compared: every rank reads the whole shot for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.loud_traces import LoudTraces
from fathometer.seismic.shots.selection import StepRecords
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import AgcBalanceTable, DeghostTable, Survey
from fathometer.seismic.traces.balance import Agc, Rms
from fathometer.seismic.traces.bandpass import BandPass
from fathometer.seismic.traces.deghost import Deghost
from fathometer.seismic.traces.linesource import LineSource
from fathometer.seismic.traces.mute import TopMute

Doubles = npt.NDArray[np.float64]
Read = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float32]]  # receivers (n,) of a shot -> traces (n, ns)

MOST_LISTED = 20  # dead traces listed in a record
_TRACES_AT_ONCE = 128  # bounds the workspace; the result does not depend on it


class Step(Protocol):
    """A processing step that changes the samples of traces, each trace by itself."""

    def record(self) -> dict[str, Any]:
        """Name of the step, as `step`, and its parameters, as JSON values."""

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns), float64, after the step, for offsets (n,), m."""


@dataclass(frozen=True)
class Reversed:
    """Polarity reversal."""

    def record(self) -> dict[str, Any]:
        """Name and parameters of the step, as JSON values."""
        return {"step": "polarity", "reversed": True}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) with reversed sign."""
        return -traces


@dataclass(frozen=True, eq=False)
class DeadTraces:
    """Detector of dead traces, by RMS amplitude relative to the median of the shot."""

    below: float  # largest RMS amplitude of a dead trace over the median of its shot; 0: traces of zeros only
    detected: set[tuple[int, int]] = field(default_factory=set)  # (shot, receiver), of the traces read so far
    _median: dict[int, float] = field(default_factory=dict)

    def detect(
        self, shot: Shot, receivers: npt.NDArray[np.int64], traces: npt.NDArray[np.float32], read: Read
    ) -> npt.NDArray[np.bool_]:
        """Mask (n,) of the dead ones of the traces (n, ns) of some receivers (n,) of a shot; adds them to `detected`.

        read: reads the traces of any receivers of the shot.
        """
        threshold = 0.0
        if self.below > 0.0:
            if shot.index not in self._median:
                whole = np.arange(len(shot.receivers))
                parts = [
                    _rms(read(whole[first : first + _TRACES_AT_ONCE]))
                    for first in range(0, len(whole), _TRACES_AT_ONCE)
                ]
                self._median[shot.index] = float(np.median(np.concatenate(parts)))
            threshold = self.below * self._median[shot.index]
        dead = np.asarray(_rms(traces) <= threshold)
        self.detected.update((shot.index, int(receiver)) for receiver in receivers[dead])
        return dead


@dataclass(eq=False)
class Left:
    """What the steps before the balance have left of the traces read so far, dead and loud ones apart: sums of squares
    of their samples, and the number of samples."""

    before: float = 0.0
    after: float = 0.0
    samples: int = 0

    def add(self, before: float, after: float, samples: int) -> None:
        """Add some traces."""
        self.before, self.after, self.samples = self.before + before, self.after + after, self.samples + samples


def _energy(traces: Doubles) -> float:
    """The sum of the squares of all samples."""
    return float(np.vdot(traces, traces))


def _rms(traces: npt.NDArray[np.float32]) -> Doubles:
    """RMS amplitudes (n,) of traces (n, ns), summed in float64, each trace by itself."""
    return np.array([np.sqrt(np.mean(np.square(trace, dtype=np.float64))) for trace in traces], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Conditioning sequence of a survey."""

    selected: StepRecords = ()  # records of the selection steps, which are done before
    dead: DeadTraces | None = None
    steps: tuple[Step, ...] = ()
    loud: LoudTraces | None = None
    deghost: Deghost | None = None
    left: Left = field(default_factory=Left)

    def __bool__(self) -> bool:
        """Whether any step changes traces."""
        return self.dead is not None or bool(self.steps) or self.loud is not None or self.deghost is not None

    def reads(self, shot: Shot, receivers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Receivers of a shot whose traces are read for those of some receivers (n,)."""
        whole = self.dead is not None and self.dead.below > 0.0 and len(receivers) > 0  # for the median
        return np.arange(len(shot.receivers)) if whole else receivers

    @property
    def summary(self) -> str:
        """The change of the traces in one word, for a caption: "muted", "conditioned" or ""."""
        others = self.dead, self.loud, self.deghost
        only_muted = others == (None, None, None) and all(isinstance(step, TopMute) for step in self.steps)
        return "" if not self else "muted" if only_muted else "conditioned"

    @property
    def filters(self) -> list[str]:
        """Names of the steps that take something away from traces."""
        names = [str(step.record()["step"]) for step in self.steps if isinstance(step, BandPass | TopMute)]
        return [*(["deghost"] if self.deghost is not None else []), *names]

    def __call__(self, shot: Shot, receivers: npt.NDArray[np.int64], read: Read) -> npt.NDArray[np.float32]:
        """Conditioned traces (n, ns), float32, of the receivers (n,) of a shot.

        read: reads the recorded traces of any receivers of the shot.
        """
        traces = read(receivers)
        if self.loud is not None:
            traces = self.loud(shot.index, receivers, traces)
        balance = next((step for step in self.steps if isinstance(step, Agc | Rms)), None)
        filtered = self.deghost is not None or bool(self.steps)
        offset, depth = shot.offsets[receivers], shot.receivers[receivers, 2]
        for first in range(0, len(traces), _TRACES_AT_ONCE):
            part = slice(first, first + _TRACES_AT_ONCE)
            values = traces[part].astype(np.float64)
            if self.dead is not None:
                values[self.dead.detect(shot, receivers[part], traces[part], read)] = 0.0
            before = _energy(values) if filtered else 0.0
            if self.deghost is not None:
                values = self.deghost(values, float(shot.source[2]), depth[part])
            for step in self.steps:
                if step is balance:
                    self.left.add(before, _energy(values), values.size)
                values = step(values, offset[part])
            if filtered and balance is None:
                self.left.add(before, _energy(values), values.size)
            traces[part] = values
        return traces

    def record(self, shots: tuple[Shot, ...], dead: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
        """The steps in their order, with parameters and counts, as JSON values.

        dead: (shot, receiver) of the dead traces that all ranks have detected.
        """
        records = list(self.selected)
        if self.loud is not None:
            records.append(self.loud.record(shots))
        if self.dead is not None:
            ordered = sorted(set(dead))
            names = [
                {"ffid": shots[shot].ffid, "channel": int(shots[shot].channel[receiver])}
                for shot, receiver in ordered[:MOST_LISTED]
            ]
            records.append(
                {"step": "dead traces", "below": self.dead.below, "traces_left_out": len(ordered), "first": names}
            )
        if self.deghost is not None:
            records.append(self.deghost.record())
        for step in self.steps:
            counts: dict[str, Any] = {}
            if isinstance(step, TopMute):
                counts["traces_muted"] = sum(int(np.count_nonzero(step.affects(shot.offsets))) for shot in shots)
            records.append(step.record() | counts)
        return records


def conditioning_of(
    survey: Survey, interval: float, start: float, dimension: int | None, selection: StepRecords
) -> Conditioning:
    """The conditioning sequence of a survey, for traces with sample k at start + k interval (s).

    dimension: 2 or 3, None: not known yet. selection: records of the selection steps.
    Raises InputError for a band-pass beyond the Nyquist frequency, and for line-source conversion in 3D.
    """
    keys, mute = survey.acquisition.conditioning, survey.acquisition.mute
    place = f"{survey.path}: [acquisition] conditioning"
    steps: list[Step] = []
    if keys.polarity == "reversed":
        steps.append(Reversed())
    if keys.band_pass is not None:
        nyquist = 0.5 / interval
        if keys.band_pass[3] > nyquist:
            raise InputError(
                f"{place}.band_pass: found {keys.band_pass[3]:g} Hz; allowed: up to {nyquist:g} Hz, the Nyquist "
                f"frequency of the traces' sample interval {interval:g} s"
            )
        steps.append(BandPass(keys.band_pass, interval))
    if keys.line_source is not None:
        if dimension == 3:
            raise InputError(
                f"{place}.line_source: found with a 3D model; allowed: only in 2D, where sources are lines"
            )
        steps.append(LineSource(keys.line_source, start, interval))
    if mute is not None:
        steps.append(TopMute(mute.velocity, mute.taper, start, interval))
    if isinstance(keys.balance, AgcBalanceTable):
        steps.append(Agc(keys.balance.window, interval))
    elif keys.balance is not None:
        steps.append(Rms())
    dead = None if keys.dead_below is None else DeadTraces(keys.dead_below)
    return Conditioning(selection, dead, tuple(steps), deghost=_deghost_of(keys.deghost, interval))


def _deghost_of(keys: DeghostTable | None, interval: float) -> Deghost | None:
    """The removal of ghosts that the survey asks for."""
    if keys is None:
        return None
    return Deghost(interval, keys.source, keys.receiver, keys.velocity, keys.reflection, keys.gain)


def check_deghost(survey: Survey, shots: Sequence[Shot]) -> None:
    """Raises InputError where ghosts are to be removed by depths of headers that are no depths below the surface."""
    keys = survey.acquisition.conditioning.deghost
    if keys is None:
        return
    given = (("source", keys.source), ("receiver", keys.receiver))
    for name in (name for name, depth in given if depth is None):
        for shot in shots:
            depths = shot.source[2:] if name == "source" else shot.receivers[:, 2]
            wrong = depths[~(depths > 0.0)]
            if wrong.size:
                raise InputError(
                    f"{survey.path}: [acquisition] conditioning.deghost.{name}: missing, and {shot.name} has a {name} "
                    f"at a depth of {wrong[0]:.6g} m; allowed: depths above 0, or {name} = the depth here (0: none)"
                )
