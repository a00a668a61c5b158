"""Layout of a SEG-Y or SU file: byte order, sample format, sample count, where traces begin; reading by it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.traces.headers import FIELDS, HEADER, Order, fields_of, swap_pairs
from fathometer.storage.traces.sample_formats import decode_samples, sample_type

CHUNK_BYTES = 1 << 24  # bytes of traces handled at a time
NO_INTERVAL = "the sample interval is not positive"  # begins a fault
INTERVALS_DIFFER = "sample intervals differ"  # begins a note


@dataclass(frozen=True)
class Layout:
    """Layout of one SEG-Y or SU file."""

    path: Path
    order: Order  # byte order
    revision: int  # 0, 1 or 2
    format: int  # sample format code
    start: int  # bytes before the first trace
    samples: int  # per trace
    traces: int
    interval: float  # s
    feet: bool  # lengths in feet (binary header's measurement system)
    notes: tuple[str, ...]  # contradictions between headers and how they were resolved, one line each
    kind: str = "SEG-Y"  # or "SU"
    own_intervals: bool = False  # no file header gives the sample interval: `interval` is that of the first trace
    given_interval: bool = False  # `interval` is the user's word, in place of the headers'
    faults: tuple[str, ...] = ()  # errors that only an index tolerates; `layout_of` refuses the file
    spare: int = 0  # bytes after the last whole trace
    additional: int = 0  # headers of each trace beside the first (revision 2)
    pairs: bool = False  # the bytes of headers and samples are swapped in pairs; `order` is that after swapping them

    @property
    def named(self) -> str:
        """Kind and revision, to be displayed."""
        return self.kind if self.kind == "SU" else f"{self.kind} revision {self.revision}"

    @property
    def sample_type(self) -> np.dtype[Any]:
        """NumPy type of one sample as stored in the file."""
        return sample_type(self.format, self.order)

    @property
    def header_bytes(self) -> int:
        """Bytes of the headers of one trace."""
        return HEADER * (1 + self.additional)

    @property
    def trace_bytes(self) -> int:
        """Bytes of one trace with its headers."""
        return self.header_bytes + self.samples * self.sample_type.itemsize

    @property
    def byte_order(self) -> str:
        """Byte order, to be displayed."""
        return (
            "big-endian, bytes swapped in pairs" if self.pairs else f"{'big' if self.order == '>' else 'little'}-endian"
        )

    def with_interval(self, interval: float) -> Layout:
        """The same with a sample interval (s) in place of that of all headers, which `notes` tell."""
        headers = f"{1e6 * self.interval:.10g} µs" if self.interval > 0 else "none that is positive"
        note = f"the sample interval is taken as {1e6 * interval:.10g} µs, as was asked for; the headers say {headers}"
        return replace(
            self,
            interval=interval,
            own_intervals=False,
            given_interval=True,
            faults=tuple(fault for fault in self.faults if not fault.startswith(NO_INTERVAL)),
            notes=(*(line for line in self.notes if not line.startswith(INTERVALS_DIFFER)), note),
        )

    def rows(self) -> NDArray[np.uint8]:
        """All traces with their headers, uint8 (traces, trace_bytes), memory-mapped."""
        with reading(self.path):
            if self.path.stat().st_size < self.start + self.traces * self.trace_bytes:
                raise self._shorter()
            return np.memmap(self.path, np.uint8, "r", self.start, (self.traces, self.trace_bytes))

    def stored(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Chosen traces with their headers, uint8 (n, trace_bytes).

        Read, not mapped: a file that becomes shorter meanwhile would end the process. InputError where it has.
        """
        traces = np.empty((len(numbers), self.trace_bytes), np.uint8)
        cuts = np.flatnonzero(np.diff(numbers) != 1) + 1  # between runs of traces that follow each other
        with reading(self.path):
            handle = os.open(self.path, os.O_RDONLY)
            try:
                for first, end in pairwise((0, *cuts.tolist(), len(numbers))):
                    run = traces[first:end].reshape(-1)
                    if atomic.read_at(handle, run.data, self.start + int(numbers[first]) * self.trace_bytes) < run.size:
                        raise self._shorter()
            finally:
                os.close(handle)
        return traces

    def _shorter(self) -> InputError:
        size = self.path.stat().st_size
        return InputError(
            f"{self.path}: became shorter since its headers were read: it has {size} bytes, and "
            f"{self.start + self.traces * self.trace_bytes} are needed for {self.traces} traces"
        )

    def headers(self, names: Iterable[str]) -> dict[str, NDArray[np.int64]]:
        """Fields (names of FIELDS) of all trace headers, each int64 (traces,)."""
        fields = {name: np.empty(self.traces, np.int64) for name in names}
        rows = self.rows()
        step = max(1, CHUNK_BYTES // HEADER)
        for first in range(0, self.traces, step):
            part = rows[first : first + step, :HEADER]
            with ledger.io(bytes=part.size):
                heads = swap_pairs(part) if self.pairs else np.ascontiguousarray(part)
            for name, values in fields.items():
                values[first : first + step] = fields_of(heads, *FIELDS[name], self.order)
        return fields

    def decode(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Samples (n, samples) as real numbers in native byte order, of n traces as stored, uint8 (n, trace_bytes)."""
        return self.decode_samples(rows[:, self.header_bytes :])

    def decode_samples(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """As `decode`, of n traces without their headers; any number of samples."""
        swapped = self.pairs and self.sample_type.itemsize > 1
        return decode_samples(swap_pairs(rows) if swapped else rows, self.format, self.order)
