"""Making the index of a survey: all traces of many files are looked at once, in pieces, by several threads.

    pieces of files -> threads: bytes -> rows -> in order: counted, into row groups of the table
    then what only all rows together tell, duplicates and files without places, is put into their flags

Memory is that of the pieces under way, of one row group, and 18 bytes a trace.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import local

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fathometer import ledger
from fathometer.errors import InputError
from fathometer.storage import whole
from fathometer.storage.index.anomalies import (
    DECLARED,
    LEFT_OUT,
    MOVES,
    NAMES,
    TRUNCATED,
    UNUSABLE,
    WORDS,
    Flag,
    anomaly,
)
from fathometer.storage.index.chunk import SAME_PLACE, SIZE, Chunk, Span, read_chunk, spans
from fathometer.storage.index.table import IndexedFile, Sampling, Summary, TableWriter, TraceIndex, plain_rows
from fathometer.storage.index.words import Word
from fathometer.storage.segy import check_units
from fathometer.storage.segy_layout import INDEX, SU, Layout, segy_layout_of
from fathometer.storage.su_layout import su_layout_of

LINE_SECONDS = 10.0  # between lines that say how far it is

Say = Callable[[str], None]


def build_index(
    files: Sequence[Path], output: Path, words: Mapping[str, Word], jobs: int, strict: bool, say: Say
) -> TraceIndex:
    """Write the index of some files' traces, and open it.

    words: of `words_of`. jobs: threads. strict: the first anomaly is an error. say: takes lines for people.
    InputError: `output` is no .parquet or one of the files; no file is of use; with strict, what was found, and
    where. FathometerError where it cannot be written.
    """
    if output.suffix.lower() != INDEX:
        raise InputError(f"{output}: allowed for an index: a name that ends in {INDEX}")
    for path in files:
        if whole.replaces(output, path):
            raise InputError(f"{output}: is one of the files to be indexed; allowed: another name")
    builder = _Builder(output, words, strict, say)
    with whole.writing(output):
        part = whole.create_part(output, 0)
        try:
            builder.scan(files, part, jobs)
            if builder.unfinished():
                rewritten = whole.create_part(output, 0)
                try:
                    builder.rewrite(part, rewritten)
                finally:
                    whole.remove(part)
                    part = rewritten
            _flush(part)
            whole.place(part, output)
        except BaseException:
            whole.remove(part)
            raise
    return TraceIndex(output)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def layout_for_index(path: Path) -> Layout:
    """Of a SEG-Y file, or of an SU file, by its suffix or because it is nothing else. InputError where neither fits."""
    if path.suffix.lower() == SU:
        return su_layout_of(path)
    try:
        return segy_layout_of(path)
    except InputError:
        with suppress(InputError):
            layout = su_layout_of(path)
            if not layout.faults:
                return layout
        raise


class _Builder:
    """The account of what was found so far."""

    def __init__(self, output: Path, words: Mapping[str, Word], strict: bool, say: Say) -> None:
        self.output, self.words, self.strict, self.say = output, words, strict, say
        self.layouts: list[Layout] = []
        self.states: list[os.stat_result] = []
        self.rows: list[int] = []  # of each file
        self.refused: dict[int, str] = {}
        self.unplaced: set[int] = set()
        self.flags: list[NDArray[np.uint16]] = []
        self.marks: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []
        self.names: list[str] = []
        self.duplicates: NDArray[np.int64] = np.empty(0, np.int64)
        self.notes: dict[str, list[Path]] = {}
        self.counts: Counter[Flag | str] = Counter()
        self.first: dict[Flag | str, str] = {}
        self.samplings: Counter[tuple[int, int, float, float]] = Counter()  # by file, samples, interval, delay
        self.places: dict[int, NDArray[np.float64]] = {}  # of a shot's source
        self.moved: set[int] = set()

    # --- the files

    def scan(self, files: Sequence[Path], part: Path, jobs: int) -> None:
        """Look at all of them, and write the rows of all into `part`."""
        table = TableWriter(part)
        try:
            done, start = 0, ledger.now()
            said, total = start, sum(path.stat().st_size for path in files if path.is_file())
            known = _Known(self)
            for chunk in _in_order(self._spans(files), self.words, jobs):
                known.add(chunk)
                table.add(self.names[chunk.span.file], chunk.columns)
                done += chunk.span.count * chunk.span.layout.trace_bytes
                if ledger.now() > said + LINE_SECONDS:
                    said = ledger.now()
                    self.say(
                        f"{1e-9 * done:.3g} of {1e-9 * total:.3g} GB, file {chunk.span.file + 1} of {len(files)}, "
                        f"{1e-6 * done / (said - start):.0f} MB/s"
                    )
            known.close()
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
                self.note(f"is {seen[real]} again: taken once", path)
                continue
            seen[real] = path
            try:
                layout = layout_for_index(path)
            except InputError as error:
                self.leave_out(str(error))
                continue
            number = len(self.layouts)
            self.layouts.append(layout)
            self.states.append(path.stat())
            self.rows.append(0)
            self.names.append(self._name(path))
            if layout.spare:
                rest = f"{layout.spare} of {layout.trace_bytes} bytes behind trace {layout.traces - 1}"
                self.found(TRUNCATED, 1, f"{path}: {rest}")
            if layout.feet:
                self.note("lengths are in feet by the binary header; converted to metres", path)
            for note in layout.notes:
                self.note(note, path)
            yield from spans(number, layout)

    def leave_out(self, why: str) -> None:
        """A file that is no gathers."""
        if self.strict:
            raise InputError(why)
        self.found(LEFT_OUT, 1, why)
        self.say(f"left out: {why}")

    def note(self, note: str, path: Path) -> None:
        self.notes.setdefault(note, []).append(path)

    def found(self, key: Flag | str, count: int, where: str) -> None:
        """Count an anomaly; InputError with strict."""
        if self.strict:
            raise InputError(f"{where} ({NAMES[key] if isinstance(key, Flag) else WORDS[key]}; --strict)")
        self.counts[key] += count
        self.first.setdefault(key, where)

    def trace(self, file: int, trace: int, what: str = "") -> str:
        """Names a trace."""
        layout = self.layouts[file]
        return f"{layout.path}: trace {trace} (of {layout.traces}, from 0){': ' if what else ''}{what}"

    def _name(self, path: Path) -> str:
        folder, real = Path(os.path.realpath(self.output.parent)), Path(os.path.realpath(path))
        return str(real.relative_to(folder)) if real.is_relative_to(folder) else str(real)

    # --- all rows together

    def _finish(self) -> None:
        """What only all of them tell. InputError where nothing is left."""
        if len(self.refused) == len(self.layouts):
            why = next(iter(self.refused.values()), None) or self.first.get(LEFT_OUT)
            raise InputError(why or "survey build: no file was given")
        flags = np.concatenate(self.flags)
        owner = np.repeat(np.arange(len(self.rows)), self.rows)
        gone = np.isin(owner, [*self.refused, *self.unplaced])
        good = np.flatnonzero(~gone & (flags & np.uint16(UNUSABLE) == 0))
        self.duplicates = repeated(good, *(np.concatenate(one) for one in zip(*self.marks, strict=True)))
        if len(self.duplicates):
            row = int(self.duplicates[0])
            file = int(owner[row])
            trace = row - sum(self.rows[:file])
            self.found(Flag.DUPLICATE, len(self.duplicates), self.trace(file, trace))
        self.usable = len(good) - len(self.duplicates)

    def unfinished(self) -> bool:
        """Whether rows have to be changed or left out."""
        return bool(self.refused or self.unplaced or len(self.duplicates))

    def rewrite(self, before: Path, after: Path) -> None:
        """Put into the rows' flags what was not known when they were written, without those of refused files."""
        names = self.names
        numbers = {name: number for number, name in enumerate(names)}
        table = TableWriter(after)
        try:
            first = 0
            with pq.ParquetFile(before) as old:
                for group in range(old.num_row_groups):
                    rows = plain_rows(old.read_row_group(group), numbers)
                    file = rows.pop("file")
                    flags = rows["flags"].copy()
                    lo, hi = np.searchsorted(self.duplicates, (first, first + len(file)))
                    flags[self.duplicates[lo:hi] - first] |= np.uint16(Flag.DUPLICATE)
                    flags[np.isin(file, list(self.unplaced))] |= np.uint16(Flag.NO_COORDINATES)
                    rows["flags"] = flags
                    for number in np.unique(file):
                        if number not in self.refused:
                            mine = file == number
                            table.add(names[number], {name: values[mine] for name, values in rows.items()})
                    first += len(file)
            table.close(self._summary())
        except BaseException:
            table.abandon()
            raise

    def _summary(self) -> Summary:
        kept = [number for number in range(len(self.layouts)) if number not in self.refused]
        files = tuple(self._indexed(number) for number in kept)
        together: dict[tuple[int, float, float], list[int]] = {}
        for (file, *sampling), count in self.samplings.items():
            if file not in self.refused and file not in self.unplaced:
                seen = together.setdefault((int(sampling[0]), sampling[1], sampling[2]), [0, file])
                seen[0] += count
        samplings = sorted(
            (Sampling(*key, count, self.names[file]) for key, (count, file) in together.items()),
            key=lambda one: -one.traces,
        )
        traces = sum(self.rows[number] for number in kept)
        found = [
            anomaly(key, self.counts[key], self.first[key])
            for key in (LEFT_OUT, TRUNCATED, DECLARED, *Flag, MOVES)
            if self.counts[key]
        ]
        notes = tuple(
            f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {note}"
            for note, paths in self.notes.items()
        )
        return Summary(
            files=files,
            words={name: str(word) for name, word in self.words.items()},
            traces=traces,
            shots=len(self.places),
            usable=self.usable,
            samplings=tuple(samplings),
            anomalies=tuple(found),
            notes=notes,
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
        )


