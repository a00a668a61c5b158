"""Writing traces that take their headers from recorded ones: a new file for each recorded SEG-Y or SU file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from segyio import BinField

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_empty
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.traces.file_layout import CHUNK_BYTES, Layout
from fathometer.storage.traces.headers import (
    EXTENDED_INTERVAL,
    FIELDS,
    HEADER,
    INTERVAL_TOLERANCE,
    TRACE_COUNT,
    TRAILERS,
    Order,
    extended,
    field_of,
    fields_of,
)
from fathometer.storage.traces.modelled_top import with_top
from fathometer.storage.traces.segy import delays_of
from fathometer.storage.traces.segy_writer import IEEE_FLOAT, LARGEST_SHORT, require_all

EXTENSION_SAMPLES, EXTENSION_INTERVAL = (137, "u4"), (145, "f8")  # of the first additional trace header, µs
SAMPLE_BYTES = 4  # of an IEEE float
DELAY = ("delay", "time_scalar")
DELAY_TOLERANCE = 1e-6  # ms


@dataclass(frozen=True, eq=False)
class NewGathers:
    """A file to write, and where its headers come from."""

    path: Path
    recorded: Layout
    traces: NDArray[np.int64]  # (n,) numbers of its traces in the recorded file, ascending


class RecordedHeadersWriter:
    """Files of traces with the headers of recorded ones, which appear together if the `with` block ends well.

    The file header, textual extensions included, and each trace's headers are those of the recorded file, in its byte
    order; samples are IEEE floats. Only words that would be wrong are changed: the sample format, and the number of
    samples, the sample interval (s) and the time of the first sample (s) where these are not what is recorded or said.
    top: of the model, which a blank line of the textual header then says; left out: none does.

    FathometerError where writing fails or, at the end, traces are missing; InputError where a recorded file cannot be
    read.
    """

    def __init__(self, files: Sequence[NewGathers], samples: int, interval: float, start: float, top: str = "") -> None:
        self._files, self._top = files, top
        self._samples, self._interval, self._start = samples, interval, start
        self._parts = atomic.Parts()
        self._part_paths: list[Path] = []
        self._written = [np.zeros(len(new.traces), np.bool_) for new in files]
        self._new_folders: list[Path] = []
        self._new_interval: dict[Path, bool] = {}  # by recorded file: whether it says another one

    def __enter__(self) -> Self:
        try:
            for new in self._files:
                self._new_interval[new.recorded.path] = self._interval_differs(new.recorded)
                head, size = self._file_header(new), len(new.traces) * self._trace_bytes(new)
                with atomic.writing(new.path):
                    self._make_folder(new.path.parent)
                    self._part_paths.append(self._parts.create(atomic.NewFile(new.path, head, size)))
                self._headers(new.recorded, new.traces[:1], self._trace_bytes(new) - SAMPLE_BYTES * self._samples)
        except BaseException:
            self._discard()
            raise
        return self

    def _make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir()
            self._new_folders.append(folder)

    def write(self, file: int, places: NDArray[np.integer], values: NDArray[np.floating[Any]] | None = None) -> None:
        """Write traces of one file with their headers.

        places: (n,) their numbers in the new file. values: (n, samples), written as float32; None: zeros.
        """
        new = self._files[file]
        order = np.argsort(places, kind="stable")
        for rows in self._runs(new, np.asarray(places, np.int64)[order], order):
            first, chosen = int(places[rows[0]]), new.traces[np.asarray(places)[rows]]
            block = np.zeros((len(rows), self._trace_bytes(new)), np.uint8)
            header = block.shape[1] - SAMPLE_BYTES * self._samples
            block[:, :header] = self._headers(new.recorded, chosen, header)
            if values is not None:
                samples = values[rows].astype(np.float32)
                if not np.isfinite(samples).all():
                    row, sample = np.argwhere(~np.isfinite(samples))[0]
                    raise FathometerError(
                        f"{new.path}: NaN or infinity in trace {first + row}, sample {sample} (from 0)"
                    )
                stored = samples.astype(new.recorded.order + "f4")
                block[:, header:] = stored.view(np.uint8).reshape(len(rows), -1)
            with atomic.writing(new.path), ledger.io(bytes=block.size), self._part_paths[file].open("r+b") as part:
                atomic.write_at(part.fileno(), atomic.octets(block), new.recorded.start + first * block.shape[1])
            self._written[file][first : first + len(rows)] = True

    def _runs(
        self, new: NewGathers, places: NDArray[np.int64], order: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """`order` cut where the places (n,), ascending, do not follow each other, and after CHUNK_BYTES."""
        most = max(1, CHUNK_BYTES // self._trace_bytes(new))
        for run in np.split(order, np.flatnonzero(np.diff(places) != 1) + 1):
            for first in range(0, len(run), most):
                yield run[first : first + most]

    def _trace_bytes(self, new: NewGathers) -> int:
        """Bytes of a new trace, with as many of headers as the recorded one has."""
        recorded = new.recorded
        header = recorded.trace_bytes - recorded.samples * recorded.sample_type.itemsize
        return header + SAMPLE_BYTES * self._samples

    def _headers(self, recorded: Layout, traces: NDArray[np.int64], header: int) -> NDArray[np.uint8]:
        """Headers (n, header) of traces of a recorded file."""
        rows = recorded.rows()
        with ledger.file("headers", "read"), ledger.io(bytes=len(traces) * header):
            heads = np.ascontiguousarray(rows[traces, :header])
        words = heads[:, :HEADER]
        if self._samples != recorded.samples:
            _put(words, *FIELDS["samples"], recorded.order, self._samples)
        said = fields_of(words, *FIELDS["interval"], recorded.order)
        wrong = self._new_interval[recorded.path] | ((said != 0) & self._wrong(said))
        words[wrong] = _put(words[wrong], *FIELDS["interval"], recorded.order, self._microseconds)
        late = np.flatnonzero(
            delays_of(recorded, {name: _field(words, name, recorded) for name in DELAY}) != self._start
        )
        if len(late):
            words[late] = self._with_start(recorded, words[late])
        if header >= 2 * HEADER:
            self._correct_extension(heads[:, HEADER : 2 * HEADER], recorded.order)
        return heads

    def _with_start(self, recorded: Layout, words: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Headers (n, HEADER) whose delay, in ms, is the time of the first sample; with a scalar where it is no whole
        number. InputError where no word holds it."""
        scalars = (1, -10, -100, -1000) if recorded.revision >= 1 else (1,)
        for scalar in scalars:
            value = self._start * 1000 * abs(scalar)
            if abs(value - round(value)) < DELAY_TOLERANCE and abs(value) <= LARGEST_SHORT // 2:
                if recorded.revision >= 1:
                    _put(words, *FIELDS["time_scalar"], recorded.order, scalar)
                return _put(words, *FIELDS["delay"], recorded.order, round(value))
        allowed = "with a scalar" if recorded.revision >= 1 else "whole ms in revision 0"
        raise InputError(
            f"{recorded.path}: the traces' first sample is at {self._start:g} s, which its headers cannot hold; "
            f"allowed: up to {LARGEST_SHORT // 2} ms, {allowed}"
        )

    def _wrong(self, microseconds: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(~(np.abs(microseconds - 1e6 * self._interval) <= INTERVAL_TOLERANCE))

    def _correct_extension(self, heads: NDArray[np.uint8], order: Order) -> None:
        """Samples and interval of second headers (n, HEADER) that are extensions of the first and say another one."""
        named = extended(heads)
        said = fields_of(heads, *EXTENSION_SAMPLES, order)
        wrong = named & (said != 0) & (said != self._samples)
        heads[wrong] = _put(heads[wrong], *EXTENSION_SAMPLES, order, self._samples)
        said = fields_of(heads, *EXTENSION_INTERVAL, order)
        wrong = named & (said != 0) & self._wrong(said)
        heads[wrong] = _put(heads[wrong], *EXTENSION_INTERVAL, order, 1e6 * self._interval)

    def _interval_differs(self, recorded: Layout) -> bool:
        """Whether the sample interval is another than the headers of a recorded file say: those of the file, or of its
        first trace where these say nothing. Rounding to whole µs is no difference."""
        with reading(recorded.path), recorded.path.open("rb") as file:
            head = file.read(recorded.start + HEADER)
        said = field_of(head[recorded.start :], *FIELDS["interval"], recorded.order)
        if recorded.start:
            said = field_of(head, int(BinField.Interval), "i2", recorded.order) or said
        return abs(said - 1e6 * self._interval) > INTERVAL_TOLERANCE

    def _file_header(self, new: NewGathers) -> bytes:
        """All bytes before the first trace; none of an SU file."""
        recorded = new.recorded
        if not recorded.start:
            return b""
        with (
            reading(recorded.path),
            recorded.path.open("rb") as file,
            ledger.file("headers", "read"),
            ledger.io(bytes=recorded.start),
        ):
            head = np.frombuffer(file.read(recorded.start), np.uint8).copy()[None]
        order, changed = recorded.order, self._new_interval[recorded.path]
        _put(head, int(BinField.Format), "u2", order, IEEE_FLOAT)
        if self._samples != recorded.samples:
            _put(head, int(BinField.Samples), "u2", order, self._samples)
        if changed:
            _put(head, int(BinField.Interval), "u2", order, self._microseconds)
        if recorded.revision >= 2:
            _put(head, int(BinField.ExtSamples), "i4", order, self._samples)
            _put(head, TRACE_COUNT, "u8", order, len(new.traces))
            _put(head, TRAILERS, "i4", order, 0)
            if changed:
                _put(head, EXTENDED_INTERVAL, "f8", order, self._interval * 1e6)
        return with_top(head.tobytes(), self._top) if self._top else head.tobytes()

    @property
    def _microseconds(self) -> int:
        """The sample interval for a 16-bit word; 0 where it does not fit."""
        return min(round(self._interval * 1e6), LARGEST_SHORT + 1) % (LARGEST_SHORT + 1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                return
            for new, part, written in zip(self._files, self._part_paths, self._written, strict=True):
                require_all(new.path, written)
                with atomic.writing(new.path), ledger.flush():
                    atomic.flush_file(part)
            with atomic.writing(self._files[0].path.parent):
                self._parts.place()
            self._new_folders.clear()
        finally:
            self._discard()

    def _discard(self) -> None:
        """Remove the files that were not placed, and the folders made for them."""
        self._parts.discard()
        while self._new_folders:
            remove_empty(self._new_folders.pop())


def _field(words: NDArray[np.uint8], name: str, recorded: Layout) -> NDArray[np.int64]:
    return fields_of(words, *FIELDS[name], recorded.order).astype(np.int64)


def _put(heads: NDArray[np.uint8], position: int, code: str, order: str, value: float) -> NDArray[np.uint8]:
    """Put a number into a field of headers (n, bytes), by its first byte (from 1); 0 where it does not fit. Returns
    them."""
    dtype = np.dtype(order + code)
    if dtype.kind in "iu" and value > np.iinfo(dtype).max:
        value = 0
    heads[:, position - 1 : position - 1 + dtype.itemsize] = np.frombuffer(np.array(value, dtype).tobytes(), np.uint8)
    return heads
