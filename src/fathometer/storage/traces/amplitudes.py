"""Traces with a spike, and traces far louder than those beside them, or than other shots.

The traces of a shot are compared with those of the same sensor (trace identification code) at the nearest distances
from the source, up to NEIGHBOURS on either side in that order; traces of zeros do not count. With p the largest
magnitude of a trace and q that of its samples farther than BESIDE samples from there, a trace

    has a spike       where p > SPIKE q and p > max(SPIKE g, 2 f) times the lower quartile of p of its neighbours
    is too loud       where p > max(LOUD g, 10 f) times the median of p of its neighbours, and p > LOUD times that of
                      all but the loudest eighth of them: what several neighbours are is no fault

Many loud traces side by side are told by more neighbours, up to WIDE on either side: a trace is also too loud where p
is above max(LOUD g, 10 f) times their median and above LOUD times that of all but the loudest PART of them, and

    at least SURROUNDING of them nearer to the source and as many farther from it are LOUD times quieter, or p is above
    LOUD times what fits at like distances in other shots (below), so that no distance explains it; and
    a quarter of the quieter ones are not WEAK times below what fits them by other shots, or p is above LOUD times what
    fits there, or at the next smaller distance where that is known: else the quieter ones are at fault.

It takes more than 2 NEIGHBOURS + 1 traces.

f and g allow for amplitudes that fall with the distance. With h the median distance of the neighbours, o that of the
trace, s half the median step between distances, f = ((h + s) / (o + s))^2; g is what the median slope of the
neighbours' amplitudes over the distance, or over its logarithm, makes of the way from h to o.

Shots are compared at like distances, in bins of LIKE: what fits in a bin is the largest p of a shot there, of all
other shots but the loudest quarter. In a shot of which at least PART of the traces is above LOUD times what fits, and
the loudest above LOUD times what fits anywhere, these traces are too loud; in its other bins what fits is that of
the most like distance. It takes three shots that share distances.

What is found is set aside, and the rest judged again, up to PASSES in all: so that bad traces do not hide others.

Traces of a sensor of which a shot has no more than LEAST are judged together with those of the other shots; where there
are no more than that in all, or all distances are one, nothing is judged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fathometer import _native
from fathometer.storage.traces.file_layout import CHUNK_BYTES, Layout
from fathometer.storage.traces.headers import FIELDS, HEADER, fields_of, swap_pairs

SPIKE, LOUD = 10.0, 50.0
BESIDE = 2  # samples
NEIGHBOURS, WIDE = 8, 128  # traces
PART = 0.2
SURROUNDING = 2  # traces
WEAK = 10.0
PASSES = 3
LEAST = 4  # traces
FEWEST_SHOTS = 3  # that share distances
LIKE = 1.25  # ratio of the ends of a bin of distances
NEAREST = 0.1  # m: what is nearer counts as that
STEEPEST = 4.0  # power of the distance with which amplitudes fall
_ROWS_AT_ONCE, _ROWS_OF_PAIRS = 1 << 14, 1 << 12  # bound the workspace

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
        groups = np.split(order, np.flatnonzero(np.diff(shots[order])) + 1)
        many = [some for some in groups if len(some) > LEAST]
        few = [some for some in groups if len(some) <= LEAST]
        if few:
            pooled = np.concatenate(few)
            nothing = np.zeros(len(pooled))
            limits[pooled] = _limits_of_group(distances[pooled], peaks[pooled], rest[pooled], nothing, nothing > 0)
        for _ in range(PASSES):
            many = [some for some in many if len(some) > LEAST and np.ptp(distances[some]) > 0]
            if not many:
                break
            fits, loud = _beside_other_shots(many, distances, peaks)
            for some in many:
                limits[some] = _limits_of_group(distances[some], peaks[some], rest[some], fits[some], loud[some])
            left = [some[np.isinf(limits[some])] for some in many]
            if sum(map(len, left)) == sum(map(len, many)):
                break
            many = left
    return limits


def _beside_other_shots(
    groups: list[NDArray[np.int64]], distances: Floats, peaks: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """What fits each trace by the other shots at like distances, 0 where too few are known, and which traces are too
    loud beside it; of all traces. groups: the traces of shots."""
    fits, loud = np.zeros(len(peaks)), np.zeros(len(peaks), bool)
    if len(groups) < FEWEST_SHOTS:
        return fits, loud
    rows = np.concatenate(groups)
    shot = np.repeat(np.arange(len(groups)), [len(some) for some in groups])
    bins = np.floor(np.log(np.maximum(distances[rows], NEAREST)) / np.log(LIKE)).astype(np.int64)
    cells, cell = np.unique(bins * len(groups) + shot, return_inverse=True)
    largest = np.zeros(len(cells))
    np.maximum.at(largest, cell, peaks[rows])
    fits[rows] = _others(cells // len(groups), largest)[cell]
    for some in groups:
        known = some[fits[some] > 0]
        above = peaks[known] > LOUD * fits[known]
        if np.count_nonzero(above) >= max(PART * len(known), 1) and peaks[known].max() > LOUD * fits[known].max():
            fits[some] = _nearest(distances[some], fits[some])
            loud[some] = peaks[some] > LOUD * fits[some]
    return fits, loud


def _nearest(distances: Floats, fits: Floats) -> Floats:
    """What fits the traces of a shot, and where that is 0 what fits the one of most like distance; nearer the source
    more."""
    places, known = np.log(np.maximum(distances, NEAREST)), np.flatnonzero(fits > 0)
    order = known[np.argsort(places[known], kind="stable")]
    between = 0.5 * (places[order][1:] + places[order][:-1])
    like = order[np.searchsorted(between, places)]
    return np.asarray(np.where(fits > 0, fits, fits[like] * np.exp(2 * np.maximum(places[like] - places, 0.0))))


def _others(bins: NDArray[np.int64], largest: Floats) -> Floats:
    """For each cell (n,) of a bin and a shot, the largest in that bin of the other shots but the loudest quarter of
    them; 0 where these are fewer than FEWEST_SHOTS - 1."""
    fits = np.zeros(len(bins))
    for cells in np.split(np.arange(len(bins)), np.flatnonzero(np.diff(bins)) + 1):
        others = len(cells) - 1
        if others < FEWEST_SHOTS - 1:
            continue
        order = np.argsort(largest[cells], kind="stable")
        sizes, wanted = largest[cells][order], others - 1 - others // 4
        rank = np.empty(len(cells), np.int64)
        rank[order] = np.arange(len(cells))
        fits[cells] = np.where(rank > wanted, sizes[wanted], sizes[wanted + 1])
    return fits


def _limits_of_group(
    distances: Floats, peaks: Floats, rest: Floats, of_others: Floats, loud: NDArray[np.bool_]
) -> Floats:
    """The limits of traces that are compared with each other, none of zeros. of_others: what fits by other shots, 0
    where that is unknown. loud: those that are too loud beside these."""
    limits = np.full(len(peaks), np.inf)
    if len(peaks) <= LEAST or not np.ptp(distances) > 0:
        return limits
    order = np.argsort(distances, kind="stable")
    away, high, low, known = distances[order], peaks[order], rest[order], of_others[order]
    parts = [np.arange(n, min(n + _ROWS_AT_ONCE, len(order))) for n in range(0, len(order), _ROWS_AT_ONCE)]
    bad = np.concatenate([_bad(rows, away, high, low) for rows in parts]) | loud[order]
    bad |= _loud_among_many(away, high, known)
    sound = np.where(bad, 0.0, high)
    for rows in parts:
        some = rows[bad[rows]]
        others = _neighbours(some, len(order))
        fits = sound[others].max(axis=1, initial=0.0)  # of the sound ones beside it
        fits = np.where((fits > 0) & ~loud[order][some], fits, known[some])
        left = np.flatnonzero(fits <= 0)
        fits[left] = _middle(sound[_neighbours(some[left], len(order), WIDE)])
        fits = np.where(fits > 0, fits, np.median(high[others], axis=1))
        limits[order[some]] = np.where(low[some] > SPIKE * fits, fits, np.maximum(low[some], fits))
    return limits


def _middle(sizes: Floats) -> Floats:
    """The median of what is above 0 in each row, 0 where nothing is."""
    ranked = np.sort(np.where(sizes > 0, sizes, np.inf), axis=1)
    count = np.count_nonzero(sizes > 0, axis=1)
    return np.asarray(np.where(count > 0, ranked[np.arange(len(ranked)), np.maximum(count - 1, 0) // 2], 0.0))


def _loud_among_many(distances: Floats, peaks: Floats, of_others: Floats) -> NDArray[np.bool_]:
    """Which traces (n,), in the order of distance, are too loud beside up to WIDE others on either side."""
    found = np.zeros(len(peaks), bool)
    if len(peaks) <= 2 * NEIGHBOURS + 1:
        return found
    rows = np.flatnonzero(peaks > LOUD * _least_levels(peaks))
    before = of_others[np.maximum.accumulate(np.where(of_others > 0, np.arange(len(peaks)), 0))]
    for first in range(0, len(rows), _ROWS_OF_PAIRS):
        some = rows[first : first + _ROWS_OF_PAIRS]
        others = _neighbours(some, len(peaks), WIDE)
        sizes, own = peaks[others], peaks[some]
        ranked = np.sort(sizes, axis=1)
        median, most = np.median(ranked, axis=1), ranked[:, -1 - int(PART * ranked.shape[1])]
        near = _nearness(distances, some, others)
        loud = (own > np.maximum(LOUD, 10 * near) * median) & (own > LOUD * most)
        quiet = LOUD * sizes < own[:, None]
        sides = [np.count_nonzero(quiet & side, axis=1) for side in (others < some[:, None], others > some[:, None])]
        fits, ranges = of_others[some], of_others[others]
        loud &= (np.minimum(*sides) >= SURROUNDING) | ((fits > 0) & (own > LOUD * fits))
        known = quiet & (ranges > 0)
        sound = known & (WEAK * sizes > ranges)
        beyond = (before[some] > 0) & (own > LOUD * before[some])
        loud &= (4 * np.count_nonzero(sound, axis=1) >= np.count_nonzero(known, axis=1)) | beyond
        some, others, own, median = some[loud], others[loud], own[loud], median[loud]
        picked = others[:, np.linspace(0, others.shape[1] - 1, 4 * NEIGHBOURS).astype(np.int64)]
        found[some[own > LOUD * _trend(some, picked, distances, peaks) * median]] = True
    return found


def _least_levels(peaks: Floats) -> Floats:
    """For each trace (n,) what is not above the `most` of its neighbours in _loud_among_many: the lower median of half
    of them."""
    width = min(2 * WIDE + 1, len(peaks))
    half = width // 2
    parts = peaks[: len(peaks) // half * half].reshape(-1, half)
    levels = np.sort(parts, axis=1)[:, (half - 1) // 2]
    starts = np.clip(np.arange(len(peaks)) - WIDE, 0, len(peaks) - width)
    return np.asarray(levels[-(-starts // half)])


def _neighbours(rows: NDArray[np.int64], count: int, reach: int = NEIGHBOURS) -> NDArray[np.int64]:
    """Numbers (rows, k) of the traces that are compared with these, up to `reach` on either side, in the order of
    distance."""
    width = min(2 * reach + 1, count)
    window = np.clip(rows - reach, 0, count - width)[:, None] + np.arange(width)
    others: NDArray[np.int64] = window[window != rows[:, None]].reshape(len(rows), width - 1)
    return others


def _bad(rows: NDArray[np.int64], distances: Floats, peaks: Floats, rest: Floats) -> NDArray[np.bool_]:
    """Which of some traces, by their numbers in arrays in the order of distance, have a spike or are too loud."""
    others = _neighbours(rows, len(peaks))
    sizes = np.sort(peaks[others], axis=1)
    width = sizes.shape[1]
    quartile, median, most = sizes[:, width // 4], np.median(sizes, axis=1), sizes[:, width - 1 - width // 8]
    near, own = _nearness(distances, rows, others), peaks[rows]
    spike = (own > SPIKE * rest[rows]) & (own > np.maximum(SPIKE, 2 * near) * quartile)
    loud = (own > np.maximum(LOUD, 10 * near) * median) & (own > LOUD * most)
    for first in range(0, len(rows), _ROWS_OF_PAIRS):
        part = first + np.flatnonzero((spike | loud)[first : first + _ROWS_OF_PAIRS])
        if not len(part):
            continue
        trend = _trend(rows[part], others[part], distances, peaks)
        spike[part] &= own[part] > SPIKE * trend * quartile[part]
        loud[part] &= own[part] > LOUD * trend * median[part]
    return np.asarray(spike | loud)


def _nearness(distances: Floats, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
    """f of traces among others (rows, k)."""
    steps = np.diff(distances)
    step = 0.5 * float(np.median(steps[steps > 0]))
    return np.asarray(np.maximum((np.median(distances[others], axis=1) + step) / (distances[rows] + step), 1.0) ** 2)


def _trend(rows: NDArray[np.int64], others: NDArray[np.int64], distances: Floats, peaks: Floats) -> Floats:
    """By how much traces may be louder than the middle of others (rows, k), at least 1, as the amplitudes of these fall
    with the distance: by a power of it, or exponentially no farther from them than they reach."""
    here, there = distances[rows], distances[others]
    middle, spread = np.median(there, axis=1), np.ptp(there, axis=1)
    nearest = np.maximum(here, there.min(axis=1) - spread)
    levels = np.log(peaks[others])
    power = np.minimum(-_slope(np.log(np.maximum(there, NEAREST)), levels), STEEPEST)
    ratios = np.log(np.maximum(middle, NEAREST) / np.maximum(here, NEAREST))
    falls = (power * ratios, -_slope(there, levels) * (middle - nearest))
    return np.asarray(np.exp(np.clip(np.maximum(*falls), 0.0, 100.0)))


def _slope(places: Floats, levels: Floats) -> Floats:
    """Median slope of all pairs of each row (rows, k): (rows,), at most 0 and 0 where all places are one."""
    one, other = np.triu_indices(places.shape[1], 1)
    run, rise = places[:, other] - places[:, one], levels[:, other] - levels[:, one]
    slopes = np.where(run != 0, rise / np.where(run != 0, run, 1.0), 0.0)
    return np.asarray(np.minimum(np.median(slopes, axis=1), 0.0))
