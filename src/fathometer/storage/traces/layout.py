"""Layout of a SEG-Y or SU file: byte order, sample format, sample count, where traces begin; reading by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.storage.reading import reading
from fathometer.storage.traces.headers import FIELDS, HEADER, Order
from fathometer.storage.traces.sample_formats import decode_samples, sample_type

CHUNK_BYTES = 1 << 24  # bytes of traces handled at a time


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
    faults: tuple[str, ...] = ()  # errors that only an index tolerates; `layout_of` refuses the file
    spare: int = 0  # bytes after the last whole trace

    @property
    def named(self) -> str:
        """Kind and revision, to be displayed."""
        return self.kind if self.kind == "SU" else f"{self.kind} revision {self.revision}"

    @property
    def sample_type(self) -> np.dtype[Any]:
        """NumPy type of one sample as stored in the file."""
        return sample_type(self.format, self.order)

    @property
    def trace_bytes(self) -> int:
        """Bytes of one trace with its header."""
        return HEADER + self.samples * self.sample_type.itemsize

    def rows(self) -> NDArray[np.uint8]:
        """All traces with their headers, uint8 (traces, trace_bytes), memory-mapped."""
        with reading(self.path):
            return np.memmap(self.path, np.uint8, "r", self.start, (self.traces, self.trace_bytes))

    def headers(self, names: Iterable[str]) -> dict[str, NDArray[np.int64]]:
        """Fields (names of FIELDS) of all trace headers, each int64 (traces,)."""
        fields = {name: np.empty(self.traces, np.int64) for name in names}
        rows = self.rows()
        step = max(1, CHUNK_BYTES // HEADER)
        for first in range(0, self.traces, step):
            part = rows[first : first + step, :HEADER]
            with ledger.io(bytes=part.size):
                heads = np.ascontiguousarray(part)
            for name, values in fields.items():
                position, code = FIELDS[name]
                dtype = np.dtype(code).newbyteorder(self.order)
                field = np.ascontiguousarray(heads[:, position - 1 : position - 1 + dtype.itemsize])
                values[first : first + step] = field.view(dtype)[:, 0]
        return fields

    def decode(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Samples (n, samples) as real numbers in native byte order, of n traces as stored, uint8 (n, trace_bytes)."""
        return self.decode_samples(rows[:, HEADER:])

    def decode_samples(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """As `decode`, of n traces without their headers; any number of samples."""
        return decode_samples(rows, self.format, self.order)
