"""Recorded traces with a spike, or far louder than those beside them (storage/traces/amplitudes.py), and what is done
with them: one such sample would be all that an image shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage.traces.amplitudes import limits_of, peaks_in

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.seismic.shots.acquisition import Acquisition
    from fathometer.seismic.shots.gathers import Recording
    from fathometer.seismic.shots.shot import Shot
    from fathometer.seismic.survey import Survey

KIND = "amplitudes"  # of files in the ledger
MUTE, CLIP, REFUSE, KEEP = "mute", "clip", "refuse", "keep"
MOST_LISTED = 20  # in a record
_DONE = {MUTE: "muted", CLIP: "clipped to what fits"}


@dataclass(frozen=True, eq=False)
class Found:
    """Loud traces of a shot: receivers (k,), ascending; largest magnitudes peaks (k,), and limits (k,) of what fits."""

    receivers: npt.NDArray[np.int64]
    peaks: npt.NDArray[np.float64]
    limits: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoudTraces:
    """Loud traces of a survey, by the index of their shot, and what is done with them: "mute" or "clip"."""

    treatment: str
    found: Mapping[int, Found]

    def __call__(
        self, shot: int, receivers: npt.NDArray[np.int64], traces: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Traces (n, ns) of some receivers (n,) of a shot, with those that are loud treated."""
        found = self.found.get(shot)
        if found is None:
            return traces
        traces = traces.copy()
        for row in np.flatnonzero(np.isin(receivers, found.receivers)):
            limit = np.float32(found.limits[np.searchsorted(found.receivers, receivers[row])])
            traces[row] = 0.0 if self.treatment == MUTE else np.clip(traces[row], -limit, limit)
        return traces

    def words(self) -> bytes:
        """What images depend on, for a hash."""
        parts = [self.treatment.encode()]
        for shot, found in sorted(self.found.items()):
            parts += [str(shot).encode(), found.receivers.tobytes(), found.limits.tobytes()]
        return b" ".join(parts)

    def record(self, shots: Sequence[Shot]) -> dict[str, Any]:
        """The step with its counts, as JSON values."""
        return {
            "step": "loud traces",
            "treatment": self.treatment,
            "traces": sum(len(found.receivers) for found in self.found.values()),
            "first": [
                {
                    "ffid": shots[shot].ffid,
                    "channel": int(shots[shot].channel[receiver]),
                    "largest": float(peak),
                    "fits": float(limit),
                }
                for shot, found in sorted(self.found.items())
                for receiver, peak, limit in zip(found.receivers, found.peaks, found.limits, strict=True)
            ][:MOST_LISTED],
        }


def treated(survey: Survey, acquisition: Acquisition, comm: MPI.Intracomm) -> Acquisition:
    """Collective. The acquisition whose loud traces are treated as [acquisition] conditioning.loud_traces says, with a
    note that names the first; itself where there is none. Each shot's samples are read by one rank.

    Raises InputError on all ranks where they are refused, and for unreadable traces.
    """
    if survey.acquisition.conditioning.loud_traces == KEEP or acquisition.recording is None:
        return acquisition
    own: dict[int, Found] = {}
    with ledger.phase("read traces"):
        with collective_errors(comm):
            own = loud_in(acquisition, acquisition.shots[comm.rank :: comm.size])
        found = {shot: values for part in allgather(comm, own) for shot, values in part.items()}
    with collective_errors(comm):
        return _with(survey, acquisition, found)


def with_loud_traces(survey: Survey, acquisition: Acquisition, shot: Shot) -> Acquisition:
    """The acquisition with the loud traces of one shot treated, for a figure of it."""
    treatment = survey.acquisition.conditioning.loud_traces
    if treatment in (KEEP, REFUSE) or acquisition.recording is None:
        return acquisition
    return _with(survey, acquisition, loud_in(acquisition, [shot]))


def loud_in(acquisition: Acquisition, shots: Sequence[Shot]) -> dict[int, Found]:
    """The loud traces of some shots, by the index of the shot. Where an index has judged all traces of a shot to be
    sound, nothing is read."""
    found = {}
    recording = acquisition.recording
    assert recording is not None
    for shot in shots:
        if not _suspect(recording, shot):
            continue
        gather = recording.gathers[shot.index]
        peaks, rest, kinds = (
            np.empty(len(gather.file)),
            np.empty(len(gather.file)),
            np.empty(len(gather.file), np.int64),
        )
        with ledger.file(KIND, "read"):
            for number in np.unique(gather.file):
                rows = np.flatnonzero(gather.file == number)
                layout = recording.layouts[number]
                with ledger.io(bytes=len(rows) * layout.trace_bytes):
                    peaks[rows], rest[rows], kinds[rows] = peaks_in(layout, gather.trace[rows])
        limits = limits_of(shot.offsets, peaks, rest, kinds)
        loud = np.flatnonzero(np.isfinite(limits))
        if len(loud):
            found[shot.index] = Found(loud, peaks[loud], limits[loud])
    return found


def _suspect(recording: Recording, shot: Shot) -> bool:
    """Whether a trace of a shot may be loud: an index has not said that none is."""
    gather = recording.gathers[shot.index]
    for number in np.unique(gather.file):
        suspects = recording.suspects[number]
        if suspects is None or suspects[gather.trace[gather.file == number]].any():
            return True
    return False


def _with(survey: Survey, acquisition: Acquisition, found: Mapping[int, Found]) -> Acquisition:
    treatment = survey.acquisition.conditioning.loud_traces
    if not found:
        return acquisition
    index, values = min(found.items())
    shot, count = acquisition.shots[index], sum(len(one.receivers) for one in found.values())
    key = "[acquisition] conditioning.loud_traces"
    first = (
        f"first: {shot.name}, channel {shot.channel[values.receivers[0]]}, whose largest sample is "
        f"{values.peaks[0]:.4g} where {values.limits[0]:.4g} fits"
    )
    total = sum(len(one.receivers) for one in acquisition.shots)
    what = f"{count} of {total} traces have a spike or are far louder than those beside them"
    if treatment == REFUSE:
        raise InputError(f'{survey.path}: {key}: {what}; {first}; allowed: none, or "mute", "clip" or "keep" here')
    note = f"{survey.path}: {what}: {_DONE[treatment]} ({key}); {first}"
    conditioning = replace(acquisition.conditioning, loud=LoudTraces(treatment, found))
    return replace(acquisition, conditioning=conditioning, notes=(*acquisition.notes, note))
