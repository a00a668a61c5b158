"""Traces with a spike, and traces far louder than those beside them.

The traces of a shot are compared with those of the same sensor (trace identification code) at the nearest offsets, up
to NEIGHBOURS on either side in the order of offset; traces of zeros do not count. With p the largest magnitude of a
trace and q that of its samples farther than BESIDE samples from there, a trace

    has a spike       where p > SPIKE q and p > SPIKE times the second largest p of its neighbours
    is too loud       where p > LOUD f times the median p of its neighbours

f is at least 1 and allows for the amplitude near a source, which falls with the square of the distance at most:
f = ((h + s) / (o + s))^2, h the median offset of the neighbours, o that of the trace, s half the median step between
offsets. The second largest and the median are robust: one bad trace does not hide another. Shots of fewer than LEAST
other traces are not judged, nor those without offsets that differ, which are no gathers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fathometer import _native
from fathometer.storage.traces.headers import FIELDS, HEADER, fields_of, swap_pairs
from fathometer.storage.traces.layout import CHUNK_BYTES, Layout

SPIKE, LOUD = 10.0, 50.0
BESIDE = 2  # samples
NEIGHBOURS = 8  # traces
LEAST = 4  # traces
_ROWS_AT_ONCE = 1 << 14  # bounds the workspace

Floats = NDArray[np.float64]


def peaks_of(stored: NDArray[np.uint8], layout: Layout, straight: bool = False) -> tuple[Floats, Floats]:
    """Largest magnitudes p and q (n,) of traces as stored, uint8 (n, trace_bytes).

    straight: bytes that are swapped in pairs have been put in order.
    """
    if layout.pairs and not straight and layout.sample_type.itemsize > 1:
        stored = swap_pairs(stored)
    peaks, rest = np.empty(len(stored)), np.empty(len(stored))
    little = layout.order == "<"
    _native.trace_peaks(stored, little, layout.header_bytes, layout.format, BESIDE, peaks, rest)
    return peaks, rest


def peaks_in(layout: Layout, numbers: NDArray[np.int64]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The same of chosen traces of a file, and their trace identification codes, (n,) each. InputError where they
    cannot be read."""
    peaks, rest, kinds = np.empty(len(numbers)), np.empty(len(numbers)), np.empty(len(numbers), np.int64)
    step = max(1, CHUNK_BYTES // layout.trace_bytes)
    for first in range(0, len(numbers), step):
        part = slice(first, first + step)
        stored = layout.stored(numbers[part])
        heads = swap_pairs(stored[:, :HEADER]) if layout.pairs else stored[:, :HEADER]
        kinds[part] = fields_of(heads, *FIELDS["kind"], layout.order)
        peaks[part], rest[part] = peaks_of(stored, layout)
    return peaks, rest, kinds


def limits_of(offsets: Floats, peaks: Floats, rest: Floats, kinds: NDArray[np.int64]) -> Floats:
    """For each trace (n,) of a shot the largest magnitude that fits its neighbours, inf where it is sound.

    offsets: horizontal distances from the source, m. peaks, rest: p and q as above. kinds: trace identification codes.
    """
    limits = np.full(len(peaks), np.inf)
    for kind in np.unique(kinds):
        same = np.flatnonzero(kinds == kind)
        limits[same] = _limits_of_one_kind(offsets[same], peaks[same], rest[same])
    return limits


def _limits_of_one_kind(offsets: Floats, peaks: Floats, rest: Floats) -> Floats:
    limits = np.full(len(peaks), np.inf)
    some = np.flatnonzero(peaks > 0)
    if len(some) <= LEAST or not np.ptp(offsets[some]) > 0:
        return limits
    order = some[np.argsort(offsets[some], kind="stable")]
    for first in range(0, len(order), _ROWS_AT_ONCE):
        rows = np.arange(first, min(first + _ROWS_AT_ONCE, len(order)))
        limits[order[rows]] = _limits(rows, offsets[order], peaks[order], rest[order])
    return limits


def _limits(rows: NDArray[np.int64], offsets: Floats, peaks: Floats, rest: Floats) -> Floats:
    """The limits of some traces by their numbers in arrays that are in the order of offset."""
    width = min(2 * NEIGHBOURS + 1, len(peaks))
    begins = np.clip(rows - NEIGHBOURS, 0, len(peaks) - width)
    window = begins[:, None] + np.arange(width)
    others = window[window != rows[:, None]].reshape(len(rows), width - 1)
    sizes = np.sort(peaks[others], axis=1)
    second, median = sizes[:, -2], np.median(sizes, axis=1)
    steps = np.diff(offsets)
    step = 0.5 * float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0
    near = np.maximum((np.median(offsets[others], axis=1) + step) / (offsets[rows] + step), 1.0) ** 2
    spike = (peaks[rows] > SPIKE * rest[rows]) & (peaks[rows] > SPIKE * second)
    loud = peaks[rows] > LOUD * near * median
    within = np.where(rest[rows] > SPIKE * second, second, np.maximum(rest[rows], second))
    return np.where(spike | loud, within, np.inf)