def repeated(rows: NDArray[np.int64], marks: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Those of some rows whose two marks an earlier one of them has, in order."""
    ranked = np.sort(marks[rows])
    twice = np.unique(ranked[1:][ranked[1:] == ranked[:-1]])
    if not len(twice):  # as in most surveys; sorting values alone is much faster than sorting rows by them
        return np.empty(0, np.int64)
    rows = rows[np.isin(marks[rows], twice)]
    order = rows[np.lexsort((others[rows], marks[rows]))]
    alike = (marks[order[1:]] == marks[order[:-1]]) & (others[order[1:]] == others[order[:-1]])
    return np.sort(order[1:][alike])


class _Known:
    """What is known of the file whose chunks arrive, which counts once all of them have."""

    def __init__(self, builder: _Builder) -> None:
        self.builder = builder
        self.chunks: list[tuple[Flag, int, int, str]] = []
        self._begin(-1)

    def _begin(self, file: int) -> None:
        self.file, self.placed, self.largest = file, False, 0.0
        self.units: set[int] = set()
        self.counts: Counter[Flag] = Counter()
        self.examples: dict[Flag, str] = {}
        self.places: dict[int, NDArray[np.float64]] = {}
        self.moved: dict[int, str] = {}

    def add(self, chunk: Chunk) -> None:
        """The next chunk, of this file or of the next one."""
        builder = self.builder
        if chunk.span.file != self.file:
            self.close()
            self._begin(chunk.span.file)
        flags = chunk.columns["flags"]
        builder.rows[self.file] += chunk.span.count
        builder.flags.append(flags)
        builder.marks.append(chunk.marks)
        self.placed |= chunk.placed
        self.largest = max(self.largest, chunk.largest)
        self.units |= chunk.units
        for flag, (trace, what) in chunk.examples.items():
            if builder.strict:
                builder.found(flag, 1, builder.trace(self.file, trace, what))
            self.counts[flag] += int(np.count_nonzero(flags & np.uint16(flag)))
            self.examples.setdefault(flag, builder.trace(self.file, trace, what))
        for sampling, count in chunk.samplings.items():
            builder.samplings[(self.file, *sampling)] += count
        for trace, shot, source in chunk.sources:
            self._source(trace, shot, source)

    def _source(self, trace: int, shot: int, source: NDArray[np.float64]) -> None:
        place = self.builder.places.get(shot)
        if place is None:
            place = self.places.setdefault(shot, source)
        if shot not in self.moved and np.abs(source - place).max() > SAME_PLACE:
            here, there = (", ".join(f"{value:.10g}" for value in one) for one in (source, place))
            what = f"shot {shot} has its source at ({here}) m, but at ({there}) m before"
            self.moved[shot] = self.builder.trace(self.file, trace, what)

    def close(self) -> None:
        """All chunks of the file have come."""
        builder = self.builder
        if self.file < 0:
            return
        layout = builder.layouts[self.file]
        try:
            declared = check_units(layout, self.units, self.largest)
        except InputError as error:
            builder.refused[self.file] = str(error)
            builder.leave_out(str(error))
            return
        for note in declared:
            builder.found(DECLARED, 1, f"{layout.path}: {note}")
        if not self.placed and layout.traces > 1:
            builder.unplaced.add(self.file)
            where = f"{layout.path}: every source and receiver is at the origin"
            builder.found(Flag.NO_COORDINATES, layout.traces, where)
        else:
            builder.places.update(self.places)
            for key, where in self.moved.items():
                if key not in builder.moved:
                    builder.moved.add(key)
                    builder.found(MOVES, 1, where)
        for flag, count in self.counts.items():
            builder.found(flag, count, self.examples[flag])


def _in_order(work: Iterator[Span], words: Mapping[str, Word], jobs: int) -> Iterator[Chunk]:
    """The chunks of all spans, in their order, read by so many threads."""
    thread = local()

    def read(span: Span) -> Chunk:
        needed = max(SIZE, span.count * span.layout.trace_bytes)
        if getattr(thread, "room", None) is None or thread.room.size < needed:
            thread.room = np.empty(needed, np.uint8)
        return read_chunk(span, words, thread.room)

    waiting: deque[Future[Chunk]] = deque()
    with ThreadPoolExecutor(jobs, "scan") as pool:
        try:
            for span in work:
                waiting.append(pool.submit(read, span))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()
