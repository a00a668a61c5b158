"""Chunks: some traces of a file, from its bytes to rows of the index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer import _native
from fathometer.base.errors import InputError
from fathometer.storage import atomic
from fathometer.storage.index.anomalies import RANGES, UNUSABLE, Flag
from fathometer.storage.index.words import DEFAULTS, TYPES, Word
from fathometer.storage.reading import reading
from fathometer.storage.traces.amplitudes import peaks_of
from fathometer.storage.traces.doubts import WORDS, Doubts
from fathometer.storage.traces.extension import extension_fields, overridden
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.format_doubts import format_doubts
from fathometer.storage.traces.headers import FIELDS, FOOT, HEADER, fields_of, swap_pairs
from fathometer.storage.traces.intervals import contradicting, intervals_of
from fathometer.storage.traces.segy import LIVE, SAME_PLACE, positions, scaled

CHUNK_BYTES = 1 << 22  # of traces read at a time, which stay in the processor's cache
WHOLE, LARGEST_WHOLE = ("shot", "channel"), 2.0**53  # words that must be whole numbers, also where they are floats
SHOTS_OF_A_FILE = 1_000_000  # whose numbers tell shots of different files apart: shot 7 of the second is 2000007
SOUND, NO_NUMBER = 1, 2  # bits of native/core/traces.hpp
_SEEDS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
_MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # splitmix64 (Steele, Lea, Flood 2014)


@dataclass(frozen=True)
class Span:
    """Consecutive traces of one of the files, by its number."""

    file: int
    layout: Layout
    first: int
    count: int


@dataclass(frozen=True)
class Chunk:
    """n rows of the index, in the order of the file, and a summary of them.

    Attributes:
        columns: (n,) each: trace, shot, channel, source_x … receiver_z (m), offset (m), interval (s), samples, delay
            (s), flags.
        hashes: two of (n,) uint64, each of shot, channel, source and receiver.
        doubts: words that nothing uses, and values that are hardly meant (traces/doubts.py).
        peaks: largest magnitudes p and q (n,) of the samples (traces/amplitudes.py). codes: trace identification codes.
        samplings: how traces that can be used are sampled (samples; interval and delay in s), and how many.
        sources: of these, each trace whose shot or source differs from the one before: trace, shot, source (3,) in m.
        units: codes of the coordinates' units; largest: magnitude of the coordinates, as they stand in the file.
        kinds: trace identification codes of traces that can be used.
        placed: whether any coordinate is not 0.
        examples: of each flag, the first trace that has it, and what was found there.
        format_notes: of a file's first chunk, what samples look like that are hardly of the declared format.
        fault: why the traces could not be read, if so; all else is that of zeros.
    """

    span: Span
    columns: dict[str, NDArray[Any]]
    hashes: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    peaks: tuple[NDArray[np.float64], NDArray[np.float64]]
    codes: NDArray[np.float64]
    doubts: Doubts
    samplings: dict[tuple[int, float, float], int]
    sources: list[tuple[int, int, NDArray[np.float64]]]
    units: frozenset[int]
    kinds: frozenset[int]
    largest: float
    placed: bool
    examples: dict[Flag, tuple[int, str]]
    format_notes: tuple[str, ...] = ()
    fault: str = ""


def spans(file: int, layout: Layout) -> Iterator[Span]:
    """The traces of a file, in spans of about CHUNK_BYTES."""
    step = max(1, CHUNK_BYTES // layout.trace_bytes)
    for first in range(0, layout.traces, step):
        yield Span(file, layout, first, min(step, layout.traces - first))


def read_chunk(span: Span, words: Mapping[str, Word], buffer: NDArray[np.uint8]) -> Chunk:
    """Read the traces of a span. buffer: uint8, at least as many as the traces have bytes.

    InputError where the file cannot be read, ends too soon, or holds no samples of the declared format.
    """
    layout = span.layout
    rows = buffer[: span.count * layout.trace_bytes].reshape(span.count, layout.trace_bytes)
    with reading(layout.path):
        handle = os.open(layout.path, os.O_RDONLY)
        try:
            size = atomic.read_at(handle, rows.reshape(-1).data, layout.start + span.first * layout.trace_bytes)
        finally:
            os.close(handle)
    if size < rows.size:
        raise InputError(f"{layout.path}: became shorter while it was read")
    if layout.pairs:
        rows = _straight(rows, layout)
    little = layout.order == "<"
    states = np.empty(span.count, np.uint8)
    _native.trace_states(rows, little, layout.header_bytes, layout.format, states)
    head = header_words(rows, little, words)
    extension = {  # a word that the user chose counts
        name: values
        for name, values in extension_fields(rows, layout, straight=True).items()
        if name in words and words[name] == DEFAULTS[name]
    }
    head["shot"] = overridden("shot", head["shot"], extension)
    if words["shot"].by_file:
        within = head["shot"]
        head["shot"] = np.where((within >= 0) & (within < SHOTS_OF_A_FILE), within, np.nan)
        head["shot"] += SHOTS_OF_A_FILE * (span.file + 1)
    chunk = _chunk(span, head, states, extension, peaks_of(rows, layout, straight=True))
    unused = {name: fields_of(rows[:, :HEADER], *FIELDS[name], layout.order) for name in WORDS if name not in head}
    chunk.doubts.add(unused | head, chunk.columns, np.isin(head["kind"], LIVE), span.first)
    return chunk if span.first else replace(chunk, format_notes=tuple(format_doubts(layout)))


def _straight(rows: NDArray[np.uint8], layout: Layout) -> NDArray[np.uint8]:
    """Traces as stored with the bytes of each pair put in order; samples of one byte stay."""
    swapped = layout.trace_bytes if layout.sample_type.itemsize > 1 else layout.header_bytes
    return np.concatenate((swap_pairs(rows[:, :swapped]), rows[:, swapped:]), axis=1)


def unread(span: Span, words: Mapping[str, Word], fault: str) -> Chunk:
    """A chunk in place of one that could not be read: rows are counted before it is known whether all can be."""
    nothing = np.zeros(span.count)
    chunk = _chunk(span, dict.fromkeys(words, nothing), np.zeros(span.count, np.uint8), {}, (nothing, nothing))
    return replace(chunk, fault=fault, samplings={}, sources=[], examples={})


def header_words(rows: NDArray[np.uint8], little: bool, words: Mapping[str, Word]) -> dict[str, NDArray[np.float64]]:
    """Header words, each float64 (n,), of traces as stored, uint8 (n, bytes of a trace)."""
    present = {name: word for name, word in words.items() if word.place}
    values = np.empty((len(present), len(rows)))
    places = np.array([word.place - 1 for word in present.values()], np.int64)
    kinds = np.array([TYPES.index(word.type) for word in present.values()], np.int32)
    _native.trace_words(rows, little, places, kinds, values)
    nothing = np.zeros(len(rows))
    return {name: nothing for name in words} | dict(zip(present, values, strict=True))


def _chunk(
    span: Span,
    head: dict[str, NDArray[np.float64]],
    states: NDArray[np.uint8],
    extension: Mapping[str, NDArray[Any]],
    peaks: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Chunk:
    layout = span.layout
    all_valid = np.ones(span.count, bool)
    for name, values in head.items():
        valid = np.isfinite(values)
        if name in WHOLE:
            valid &= (values == np.rint(values)) & (np.abs(values) < LARGEST_WHOLE)
        if not valid.all():
            all_valid &= valid
            head[name] = np.where(valid, values, 0.0)
    scalar = head["time_scalar"] if layout.revision >= 1 else np.zeros(span.count)
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond all numbers is no place, see below
        bounded = positions(head, extension) | {"delay": scaled(head["delay"], scalar) / 1000}
    for name, values in bounded.items():
        least, most = RANGES[name]
        valid = (least <= values) & (values <= most)
        if not valid.all():
            all_valid &= valid
            bounded[name] = np.where(valid, values, 0.0)
    delay = bounded.pop("delay")
    coordinates = bounded
    largest = max(
        float(np.abs(coordinates[name]).max()) for name in ("source_x", "source_y", "receiver_x", "receiver_y")
    )
    if layout.feet:
        coordinates = {name: values * FOOT for name, values in coordinates.items()}
    dx = coordinates["receiver_x"] - coordinates["source_x"]
    dy = coordinates["receiver_y"] - coordinates["source_y"]
    columns: dict[str, NDArray[Any]] = {
        "trace": np.arange(span.first, span.first + span.count),
        "shot": head["shot"].astype(np.int64),
        "channel": head["channel"].astype(np.int64),
        **coordinates,
        "offset": np.sqrt(dx * dx + dy * dy),
        "interval": intervals_of(layout, head["interval"]),
        "samples": np.full(span.count, layout.samples, np.int32),
        "delay": delay,
    }
    flagged = {
        Flag.DEAD: ~np.isin(head["kind"], LIVE),
        Flag.ZERO: states & SOUND == 0,
        Flag.NO_NUMBER: states & NO_NUMBER != 0,
        Flag.SAMPLES: (head["samples"] != 0) & (head["samples"] != layout.samples) & (layout.samples < 65536),
        Flag.INTERVAL: contradicting(layout, head["interval"]),
        Flag.NO_INTERVAL: columns["interval"] <= 0,
        Flag.NO_PLACE: ~all_valid,
    }
    texts = {
        Flag.DEAD: lambda k: f"trace identification code {head['kind'][k]:g}",
        Flag.SAMPLES: lambda k: f"{head['samples'][k]:g} samples, {layout.samples} in the file",
        Flag.INTERVAL: lambda k: f"{head['interval'][k]:g} µs, {1e6 * layout.interval:g} µs in the file",
        Flag.NO_INTERVAL: lambda k: f"{head['interval'][k]:g} µs",
    }
    flags, examples = np.zeros(span.count, np.uint16), {}
    for flag, mask in flagged.items():
        if mask.any():
            flags |= np.where(mask, np.uint16(flag), np.uint16(0))
            k = int(np.argmax(mask))
            examples[flag] = (span.first + k, texts[flag](k) if flag in texts else "")
    columns["flags"] = flags
    usable = np.flatnonzero(flags & np.uint16(UNUSABLE) == 0)
    keys = [columns["shot"], columns["channel"], *coordinates.values()]
    return Chunk(
        span=span,
        columns=columns,
        hashes=(_hash(keys, _SEEDS[0]), _hash(keys, _SEEDS[1])),
        peaks=peaks,
        codes=head["kind"],
        doubts=Doubts(),
        samplings=_samplings(columns, usable),
        sources=_sources(columns, usable),
        units=frozenset(np.unique(head["coordinate_units"]).astype(int).tolist()),
        kinds=frozenset(np.unique(head["kind"][usable]).astype(int).tolist()),
        largest=largest,
        placed=any(coordinates[f"{what}_{axis}"].any() for what in ("source", "receiver") for axis in "xy"),
        examples=examples,
    )


def _samplings(columns: dict[str, NDArray[Any]], usable: NDArray[np.int64]) -> dict[tuple[int, float, float], int]:
    keys = [columns[name][usable] for name in ("samples", "interval", "delay")]
    if not len(usable):
        return {}
    if all((key == key[0]).all() for key in keys):
        return {(int(keys[0][0]), float(keys[1][0]), float(keys[2][0])): len(usable)}
    kinds, counts = np.unique(np.stack(keys, axis=1), axis=0, return_counts=True)
    pairs = zip(kinds.tolist(), counts.tolist(), strict=True)
    return {(int(samples), interval, delay): count for (samples, interval, delay), count in pairs}


def _sources(columns: dict[str, NDArray[Any]], usable: NDArray[np.int64]) -> list[tuple[int, int, NDArray[np.float64]]]:
    shot, source = columns["shot"][usable], [columns[f"source_{axis}"][usable] for axis in "xyz"]
    begins = np.ones(len(usable), bool)
    begins[1:] = np.diff(shot) != 0
    for coordinate in source:
        begins[1:] |= np.abs(np.diff(coordinate)) > SAME_PLACE
    return [
        (int(columns["trace"][usable[row]]), int(shot[row]), np.array([coordinate[row] for coordinate in source]))
        for row in np.flatnonzero(begins)
    ]


def _hash(columns: list[NDArray[Any]], seed: int) -> NDArray[np.uint64]:
    """Hashes (n,) of the rows of columns (n,) of 64 bits each."""
    hashes = np.full(len(columns[0]), seed, np.uint64)
    for column in columns:
        hashes ^= column.view(np.uint64)
        for shift, factor in zip((30, 27), _MULTIPLIERS, strict=True):
            hashes ^= hashes >> np.uint64(shift)
            hashes *= np.uint64(factor)
        hashes ^= hashes >> np.uint64(31)
    return hashes
