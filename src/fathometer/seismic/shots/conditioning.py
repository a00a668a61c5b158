"""What is done to recorded traces on their way from the files to the propagation.

In this order, each step where the survey asks for it:

    shots, offsets    which are taken                   by their headers   selection.py
    dead traces       become zero                       trace by trace     here
    polarity          the sign changes                  trace by trace     here
    band-pass         zero phase                        trace by trace     bandpass.py
    line source       3D data for 2D propagation        trace by trace     linesource.py
    mute              zero before the direct wave ends  trace by trace     mute.py
    balance           by RMS or AGC                     trace by trace     balance.py
    resampling        to the time step, always          trace by trace     resampling.py, by rtm.py

Filters stand before the mute, which takes off what they smear to earlier times; the balance is last, so that neither
the direct wave nor what the band-pass takes off has a say in it. What a step does to a trace depends on that trace and
its headers alone, so ranks, which each read their own traces, give bitwise the same. The one thing that needs others is
the median amplitude of a shot, by which traces are called dead on request: every rank reads the whole shot for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.selection import Told, offsets
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import AgcBalanceTable, Survey
from fathometer.seismic.traces.balance import Agc, Rms
from fathometer.seismic.traces.bandpass import BandPass
from fathometer.seismic.traces.linesource import LineSource
from fathometer.seismic.traces.mute import TopMute

Doubles = npt.NDArray[np.float64]
Read = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float32]]

MOST_TOLD = 20  # dead traces by name in a record
_AT_ONCE = 128  # traces, which bounds the memory taken beside them; of no consequence for the result


class Step(Protocol):
    """What is done to the samples of traces, each by itself."""

    def told(self) -> dict[str, Any]:
        """Its name, as `step`, and its parameters, for the record."""

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) of these offsets (n,), m, after the step."""


@dataclass(frozen=True)
class Reversed:
    """The sign changed."""

    def told(self) -> dict[str, Any]:
        """For the record."""
        return {"step": "polarity", "reversed": True}

    def __call__(self, traces: Doubles, offset: Doubles) -> Doubles:
        """Traces (n, ns) with the other sign."""
        return -traces


@dataclass(frozen=True, eq=False)
class DeadTraces:
    """Traces whose RMS amplitude is at most `below` times the median of their shot; 0: traces of zeros."""

    below: float
    found: set[tuple[int, int]] = field(default_factory=set)  # (shot, receiver) among the traces read so far
    _median: dict[int, float] = field(default_factory=dict)

    def which(
        self, shot: Shot, receivers: npt.NDArray[np.int64], traces: npt.NDArray[np.float32], read: Read
    ) -> npt.NDArray[np.bool_]:
        """Of the traces (n, ns) of some receivers (n,) of a shot, those that are dead, which it notes; `read` gives
        the traces of any."""
        level = 0.0
        if self.below > 0.0:
            if shot.index not in self._median:
                every = np.arange(len(shot.receivers))
                parts = [_rms(read(every[first : first + _AT_ONCE])) for first in range(0, len(every), _AT_ONCE)]
                self._median[shot.index] = float(np.median(np.concatenate(parts)))
            level = self.below * self._median[shot.index]
        dead = np.asarray(_rms(traces) <= level)
        self.found.update((shot.index, int(receiver)) for receiver in receivers[dead])
        return dead


def _rms(traces: npt.NDArray[np.float32]) -> Doubles:
    """RMS amplitudes (n,) of traces (n, ns), each summed by itself."""
    return np.array([np.sqrt(np.mean(np.square(trace, dtype=np.float64))) for trace in traces], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Conditioning:
    """The steps of a survey; those that `selected` names are done already."""

    selected: Told = ()
    dead: DeadTraces | None = None
    steps: tuple[Step, ...] = ()

    def __bool__(self) -> bool:
        """Whether traces are changed at all."""
        return self.dead is not None or bool(self.steps)

    @property
    def words(self) -> str:
        """What was done to the traces, in a word; "" for nothing."""
        only_muted = self.dead is None and all(isinstance(step, TopMute) for step in self.steps)
        return "" if not self else "muted" if only_muted else "conditioned"

    def __call__(self, shot: Shot, receivers: npt.NDArray[np.int64], read: Read) -> npt.NDArray[np.float32]:
        """The traces of some receivers (n,) of a shot after all steps, (n, ns); `read` gives them as recorded."""
        traces = read(receivers)
        offset = offsets(shot)[receivers]
        for first in range(0, len(traces), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            values = traces[part].astype(np.float64)
            if self.dead is not None:
                values[self.dead.which(shot, receivers[part], traces[part], read)] = 0.0
            for step in self.steps:
                values = step(values, offset[part])
            traces[part] = values
        return traces

    def record(self, shots: tuple[Shot, ...], dead: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
        """The steps in their order with parameters and counts; `dead`: the dead traces that all ranks found."""
        told = list(self.selected)
        if self.dead is not None:
            found = sorted(set(dead))
            names = [
                {"ffid": shots[shot].ffid, "channel": int(shots[shot].channel[receiver])}
                for shot, receiver in found[:MOST_TOLD]
            ]
            told.append(
                {"step": "dead traces", "below": self.dead.below, "traces_left_out": len(found), "first": names}
            )
        for step in self.steps:
            counts: dict[str, Any] = {}
            if isinstance(step, TopMute):
                counts["traces_muted"] = sum(int(np.count_nonzero(step.touches(offsets(shot)))) for shot in shots)
            told.append(step.told() | counts)
        return told


def conditioning_of(survey: Survey, interval: float, start: float, dimension: int | None, done: Told) -> Conditioning:
    """What a survey asks for, for traces with sample k at start + k interval (s); `done`: by the selection.

    Raises InputError where the band-pass reaches beyond Nyquist, and for a line source in 3D.
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
    return Conditioning(done, dead, tuple(steps))
