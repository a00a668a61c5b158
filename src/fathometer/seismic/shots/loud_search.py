"""The search for loud traces, once before a migration (loud_traces.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.gathers import Recording
from fathometer.seismic.shots.loud_traces import CLIP, KEEP, MUTE, REFUSE, Found, LoudTraces
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.storage.traces.amplitudes import limits_of, peaks_in

if TYPE_CHECKING:
    from mpi4py import MPI

KIND = "amplitudes"  # of files in the ledger
_DONE = {MUTE: "muted", CLIP: "clipped to what fits"}


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
