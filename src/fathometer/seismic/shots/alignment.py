"""One time axis for traces that begin at different times, are of different lengths, or are sampled differently.

A trace whose samples lie on the common axis keeps them, to the bit; one that lies a fraction of a sample beside it, or
has another sample interval, goes through the resampler (traces/resampling.py), whose pass band ends at PASS_BAND of the
coarser side's Nyquist frequency. Outside its samples a trace is zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.traces.resampling import resample
from fathometer.storage.traces.segy import TraceTable

PASS_BAND = 0.75  # of the Nyquist frequency
ON_A_SAMPLE = 1e-4  # of a sample: delays are decimal fractions
LONGEST = 10  # lengths of the longest trace: a common axis beyond is an error of a header rather than a survey

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alignment:
    """The common time axis, and where the traces of each file lie on it.

    Attributes:
        start: time of its first sample, s. interval: s. samples: of it.
        delays, intervals: of each file, (traces,), s: of all traces, dead ones too.
    """

    start: float
    interval: float
    samples: int
    delays: tuple[Floats, ...]
    intervals: tuple[Floats, ...]

    def __call__(
        self, file: int, numbers: npt.NDArray[np.int64], traces: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Traces (n, samples) on the common axis, of traces (n, ns) of a file with these numbers (n,)."""
        delays, intervals = self.delays[file][numbers], self.intervals[file][numbers]
        if traces.shape[1] == self.samples and np.all(delays == self.start) and np.all(intervals == self.interval):
            return traces
        aligned = np.zeros((len(traces), self.samples), np.float32)
        kinds, of_kind = np.unique(np.stack((delays, intervals), axis=1), axis=0, return_inverse=True)
        for kind, (delay, interval) in enumerate(kinds.tolist()):
            rows = np.flatnonzero(of_kind.reshape(-1) == kind)
            if interval == self.interval and on_a_sample(delay - self.start, interval):
                first = round((delay - self.start) / interval)
                some = traces[rows, : self.samples - first]
                aligned[rows, first : first + some.shape[1]] = some
                continue
            fmax = PASS_BAND * 0.5 / max(interval, self.interval)
            with np.errstate(over="ignore", invalid="ignore"):  # read_traces has refused what is not finite
                aligned[rows] = resample(traces[rows], delay, interval, self.start, self.interval, self.samples, fmax)
        return aligned

    def words(self, file: int, numbers: npt.NDArray[np.int64]) -> bytes:
        """What the place of some traces of a file on the axis depends on, for a hash; b"" where all lie as the axis."""
        delays, intervals = self.delays[file][numbers], self.intervals[file][numbers]
        if np.all(delays == self.start) and np.all(intervals == self.interval):
            return b""
        return delays.tobytes() + intervals.tobytes()


def on_a_sample(shift: float, interval: float) -> bool:
    """Whether a shift (s) is a whole number of sample intervals (s)."""
    samples = shift / interval
    return abs(samples - round(samples)) <= ON_A_SAMPLE


def alignment_of(name: str, tables: Sequence[TraceTable]) -> tuple[Alignment, tuple[str, ...]]:
    """The common axis of the live traces of files, and notes on those that do not lie on it as they are.

    It has the most frequent sample interval, of several the first, and reaches from the first to the last sample of
    all. name: of the survey, for messages. Raises InputError where it would be far longer than any trace.
    """
    live = [np.flatnonzero(table.live) for table in tables]
    delays, intervals = (
        np.concatenate([getattr(table, what)[rows] for table, rows in zip(tables, live, strict=True)])
        for what in ("delays", "intervals")
    )
    lengths = np.concatenate([np.full(len(rows), table.samples) for table, rows in zip(tables, live, strict=True)])
    if not len(delays):  # the caller says so
        first = tables[0]
        delays, intervals, lengths = first.delays[:1], first.intervals[:1], np.array([first.samples])
    kinds, first_of, counts = np.unique(intervals, return_index=True, return_counts=True)
    interval = float(kinds[min(range(len(kinds)), key=lambda kind: (-counts[kind], first_of[kind]))])
    start, end = float(delays.min()), float((delays + (lengths - 1) * intervals).max())
    if len(kinds) == 1 and np.all(delays == start):
        samples = int(lengths.max())
    else:
        _check_spread(name, delays, float(((lengths - 1) * intervals).max()))
        samples = math.ceil((end - start) / interval - ON_A_SAMPLE) + 1
    alignment = Alignment(
        start, interval, samples, tuple(table.delays for table in tables), tuple(table.intervals for table in tables)
    )
    return alignment, _notes(name, alignment, delays, intervals, lengths)


def _check_spread(name: str, delays: Floats, longest: float) -> None:
    spread = float(np.ptp(delays))
    if not spread <= LONGEST * longest:
        raise InputError(
            f"{name}: [acquisition] gathers: found traces that begin from {delays.min():g} to {delays.max():g} s by "
            f"their delays; allowed: a spread of up to {LONGEST * longest:g} s, {LONGEST} times the longest trace"
        )


def _notes(
    name: str, alignment: Alignment, delays: Floats, intervals: Floats, lengths: npt.NDArray[np.int64]
) -> tuple[str, ...]:
    """What was aligned, and how; none where all traces lie on the axis as they are."""
    notes = []
    late = (delays - alignment.start) / alignment.interval
    same = intervals == alignment.interval
    if np.any(late != 0):
        beside = int(np.count_nonzero(same & (np.abs(late - np.rint(late)) > ON_A_SAMPLE)))
        shifted = f", {beside} of them shifted by a fraction of a sample through the resampler" if beside else ""
        notes.append(
            f"{name}: {np.count_nonzero(late != 0)} of {len(delays)} traces begin later than the first, from "
            f"{delays.min():g} to {delays.max():g} s by their delays: aligned{shifted}"
        )
    if not same.all():
        others = ", ".join(f"{1e6 * value:.10g}" for value in np.unique(intervals[~same])[:3])
        notes.append(
            f"{name}: {np.count_nonzero(~same)} of {len(delays)} traces have a sample interval of {others} µs: "
            f"resampled to the {1e6 * alignment.interval:.10g} µs of most"
        )
    if len(shorter := np.unique(lengths)) > 1:
        notes.append(f"{name}: traces have {shorter[0]} to {shorter[-1]} samples: each is zero outside its own")
    return tuple(notes)
