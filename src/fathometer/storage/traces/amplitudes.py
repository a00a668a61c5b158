"""Traces with a spike, and traces far louder than those beside them.

The traces of a shot are compared with those of the same sensor (trace identification code) at the nearest distances
from the source, up to NEIGHBOURS on either side in that order; traces of zeros do not count. With p the largest
magnitude of a trace and q that of its samples farther than BESIDE samples from there, a trace

    has a spike       where p > SPIKE q and p > max(SPIKE, 2 f) times the lower quartile of p of its neighbours
    is too loud       where p > max(LOUD, 10 f) times the median of p of its neighbours

f allows for the amplitude near a source, which falls with the square of the distance at most:
f = ((h + s) / (o + s))^2, h the median distance of the neighbours, o that of the trace, s half the median step between
distances. A shot is too loud where the median of its p is above LOUD times that of all shots. Traces of a sensor of
which a shot has no more than LEAST are judged together with those of the other shots; where there are no more than that
in all, or all distances are one, nothing is judged.
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


def limits_of(
    shots: NDArray[np.int64], distances: Floats, peaks: Floats, rest: Floats, kinds: NDArray[np.int64]
) -> Floats:
    """For each trace (n,) the largest magnitude that fits the others, inf where it is sound.

    shots: numbers of their shots. distances: from the source, m. peaks, rest: p and q as above. kinds: trace
    identification codes.
    """
    limits = np.full(len(peaks), np.inf)
    alive = np.flatnonzero(peaks > 0)
    for kind in np.unique(kinds[alive]):
        same = alive[kinds[alive] == kind]
        order = same[np.argsort(shots[same], kind="stable")]
        few: list[NDArray[np.int64]] = []
        medians, groups = [], np.split(order, np.flatnonzero(np.diff(shots[order])) + 1)
        for some in groups:
            if len(some) <= LEAST:
                few.append(some)
                continue
            medians.append(float(np.median(peaks[some])))
            limits[some] = _limits_of_group(distances[some], peaks[some], rest[some])
        if few:
            pooled = np.concatenate(few)
            limits[pooled] = _limits_of_group(distances[pooled], peaks[pooled], rest[pooled])
        if len(medians) > LEAST:
            most = LOUD * float(np.median(medians))
            for some in groups:
                if len(some) > LEAST and np.median(peaks[some]) > most:
                    limits[some] = most / LOUD
    return limits


def _limits_of_group(distances: Floats, peaks: Floats, rest: Floats) -> Floats:
    """The limits of traces that are compared with each other, none of zeros."""
    limits = np.full(len(peaks), np.inf)
    if len(peaks) <= LEAST or not np.ptp(distances) > 0:
        return limits
    order = np.argsort(distances, kind="stable")
    away, high, low = distances[order], peaks[order], rest[order]
    parts = [np.arange(n, min(n + _ROWS_AT_ONCE, len(order))) for n in range(0, len(order), _ROWS_AT_ONCE)]
    bad = np.concatenate([_bad(rows, away, high, low) for rows in parts])
    sound = np.where(bad, 0.0, high)
    for rows in parts:
        some = rows[bad[rows]]
        others = _neighbours(some, len(order))
        fits = sound[others].max(axis=1, initial=0.0)  # of the sound ones beside it
        fits = np.where(fits > 0, fits, np.median(high[others], axis=1))
        limits[order[some]] = np.where(low[some] > SPIKE * fits, fits, np.maximum(low[some], fits))
    return limits


def _neighbours(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Numbers (rows, k) of the traces that are compared with these, in the order of distance."""
    width = min(2 * NEIGHBOURS + 1, count)
    window = np.clip(rows - NEIGHBOURS, 0, count - width)[:, None] + np.arange(width)
    others: NDArray[np.int64] = window[window != rows[:, None]].reshape(len(rows), width - 1)
    return others


def _bad(rows: NDArray[np.int64], distances: Floats, peaks: Floats, rest: Floats) -> NDArray[np.bool_]:
    """Which of some traces, by their numbers in arrays in the order of distance, have a spike or are too loud."""
    others = _neighbours(rows, len(peaks))
    sizes = np.sort(peaks[others], axis=1)
    quartile, median = sizes[:, sizes.shape[1] // 4], np.median(sizes, axis=1)
    steps = np.diff(distances)
    step = 0.5 * float(np.median(steps[steps > 0]))
    near = np.maximum((np.median(distances[others], axis=1) + step) / (distances[rows] + step), 1.0) ** 2
    spike = (peaks[rows] > SPIKE * rest[rows]) & (peaks[rows] > np.maximum(SPIKE, 2 * near) * quartile)
    return np.asarray(spike | (peaks[rows] > np.maximum(LOUD, 10 * near) * median))
