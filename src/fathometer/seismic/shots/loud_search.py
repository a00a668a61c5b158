"""The search for loud traces (loud_traces.py), and for those that add nothing, once before a migration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.gathers import Recording
from fathometer.seismic.shots.loud_traces import CLIP, KEEP, MUTE, REFUSE, Found, LoudTraces
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.storage.traces.amplitudes import limits_of, peaks_in

if TYPE_CHECKING:
    from mpi4py import MPI

TRACES_AT_ONCE = 1024
KIND = "amplitudes"  # of files in the ledger
# By the index of a shot: largest magnitudes p and q of its traces (storage/traces/amplitudes.py), and their codes.
Measured = dict[int, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]]
_DONE = {MUTE: "muted", CLIP: "clipped to what fits"}


def treated(survey: Survey, acquisition: Acquisition, comm: MPI.Intracomm, find_silent: bool = False) -> Acquisition:
    """Collective. The acquisition whose loud traces are treated as [acquisition] conditioning.loud_traces says, with a
    note that names the first; itself where there is none. Each shot's samples are read by one rank.

    find_silent: also look for traces of zeros; those that an index knows are left out before.

    Raises InputError on all ranks where they are refused, and for unreadable traces.
    """
    keep = survey.acquisition.conditioning.loud_traces == KEEP
    if (keep and not find_silent) or acquisition.recording is None:
        return acquisition
    own: Measured = {}
    with ledger.phase("read traces"):
        with collective_errors(comm):
            # What a loud shot is clipped to is told by the other shots, sound as they are.
            every = survey.acquisition.conditioning.loud_traces == CLIP and any(
                suspects is not None and suspects.any() for suspects in acquisition.recording.suspects
            )
            own = measured(acquisition, acquisition.shots[comm.rank :: comm.size], every)
        with ledger.communication():
            parts = comm.gather(own)
        found: dict[int, Found] = {}
        silent: dict[int, npt.NDArray[np.int64]] = {}
        with collective_errors(comm):
            if parts is not None:
                values = {shot: values for part in parts for shot, values in part.items()}
                found = {} if keep else judged(acquisition, values)
                silent = {shot: np.flatnonzero(of[0] == 0) for shot, of in sorted(values.items()) if (of[0] == 0).any()}
        with ledger.communication():
            found, silent = comm.bcast((found, silent))
    with collective_errors(comm):
        if find_silent and silent:
            acquisition = replace(acquisition, silent=silent)
        return _with(survey, acquisition, found)


def with_dead_traces(acquisition: Acquisition, comm: MPI.Intracomm) -> Acquisition:
    """Collective. The acquisition that knows which traces [acquisition] conditioning.dead_below leaves out; itself
    without that key. All samples are read, each shot's by one rank; a shot that cannot be read is left to its task."""
    dead = acquisition.conditioning.dead
    if dead is None or dead.below == 0.0:  # zeros have been found by `treated`
        return acquisition
    with ledger.phase("read traces"):
        for shot in acquisition.shots[comm.rank :: comm.size]:
            with suppress(InputError):
                for first in range(0, len(shot.receivers), TRACES_AT_ONCE):
                    acquisition.traces(shot, np.arange(first, min(first + TRACES_AT_ONCE, len(shot.receivers))))
        with ledger.communication():
            detected = sorted(set().union(*comm.allgather(dead.detected)))
    silent = {shot: set(receivers.tolist()) for shot, receivers in acquisition.silent.items()}
    for index, receiver in detected:
        silent.setdefault(index, set()).add(receiver)
    return replace(acquisition, silent={index: np.array(sorted(silent[index])) for index in sorted(silent)})


def with_loud_traces(survey: Survey, acquisition: Acquisition, shot: Shot) -> Acquisition:
    """The acquisition with the loud traces of one shot treated, for a figure of it."""
    treatment = survey.acquisition.conditioning.loud_traces
    if treatment in (KEEP, REFUSE) or acquisition.recording is None:
        return acquisition
    return _with(survey, acquisition, judged(acquisition, measured(acquisition, [shot])))


def measured(acquisition: Acquisition, shots: Sequence[Shot], every: bool = False) -> Measured:
    """What traces are judged by, of some shots. Where an index has judged all traces of a shot to be sound, nothing is
    read; every: it is."""
    found: Measured = {}
    recording = acquisition.recording
    assert recording is not None
    for shot in shots:
        suspects = _suspects(recording, shot)
        if suspects is not None and not suspects.any() and not every:
            continue
        gather = recording.gathers[shot.index]
        peaks, rest, kinds = np.empty(len(gather.file)), np.empty(len(gather.file)), np.empty(len(gather.file), int)
        with ledger.file(KIND, "read"):
            for number, rows, traces in gather.by_file():
                layout = recording.layouts[number]
                with ledger.io(bytes=len(rows) * layout.trace_bytes):
                    peaks[rows], rest[rows], kinds[rows] = peaks_in(layout, traces)
        found[shot.index] = peaks, rest, kinds
    return found


def judged(acquisition: Acquisition, values: Measured) -> dict[int, Found]:
    """The loud traces of shots, by the index of the shot; the verdict of an index counts where there is one."""
    recording = acquisition.recording
    if not values or recording is None:
        return {}
    shots = [acquisition.shots[index] for index in sorted(values)]
    counts = [len(shot.receivers) for shot in shots]
    numbers = np.repeat([shot.index for shot in shots], counts)
    distances = np.concatenate([shot.distances for shot in shots])
    peaks, rest, kinds = (np.concatenate([values[shot.index][n] for shot in shots]) for n in range(3))
    of_all = limits_of(numbers, distances, peaks, rest, kinds)
    found = {}
    for shot, limits, high in zip(shots, *(np.split(a, np.cumsum(counts)[:-1]) for a in (of_all, peaks)), strict=True):
        bad, suspects = np.isfinite(limits), _suspects(recording, shot)
        if suspects is not None:  # of all traces of the survey, where here some may have been selected
            bad = suspects
            limits = np.where(np.isfinite(limits), limits, high[~bad].max(initial=0.0))
        if bad.any():
            loud = np.flatnonzero(bad)
            found[shot.index] = Found(loud, high[loud], limits[loud])
    return found


def _suspects(recording: Recording, shot: Shot) -> npt.NDArray[np.bool_] | None:
    """Which traces (n,) of a shot an index has found to be loud; None where nobody has looked."""
    gather = recording.gathers[shot.index]
    suspects = np.zeros(len(gather.file), np.bool_)
    for number, rows, traces in gather.by_file():
        of_file = recording.suspects[number]
        if of_file is None:
            return None
        suspects[rows] = of_file[traces]
    return suspects


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
