"""Acquisition of a survey: shots with source and receiver positions, and recorded traces where there are any."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.conditioning import Conditioning, check_deghost, conditioning_of
from fathometer.seismic.shots.gathers import Recording, recording_of
from fathometer.seismic.shots.geometry import shots_of_geometry
from fathometer.seismic.shots.loud_traces import MUTE
from fathometer.seismic.shots.selection import selected
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.seismic.survey import ReceiversTable, Survey

__all__ = ["Acquisition", "Shot", "acquisition_of"]

_MOST_SAMPLES = 32767  # of a trace in SEG-Y, whose count is a signed 16-bit number
_FINITE = 1e15  # samples; replaces an overflowing number of samples until it is refused
_ROUNDING_TIME = 1e-6  # of a sample


@dataclass(frozen=True, eq=False)
class Acquisition:
    """All shots of a survey; sample k of a trace is at start + k sample_interval (s)."""

    name: str  # the survey file, for messages
    shots: tuple[Shot, ...]
    sample_interval: float  # s
    samples: int
    start: float  # s, time of the first sample; 0 is the peak of a zero-phase wavelet
    notes: tuple[str, ...] = ()  # messages on what was repaired or left out on reading
    recording: Recording | None = None
    conditioning: Conditioning = field(default_factory=Conditioning)
    # Receivers (k,) by the index of their shot whose samples are all 0, where the samples have been looked at.
    silent: Mapping[int, npt.NDArray[np.int64]] = field(default_factory=dict)

    def lifeless(self, shot: Shot) -> npt.NDArray[np.bool_]:
        """(receivers,) which traces of a shot are known to add nothing: silent, or muted as loud."""
        found = np.zeros(len(shot.receivers), np.bool_)
        found[self.silent.get(shot.index, [])] = True
        loud = self.conditioning.loud
        if loud is not None and loud.treatment == MUTE and shot.index in loud.found:
            found[loud.found[shot.index].receivers] = True
        return found

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files of the recorded gathers."""
        return self.recording.files if self.recording is not None else ()

    @cached_property
    def midpoints(self) -> npt.NDArray[np.float64]:
        """(n, 2) of all traces, in the order of the shots, m."""
        return np.concatenate([shot.midpoints for shot in self.shots])

    @property
    def recorded(self) -> bool:
        """Whether there are recorded traces; otherwise there is only a geometry to model."""
        return self.recording is not None

    @property
    def end(self) -> float:
        """Time of the last sample, s."""
        return self.start + (self.samples - 1) * self.sample_interval

    def traces(
        self, shot: Shot, receivers: npt.NDArray[np.integer], hashes: TraceHashes | None = None
    ) -> npt.NDArray[np.float32]:
        """Conditioned recorded traces (n, samples), float32, of some receivers of a shot (conditioning.py).

        receivers: indices (n,) into shot.receivers. Only their traces are read, unless conditioning needs the median of
        the shot. hashes: get those of the traces as recorded. Raises InputError for a trace with NaN or infinity, and
        for a survey without gathers.
        """
        recording = self.recording
        if recording is None:
            raise InputError(f"{self.name}: [acquisition] gathers: missing; needed: recorded shots (SEG-Y)")

        def read(indices: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
            return np.ascontiguousarray(recording.read(shot.index, indices, hashes)[:, : self.samples])

        indices = np.asarray(receivers, dtype=np.int64)
        return self.conditioning(shot, indices, read) if self.conditioning else read(indices)


def acquisition_of(survey: Survey, dimension: int | None = None) -> Acquisition:
    """The acquisition of a survey, from its ranges or from the trace headers of its gathers (no trace is read).

    dimension: 2 or 3, of the model; None: not known, the survey's own is used. In 2D the y coordinates of gathers are
    ignored and set to 0. Raises InputError where a geometry's dimension is not the model's, gathers contradict
    themselves or each other, `duration` is longer than the gathers, or a conditioning key is not possible.
    """
    if dimension is None:
        dimension = survey.dimension
    keys = survey.acquisition
    if keys.sources is not None and keys.receivers is not None:
        for name, table in (("sources", keys.sources), ("receivers", keys.receivers)):
            relative = isinstance(table, ReceiversTable) and table.relative  # y may then be left out in 3D too
            if isinstance(table, str) or dimension is None or (table.y is None) == (dimension == 2) or relative:
                continue
            problem = "missing, needed in 3D" if dimension == 3 else "found, allowed only in 3D"
            raise InputError(f"{survey.path}: [acquisition] {name}.y: {problem}; the model is {dimension}D")
        shots, notes = shots_of_geometry(survey, dimension)
        assert survey.propagation.duration is not None  # the survey's own check
        samples = _samples(survey.propagation.duration, keys.sample_interval)
        if samples > _MOST_SAMPLES:
            most = _MOST_SAMPLES * keys.sample_interval
            raise InputError(
                f"{survey.path}: [propagation] duration: found {survey.propagation.duration:g} s, which are "
                f"{samples:g} samples a trace; allowed: at most {_MOST_SAMPLES} in SEG-Y, {most:g} s at "
                f"[acquisition] sample_interval = {keys.sample_interval:g}; is the duration in s?"
            )
        return Acquisition(str(survey.path), shots, keys.sample_interval, samples, 0.0, notes)
    shots, recording, selection = selected(survey, *recording_of(survey, flat=dimension == 2))
    check_deghost(survey, shots)
    samples, note = _samples_used(survey, recording)
    conditioning = conditioning_of(survey, recording.interval, recording.delay, dimension, selection)
    return Acquisition(
        name=str(survey.path),
        shots=shots,
        sample_interval=recording.interval,
        samples=samples,
        start=recording.delay,
        notes=recording.notes + note,
        recording=recording,
        conditioning=conditioning,
    )


def _samples(duration: float, interval: float) -> int:
    """Number of samples from 0 to `duration` (s), both ends included."""
    return math.floor(min(duration / interval, _FINITE) + _ROUNDING_TIME) + 1


def _samples_used(survey: Survey, recording: Recording) -> tuple[int, tuple[str, ...]]:
    """Number of samples of the gathers within `duration`, and a note where these are not all."""
    duration = survey.propagation.duration
    if duration is None:
        return recording.samples, ()
    end = recording.delay + (recording.samples - 1) * recording.interval
    samples = _samples(duration - recording.delay, recording.interval)
    if not (duration >= recording.delay and samples <= recording.samples + 1):
        raise InputError(
            f"{survey.path}: [propagation] duration: found {duration:g} s; allowed: from {recording.delay:g} "
            f"to {end:g} s, as recorded, or left out"
        )
    if samples >= recording.samples:
        return recording.samples, ()
    note = f"the first {samples} of {recording.samples} samples count ([propagation] duration {duration:g} s)"
    return samples, (f"{survey.path}: {note}",)
