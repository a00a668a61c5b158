"""Building the index of a survey: all traces of many files are read once, in chunks, by several threads.

    chunks of files -> threads: bytes -> rows -> in order: counted, written into row groups of the table
    then duplicates and files without coordinates, which only all rows together show, are marked in the rows' flags

Memory is that of the chunks in progress, of one row group, and 18 bytes a trace, at the end some 50.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, rate_in_words
from fathometer.base.names import check_script_name
from fathometer.storage import atomic
from fathometer.storage.index import INDEX_SUFFIX
from fathometer.storage.index.anomalies import DECLARED, FORMAT, HEADERS, MOVES, TRUNCATED, UNUSABLE, VOLUME, Flag
from fathometer.storage.index.chunk import Chunk, Span, spans
from fathometer.storage.index.chunk_reader import chunks_in_order
from fathometer.storage.index.duplicates import repeated
from fathometer.storage.index.findings import Findings
from fathometer.storage.index.seal import seal
from fathometer.storage.index.table import IndexedFile, Sampling, Summary, TableWriter, TraceIndex, plain_rows
from fathometer.storage.index.words import Word
from fathometer.storage.number_table import arrow_file
from fathometer.storage.reading import reading
from fathometer.storage.traces.amplitudes import limits_of
from fathometer.storage.traces.detect import tolerant_layout_of
from fathometer.storage.traces.doubts import Doubts
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.notches import Notch, notches_of, spread
from fathometer.storage.traces.purpose import looks_like_volume
from fathometer.storage.traces.segy import PRESSURE, SAME_PLACE, VERTICAL, check_units, decode_traces

MOST_DEPTHS = 1 << 14  # traces of which some are looked at for ghosts
PROGRESS_SECONDS = 10.0  # between lines of progress
MIXED_SENSORS = (
    "holds traces of vertical sensors (trace identification code 12), and there are others of pressure (11): they are "
    "migrated together, as if they had measured the same; to keep them apart, index files of one kind"
)

Say = Callable[[str], None]


def build_index(
    files: Sequence[Path],
    output: Path,
    words: Mapping[str, Word],
    jobs: int,
    strict: bool,
    say: Say,
    interval: float | None = None,
) -> TraceIndex:
    """Write the index of all traces of the files, and open it.

    words: header words, of `words_of`. jobs: threads. strict: the first anomaly is an error. say: prints a line.
    interval: of the samples in s, in place of what all headers say.
    InputError: `output` is no .parquet or one of the files; no file can be indexed; with `strict`, the first anomaly.
    FathometerError where the index cannot be written.
    """
    if output.suffix.lower() != INDEX_SUFFIX:
        raise InputError(f"{output}: allowed for an index: a name that ends in {INDEX_SUFFIX}")
    for path in files:
        if atomic.replaces(output, path):
            raise InputError(f"{output}: is one of the files to be indexed; allowed: another name")
    builder = _Builder(output, words, strict, say, interval)
    with atomic.writing(output), atomic.Parts() as parts:
        part = parts.create(atomic.NewFile(output))
        builder.scan(files, part, jobs)
        if builder.needs_rewriting():
            scanned, part = part, parts.create(atomic.NewFile(output))
            builder.rewrite(scanned, part)
            parts.drop(scanned)
        seal(part)
        atomic.flush_file(part)
    return TraceIndex(output)


class _Builder:
    """State of a build: files, findings, and what rows written before may have to be changed for."""

    def __init__(self, output: Path, words: Mapping[str, Word], strict: bool, say: Say, interval: float | None) -> None:
        self.output, self.words, self.say, self.interval = output, words, say, interval
        self.findings = Findings(strict, say)
        self.layouts: list[Layout] = []
        self.states: list[os.stat_result] = []
        self.rows: list[int] = []  # of each file
        self.refused: dict[int, str] = {}  # files to leave out, with the reason
        self.unplaced: set[int] = set()  # files without coordinates
        self.flags: list[NDArray[np.uint16]] = []
        self.hashes: tuple[list[NDArray[np.uint64]], list[NDArray[np.uint64]]] = ([], [])
        self.loudness: tuple[list[NDArray[np.float64]], ...] = ([], [], [], [], [])  # of each file; see _find_loud
        self.names: list[str] = []
        self.duplicates: NDArray[np.int64] = np.empty(0, np.int64)  # rows
        self.loud: NDArray[np.int64] = np.empty(0, np.int64)  # rows
        self.samplings: Counter[tuple[int, int, float, float]] = Counter()  # by file, samples, interval, delay
        self.sources: dict[int, NDArray[np.float64]] = {}  # (3,) m by shot
        self.moved: set[int] = set()  # shots whose source moves
        self.depths: list[tuple[int, int, float, float]] = []  # of some traces: file, trace, source's, receiver's, m
        self.notches: tuple[Notch, ...] = ()
        self.kinds: dict[int, Path] = {}  # first file of each trace identification code

    # --- the files

    def scan(self, files: Sequence[Path], part: Path, jobs: int) -> None:
        """Read all files, and write their rows into `part`."""
        table = TableWriter(part)
        try:
            done_bytes, start = 0, ledger.now()
            last_line, total_bytes = start, sum(path.stat().st_size for path in files if path.is_file())
            totals = _FileTotals(self)
            for chunk in chunks_in_order(self._spans(files), self.words, jobs):
                totals.add(chunk)
                table.add(self.names[chunk.span.file], chunk.columns)
                done_bytes += chunk.span.count * chunk.span.layout.trace_bytes
                if ledger.now() > last_line + PROGRESS_SECONDS:
                    last_line = ledger.now()
                    self.say(
                        f"{bytes_in_words(done_bytes)} of {bytes_in_words(total_bytes)}, "
                        f"file {chunk.span.file + 1} of {len(files)}, "
                        f"{rate_in_words(done_bytes / (last_line - start))}"
                    )
            totals.close()
            self._finish()
            table.close(self._summary())
        except BaseException:
            table.abandon()
            raise

    def _spans(self, files: Sequence[Path]) -> Iterator[Span]:
        seen: dict[Path, Path] = {}
        for path in files:
            real = Path(os.path.realpath(path))
            if real in seen:
                self.findings.note(f"is {seen[real]} again: taken once", path)
                continue
            seen[real] = path
            try:
                check_script_name(self._name(path), "survey build")  # the index is text in UTF-8
                layout = tolerant_layout_of(path, self.interval)
                with reading(path):
                    state = path.stat()
            except InputError as error:
                self.findings.leave_out(str(error), tell=len(files) > 1)
                continue
            number = len(self.layouts)
            self.layouts.append(layout)
            self.states.append(state)
            self.rows.append(0)
            self.names.append(self._name(path))
            if layout.spare:
                spare = f"{layout.spare} of {layout.trace_bytes} bytes behind trace {layout.traces - 1}"
                self.findings.add(TRUNCATED, 1, f"{path}: {spare}")
            if layout.feet:
                self.findings.note("lengths are in feet by the binary header; converted to metres", path)
            notes = list(layout.notes)
            if layout.given_interval:
                self.findings.note(notes.pop(), path)  # no anomaly: it is what was asked for
            for note in notes:
                self.findings.add(HEADERS, 1, f"{path}: {note}")
            yield from spans(number, layout)

    def trace(self, file: int, trace: int, what: str = "") -> str:
        """Name of a trace, by the numbers of file and trace, and what was found there."""
        layout = self.layouts[file]
        return f"{layout.path}: trace {trace} (of {layout.traces}, from 0){': ' if what else ''}{what}"

    def _name(self, path: Path) -> str:
        folder, real = Path(os.path.realpath(self.output.parent)), Path(os.path.realpath(path))
        return str(real.relative_to(folder)) if real.is_relative_to(folder) else str(real)

    # --- all rows together

    def _finish(self) -> None:
        """Find what only all rows together show. InputError where no file is left."""
        if len(self.refused) == len(self.layouts):
            reason = next(iter(self.refused.values()), None) or self.findings.first_left_out
            raise InputError(reason or "survey build: no file was given")
        # A trace without an interval can still be used, with one that the survey gives.
        unplaced = np.uint16(UNUSABLE & ~Flag.NO_INTERVAL)
        usable = np.concatenate([flags & unplaced == 0 for flags in self.flags])
        first = np.concatenate([[0], np.cumsum(self.rows)])  # first row of each file
        for file in (*self.refused, *self.unplaced):
            usable[first[file] : first[file + 1]] = False
        usable_rows = np.flatnonzero(usable)
        flags = np.concatenate(self.flags)[usable_rows]
        # Of two traces alike, one without an interval does not stand in the way of the other.
        self.duplicates = repeated(usable_rows, flags & np.uint16(Flag.NO_INTERVAL) != 0, *self.hashes)
        if len(self.duplicates):
            row = int(self.duplicates[0])
            file = int(np.searchsorted(first, row, "right")) - 1
            self.findings.add(Flag.DUPLICATE, len(self.duplicates), self.trace(file, row - int(first[file])))
        flags[np.isin(usable_rows, self.duplicates)] |= np.uint16(Flag.DUPLICATE)
        self._find_loud(usable_rows[flags & np.uint16(UNUSABLE) == 0], first)
        self.usable = int(np.count_nonzero(flags & np.uint16(UNUSABLE) == 0))
        self._find_notches()
        if {PRESSURE, VERTICAL} <= self.kinds.keys():
            self.findings.note(MIXED_SENSORS, self.kinds[VERTICAL])

    def _find_loud(self, rows: NDArray[np.int64], first: NDArray[np.int64]) -> None:
        """Find the loud ones among rows that can be used, shot by shot; first: row of each file."""
        shots, distances, peaks, rest, kinds = (np.concatenate(parts)[rows] for parts in self.loudness)
        limits = limits_of(shots.astype(np.int64), distances, peaks, rest, kinds.astype(np.int64))
        loud = np.flatnonzero(np.isfinite(limits))
        self.loud = rows[loud]
        if len(loud):
            file = int(np.searchsorted(first, self.loud[0], "right")) - 1
            what = f"its largest sample is {peaks[loud[0]]:.4g}, where {limits[loud[0]]:.4g} fits"
            self.findings.add(Flag.LOUD, len(loud), self.trace(file, int(self.loud[0] - first[file]), what))

    def _find_notches(self) -> None:
        """Look for ghosts in some traces of the file with the most of them, since others may be sampled otherwise."""
        files = Counter(file for file, *_ in self.depths if file not in self.refused)
        if not files:
            return
        file = files.most_common(1)[0][0]
        own = [values for values in self.depths if values[0] == file]
        some = np.array([own[n][1:] for n in spread(len(own))])
        layout = self.layouts[file]
        if not layout.interval > 0.0 or not some[:, 1:].any():
            return
        with suppress(InputError):  # a file that has become shorter: reading it says so
            traces = decode_traces(layout, some[:, 0].astype(np.int64))
            self.notches = notches_of(traces, layout.interval, some[:, 1], some[:, 2])

    def needs_rewriting(self) -> bool:
        """Whether rows must be changed or left out."""
        return bool(self.refused or self.unplaced or len(self.duplicates) or len(self.loud))

    def rewrite(self, before: Path, after: Path) -> None:
        """Copy the rows, with flags that were not known when they were written, without those of refused files."""
        names = self.names
        numbers = {name: number for number, name in enumerate(names)}
        table = TableWriter(after)
        try:
            first = 0
            with pq.ParquetFile(arrow_file(before)) as old:
                for group in range(old.num_row_groups):
                    rows = plain_rows(old.read_row_group(group), numbers)
                    file = rows.pop("file")
                    flags = rows["flags"].copy()
                    for marked, flag in ((self.duplicates, Flag.DUPLICATE), (self.loud, Flag.LOUD)):
                        lo, hi = np.searchsorted(marked, (first, first + len(file)))
                        flags[marked[lo:hi] - first] |= np.uint16(flag)
                    flags[np.isin(file, list(self.unplaced))] |= np.uint16(Flag.NO_COORDINATES)
                    rows["flags"] = flags
                    for number in np.unique(file):
                        if number not in self.refused:
                            of_file = file == number
                            table.add(names[number], {name: values[of_file] for name, values in rows.items()})
                    first += len(file)
            table.close(self._summary())
        except BaseException:
            table.abandon()
            raise

    def _summary(self) -> Summary:
        kept = [number for number in range(len(self.layouts)) if number not in self.refused]
        files = tuple(self._indexed(number) for number in kept)
        by_sampling: dict[tuple[int, float, float], list[int]] = {}
        for (file, *sampling), count in self.samplings.items():
            if file not in self.refused and file not in self.unplaced:
                total = by_sampling.setdefault((int(sampling[0]), sampling[1], sampling[2]), [0, file])
                total[0] += count
        samplings = sorted(
            (Sampling(*key, count, self.names[file]) for key, (count, file) in by_sampling.items()),
            key=lambda sampling: -sampling.traces,
        )
        traces = sum(self.rows[number] for number in kept)
        return Summary(
            files=files,
            words={name: str(word) for name, word in self.words.items()},
            traces=traces,
            shots=len(self.sources),
            usable=self.usable,
            samplings=tuple(samplings),
            anomalies=self.findings.anomalies(),
            notes=self.findings.notes(),
            judged=True,
            notches=self.notches,
        )

    def _indexed(self, number: int) -> IndexedFile:
        layout, state = self.layouts[number], self.states[number]
        return IndexedFile(
            name=self.names[number],
            kind=layout.kind,
            order=layout.order,
            revision=layout.revision,
            format=layout.format,
            start=layout.start,
            samples=layout.samples,
            traces=layout.traces,
            interval=layout.interval,
            feet=layout.feet,
            size=state.st_size,
            modified=state.st_mtime_ns,
            notes=layout.notes,
            additional=layout.additional,
            pairs=layout.pairs,
        )


class _FileTotals:
    """Totals of the file whose chunks arrive, which are added to the builder's once all have."""

    def __init__(self, builder: _Builder) -> None:
        self.builder = builder
        self.chunks: list[tuple[Flag, int, int, str]] = []
        self._begin(-1)

    def _begin(self, file: int) -> None:
        self.file, self.placed, self.apart, self.largest_coordinate = file, False, False, 0.0
        self.fault = ""  # why one of its chunks could not be read
        self.units: set[int] = set()
        self.format_notes: tuple[str, ...] = ()
        self.doubts = Doubts()
        self.kinds: set[int] = set()
        self.counts: Counter[Flag] = Counter()
        self.examples: dict[Flag, str] = {}
        self.sources: dict[int, NDArray[np.float64]] = {}
        self.moved: dict[int, str] = {}

    def add(self, chunk: Chunk) -> None:
        """Add the next chunk, of this file or of the next one."""
        builder = self.builder
        if chunk.span.file != self.file:
            self.close()
            self._begin(chunk.span.file)
        self.fault = self.fault or chunk.fault
        flags = chunk.columns["flags"]
        if chunk.span.first == 0:  # one array a file: many small ones would keep the system from reclaiming large ones
            builder.rows[self.file] = chunk.span.layout.traces
            builder.flags.append(np.empty(chunk.span.layout.traces, flags.dtype))
            for parts in builder.hashes:
                parts.append(np.empty(chunk.span.layout.traces, np.uint64))
            for values in builder.loudness:
                values.append(np.empty(chunk.span.layout.traces))
        of_chunk = slice(chunk.span.first, chunk.span.first + chunk.span.count)
        builder.flags[-1][of_chunk] = flags
        for parts, hashes in zip(builder.hashes, chunk.hashes, strict=True):
            parts[-1][of_chunk] = hashes
        away = [chunk.columns[f"receiver_{axis}"] - chunk.columns[f"source_{axis}"] for axis in "xyz"]
        distance = np.sqrt(np.square(np.stack(away, axis=1)).sum(axis=1))
        columns = (chunk.columns["shot"], distance, *chunk.peaks, chunk.codes)
        for values, own in zip(builder.loudness, columns, strict=True):
            values[-1][of_chunk] = own
        self.placed |= chunk.placed
        # Of a volume, sources or receivers alone may have places.
        given = [
            chunk.columns[f"{what}_x"].any() or chunk.columns[f"{what}_y"].any() for what in ("source", "receiver")
        ]
        self.apart |= bool(all(given) and (chunk.columns["offset"] > SAME_PLACE).any())
        self.largest_coordinate = max(self.largest_coordinate, chunk.largest)
        self.units |= chunk.units
        self.format_notes += chunk.format_notes
        self.doubts.join(chunk.doubts)
        self.kinds |= chunk.kinds
        for flag, (trace, what) in chunk.examples.items():
            if builder.findings.strict:
                builder.findings.add(flag, 1, builder.trace(self.file, trace, what))
            self.counts[flag] += int(np.count_nonzero(flags & np.uint16(flag)))
            self.examples.setdefault(flag, builder.trace(self.file, trace, what))
        sound = np.flatnonzero(flags & np.uint16(UNUSABLE | Flag.LOUD) == 0)
        for row in sound[spread(len(sound))] if len(sound) else ():
            above, below = (float(chunk.columns[f"{what}_z"][row]) for what in ("source", "receiver"))
            builder.depths.append((self.file, int(chunk.columns["trace"][row]), above, below))
        if len(builder.depths) > MOST_DEPTHS:
            del builder.depths[::2]
        for sampling, count in chunk.samplings.items():
            builder.samplings[(self.file, *sampling)] += count
        for trace, shot, source in chunk.sources:
            self._source(trace, shot, source)

    def _source(self, trace: int, shot: int, source: NDArray[np.float64]) -> None:
        before = self.builder.sources.get(shot)
        if before is None:
            before = self.sources.setdefault(shot, source)
        if shot not in self.moved and np.abs(source - before).max() > SAME_PLACE:
            here, there = (", ".join(f"{metres:.10g}" for metres in point) for point in (source, before))
            what = f"shot {shot} has its source at ({here}) m, but at ({there}) m before"
            self.moved[shot] = self.builder.trace(self.file, trace, what)

    def close(self) -> None:
        """Add the totals of a file whose chunks are complete."""
        builder = self.builder
        if self.file < 0:
            return
        layout = builder.layouts[self.file]
        try:
            if self.fault:
                raise InputError(self.fault)
            unit_notes = check_units(layout, self.units, self.largest_coordinate)
        except InputError as error:
            builder.refused[self.file] = str(error)
            builder.findings.leave_out(str(error))
            return
        for note in self.doubts.notes(layout):
            builder.findings.note(note, layout.path)
        for note in self.format_notes:
            builder.findings.add(FORMAT, 1, f"{layout.path}: {note}")
        for note in unit_notes:
            builder.findings.add(DECLARED, 1, f"{layout.path}: {note}")
        # Where sources lie apart from receivers nothing is asked further: the headers would be read once more.
        if not self.apart and layout.traces > 1 and looks_like_volume(layout):
            what = "no trace has its source apart from its receiver, and there is one offset"
            builder.findings.add(VOLUME, 1, f"{layout.path}: {what}")
            builder.say(f"looks like a volume: {layout.path}: {what}: is it a model, an image or a stack?")
        if not self.placed and layout.traces > 1:
            builder.unplaced.add(self.file)
            where = f"{layout.path}: every source and receiver is at the origin"
            builder.findings.add(Flag.NO_COORDINATES, layout.traces, where)
        else:
            builder.sources.update(self.sources)
            for kind in self.kinds:
                builder.kinds.setdefault(kind, layout.path)
            for shot, where in self.moved.items():
                if shot not in builder.moved:
                    builder.moved.add(shot)
                    builder.findings.add(MOVES, 1, where)
        for flag, count in self.counts.items():
            builder.findings.add(flag, count, self.examples[flag])
