"""The shots of a survey: where sources and receivers are, and the recorded traces where there are any."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.conditioning import Conditioning, conditioning_of
from fathometer.seismic.shots.gathers import Recording, point, recording_of
from fathometer.seismic.shots.geometry import shots_of_ranges
from fathometer.seismic.shots.selection import selected
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey

__all__ = ["Acquisition", "Shot", "acquisition_of", "check_below", "check_inside"]

Places = npt.NDArray[np.float64]

_ROUNDING = 1e-3  # m; a place that far outside the box is on its side: SEG-Y rounds coordinates
_MOST_SAMPLES = 32767  # of a trace in SEG-Y, whose count is a signed 16-bit number
_NEVER = 1e15  # samples: keeps an absurd duration finite until it is refused
_ROUNDING_TIME = 1e-6  # of a sample


@dataclass(frozen=True, eq=False)
class Acquisition:
    """All shots of a survey; `samples` traces samples lie at start + k sample_interval (s)."""

    name: str  # the survey file, for messages
    shots: tuple[Shot, ...]
    sample_interval: float  # s
    samples: int
    start: float  # s, time of the first sample; 0 is the peak of a zero-phase wavelet
    notes: tuple[str, ...] = ()  # what was repaired or left out on reading, for people
    recording: Recording | None = None
    conditioning: Conditioning = field(default_factory=Conditioning)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of recorded gathers."""
        return self.recording.files if self.recording is not None else ()

    @property
    def recorded(self) -> bool:
        """Whether there are traces, or only a geometry to model."""
        return self.recording is not None

    @property
    def end(self) -> float:
        """Time of the last sample (s)."""
        return self.start + (self.samples - 1) * self.sample_interval

    def traces(self, shot: Shot, receivers: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        """The recorded traces of some receivers (indices into shot.receivers) of a shot: (n, samples),
        float32, conditioned (conditioning.py).

        Only these traces are read, unless conditioning needs the shot's median. Raises InputError for a trace with NaN
        or infinity, and for a survey without gathers.
        """
        recording = self.recording
        if recording is None:
            raise InputError(f"{self.name}: [acquisition] gathers: missing; needed: recorded shots (SEG-Y)")

        def read(some: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
            return np.ascontiguousarray(recording.read(shot.index, some)[:, : self.samples])

        chosen = np.asarray(receivers, dtype=np.int64)
        return self.conditioning(shot, chosen, read) if self.conditioning else read(chosen)


def acquisition_of(survey: Survey, dimension: int | None = None) -> Acquisition:
    """The shots of a survey, from its ranges or from the trace headers of its gathers (no trace is read).

    `dimension` (2 or 3) is the model's, once it is known; until then what the survey tells counts. In 2D the
    y coordinates of gathers are not looked at and y = 0 is handed out. Raises InputError where a geometry's
    dimension is not the model's, where gathers contradict themselves or each other, or where `duration` is
    longer than the gathers, or where conditioning asks for what cannot be done.
    """
    if dimension is None:
        dimension = survey.dimension
    keys = survey.acquisition
    if keys.sources is not None and keys.receivers is not None:
        if dimension is not None and dimension != (2 if keys.sources.y is None else 3):
            found, needed = ("missing", "needed in 3D") if dimension == 3 else ("found", "allowed only in 3D")
            raise InputError(f"{survey.path}: [acquisition] sources.y: {found}, {needed}; the model is {dimension}D")
        shots = shots_of_ranges(keys.sources, keys.receivers)
        assert survey.propagation.duration is not None  # the survey's own check
        samples = _samples(survey.propagation.duration, keys.sample_interval)
        if samples > _MOST_SAMPLES:
            raise InputError(
                f"{survey.path}: [propagation] duration: found {samples:g} samples a trace; "
                f"allowed: at most {_MOST_SAMPLES} in SEG-Y (see [acquisition] sample_interval)"
            )
        return Acquisition(str(survey.path), shots, keys.sample_interval, samples, 0.0)
    shots, recording, told = selected(survey, *recording_of(survey, flat=dimension == 2))
    samples, note = _cut(survey, recording)
    conditioning = conditioning_of(survey, recording.interval, recording.delay, dimension, told)
    return Acquisition(
        str(survey.path),
        shots,
        recording.interval,
        samples,
        recording.delay,
        recording.notes + note,
        recording,
        conditioning,
    )


def _samples(duration: float, interval: float) -> int:
    """Samples from 0 to `duration`, the last included where it is one."""
    return math.floor(min(duration / interval, _NEVER) + _ROUNDING_TIME) + 1


def _cut(survey: Survey, recording: Recording) -> tuple[int, tuple[str, ...]]:
    """How many samples of the gathers count, and a note where these are not all."""
    duration = survey.propagation.duration
    if duration is None:
        return recording.samples, ()
    end = recording.delay + (recording.samples - 1) * recording.interval
    samples = _samples(duration - recording.delay, recording.interval)
    if duration < recording.delay or samples > recording.samples + 1:
        raise InputError(
            f"{survey.path}: [propagation] duration: found {duration:g} s; allowed: from {recording.delay:g} "
            f"to {end:g} s, as recorded, or left out"
        )
    if samples >= recording.samples:
        return recording.samples, ()
    note = f"the first {samples} of {recording.samples} samples count ([propagation] duration {duration:g} s)"
    return samples, (f"{survey.path}: {note}",)


def check_inside(acquisition: Acquisition, lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64]) -> None:
    """Raise InputError where sources or receivers lie outside the box from `lower` to `upper`, (3,) each, m,
    sides included.

    The message says how many there are, which is the first, and the box. In 2D lower[1] = upper[1] = 0, as in
    the shots.
    """
    found = _which(acquisition, lambda places: _outside(places, lower, upper))
    if found:
        raise InputError(
            f"{acquisition.name}: [acquisition]: {found[0]} lie outside the model; first: {found[1]} m; "
            f"allowed: from {point(np.asarray(lower))} to {point(np.asarray(upper))} m"
        )


def check_below(acquisition: Acquisition, surface: float) -> None:
    """Raise InputError where sources or receivers lie at the depth `surface` (m) of a free surface: pressure is zero
    there, so they would be silent and record nothing."""
    found = _which(acquisition, lambda places: np.asarray(places[..., 2] <= surface + _ROUNDING))
    if found:
        raise InputError(
            f"{acquisition.name}: [acquisition]: {found[0]} lie in the free surface, where pressure is zero; "
            f"first: {found[1]} m; allowed: a depth of more than {surface:g} m"
        )


def _which(acquisition: Acquisition, wrong: Callable[[Places], npt.NDArray[np.bool_]]) -> tuple[str, str] | None:
    """How many sources and receivers are at places (…, 3) that are wrong, and the first of them; None where none is."""
    sources = receivers = all_receivers = 0
    first = ""
    spread, bad = np.empty((0, 3)), np.empty(0, np.int64)
    for shot in acquisition.shots:
        all_receivers += len(shot.receivers)
        if wrong(shot.source):
            sources += 1
            first = first or f"the source of shot {shot.index + 1} (FFID {shot.ffid}) at {point(shot.source)}"
        if shot.receivers is not spread:  # many shots may share one
            spread, bad = shot.receivers, np.flatnonzero(wrong(shot.receivers))
        receivers += len(bad)
        if len(bad):
            first = first or (
                f"the receiver of shot {shot.index + 1} (FFID {shot.ffid}), channel {shot.channel[bad[0]]}, "
                f"at {point(shot.receivers[bad[0]])}"
            )
    if not first:
        return None
    return f"{sources} of {len(acquisition.shots)} sources and {receivers} of {all_receivers} receivers", first


def _outside(
    place: npt.NDArray[np.float64], lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """For each place (…, 3), whether it lies outside the box."""
    outside = (place < np.asarray(lower) - _ROUNDING) | (place > np.asarray(upper) + _ROUNDING)
    return np.asarray(np.any(outside, axis=-1))
