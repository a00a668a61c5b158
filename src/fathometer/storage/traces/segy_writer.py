"""Writing the gathers of a survey into one SEG-Y file: revision 1, IEEE floats, big-endian."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from segyio import BinField

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import atomic
from fathometer.storage.traces.headers import BINARY, FIELDS, HEADER, TEXT

SCALARS = (1, -10, -100, -1000, -10000)
IEEE_FLOAT = 5
LARGEST_SHORT = 32767
SEISMIC = 1  # trace identification code
AS_RECORDED = 1  # sorting code
METRES = 1  # measurement system and coordinate unit


class GatherWriter:
    """A SEG-Y file of `traces` traces being written, which appears under `path` if the `with` block ends well.

    samples    of each trace, at most 32767
    interval   s, a whole number of microseconds, at most 32767; the first sample is at time 0
    remarks    lines of the textual header, on what coordinates are

    InputError where these do not fit the format, FathometerError where writing fails or, at the end, traces are
    missing. Shots may be written in any order.
    """

    def __init__(self, path: Path, samples: int, interval: float, traces: int, remarks: Sequence[str] = ()) -> None:
        microseconds = round(interval * 1e6) if math.isfinite(interval) else 0
        if not 1 <= microseconds <= LARGEST_SHORT or abs(interval * 1e6 - microseconds) > 1e-6 * microseconds:
            raise InputError(
                f"{path}: a sample interval of {interval:g} s does not fit SEG-Y "
                f"(a whole number of microseconds, 1 to {LARGEST_SHORT})"
            )
        if not 1 <= samples <= LARGEST_SHORT:
            raise InputError(f"{path}: {samples} samples a trace do not fit SEG-Y (1 to {LARGEST_SHORT})")
        if traces < 1:
            raise InputError(f"{path}: {traces} traces to write, at least 1 is needed")
        self.path = path
        self.samples = samples
        self.microseconds = microseconds
        self.traces = traces
        self._remarks = remarks
        self._written = np.zeros(traces, bool)
        self._parts = atomic.Parts()
        self._handle = -1
        self._trace = trace_type(samples)

    def __enter__(self) -> Self:
        head = textual_header(self.samples, self.microseconds, self._remarks)
        head += binary_header(self.samples, self.microseconds)
        try:
            part = self._parts.create(atomic.NewFile(self.path, size=len(head) + self.traces * self._trace.itemsize))
            with ledger.io(bytes=len(head)):
                self._handle = os.open(part, os.O_WRONLY)
                atomic.write_at(self._handle, memoryview(head), 0)
        except OSError as error:
            self._discard()
            raise atomic.failure(self.path, error) from None
        except BaseException:
            self._discard()
            raise
        return self

    def write(
        self,
        first_trace: int,
        ffid: int,
        source: ArrayLike,
        receivers: ArrayLike,
        data: ArrayLike,
        channel: ArrayLike | None = None,
    ) -> None:
        """Write one shot as traces first_trace … first_trace + n - 1.

        source     (3,) m: x, y, z, positive down
        receivers  (n, 3) m
        data       (n, samples), written as float32
        channel    (n,) trace numbers within the shot; 1 … n where left out
        """
        source, receivers = np.asarray(source, np.float64), np.asarray(receivers, np.float64)
        values = np.asarray(data)
        count = len(receivers)
        fits = source.shape == (3,) and receivers.shape == (count, 3) and values.shape == (count, self.samples)
        if not fits or not 0 <= first_trace <= self.traces - count:
            raise InputError(
                f"{self.path}: shot {ffid}: data {values.shape} of receivers {receivers.shape} "
                f"at trace {first_trace} do not fit {self.traces} traces of {self.samples} samples"
            )
        block = np.zeros(count, self._trace)
        block["data"] = values
        if not np.isfinite(block["data"]).all():
            row, sample = np.argwhere(~np.isfinite(block["data"]))[0]
            raise FathometerError(
                f"{self.path}: shot {ffid}: NaN or infinity in receiver {row}, sample {sample} (from 0)"
            )
        numbers = np.arange(first_trace + 1, first_trace + count + 1)
        block["line_sequence"] = block["file_sequence"] = numbers
        block["ffid"] = ffid
        block["channel"] = np.arange(1, count + 1) if channel is None else channel
        block["kind"] = SEISMIC
        block["coordinate_units"] = METRES
        block["samples"] = self.samples
        block["interval"] = self.microseconds
        self._put_lengths(block, "coordinate_scalar", ("source_x", source[0]), ("source_y", source[1]),
                  ("group_x", receivers[:, 0]), ("group_y", receivers[:, 1]))  # fmt: skip
        block["offset"] = np.rint(offsets(source, receivers))
        # Elevations are positive up, depths down.
        self._put_lengths(
            block, "elevation_scalar", ("source_depth", source[2]), ("receiver_elevation", -receivers[:, 2])
        )
        try:
            flat = block.view(np.uint8).data
            with ledger.io(bytes=len(flat)):
                atomic.write_at(self._handle, flat, TEXT + BINARY + first_trace * self._trace.itemsize)
        except OSError as error:
            raise atomic.failure(self.path, error) from None
        self._written[first_trace : first_trace + count] = True

    def _put_lengths(self, block: NDArray[Any], scalar: str, *fields: tuple[str, ArrayLike]) -> None:
        """Fill header fields from lengths in m, and their common scalar."""
        lengths = np.concatenate([np.ravel(np.asarray(values, np.float64)) for _, values in fields])
        chosen = choose_scalar(self.path, lengths)
        block[scalar] = chosen
        for name, values in fields:
            block[name] = np.rint(np.asarray(values, np.float64) * abs(chosen))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                return
            require_all(self.path, self._written)
            try:
                with ledger.flush():
                    os.fsync(self._handle)
                self._parts.place()
            except OSError as system_error:
                raise atomic.failure(self.path, system_error) from None
        finally:
            self._discard()

    def _discard(self) -> None:
        """Close the file, and remove it unless it was placed."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        self._parts.discard()


def choose_scalar(path: Path, values: NDArray[np.float64]) -> int:
    """The SEG-Y scalar for lengths in m: the coarsest that keeps them exact, else the finest that fits 32 bits.

    InputError where whole metres do not fit.
    """
    largest = float(np.abs(values).max(initial=0.0))
    limit = np.iinfo(np.int32).max
    if not largest <= limit:
        raise InputError(f"{path}: a coordinate of {largest:g} m does not fit SEG-Y (at most {limit} m)")
    fitting = [scalar for scalar in SCALARS if largest * abs(scalar) <= limit]
    for scalar in fitting:
        # Exact: a reader gets the same float64 by dividing.
        if np.array_equal(np.rint(values * abs(scalar)) / abs(scalar), values):
            return scalar
    return fitting[-1]


def offsets(source: NDArray[np.float64], receivers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Horizontal distances (n,) in m of receivers (n, 3) from a source (3,); on a line along x, where all y are equal,
    negative for receivers at smaller x.
    """
    distances = receivers[:, :2] - source[:2]
    if not distances[:, 1].any():
        return distances[:, 0]
    return np.hypot(distances[:, 0], distances[:, 1])


def trace_type(samples: int) -> np.dtype[Any]:
    """Structured dtype of one stored trace: the header fields in use, and the samples as "data"."""
    return np.dtype(
        {
            "names": [*FIELDS, "data"],
            "formats": [">" + code for _, code in FIELDS.values()] + [(">f4", (samples,))],
            "offsets": [position - 1 for position, _ in FIELDS.values()] + [HEADER],
            "itemsize": HEADER + 4 * samples,
        }
    )


def binary_header(samples: int, microseconds: int, sorting: int = AS_RECORDED) -> bytes:
    """The binary header, 400 bytes."""
    head = np.zeros(BINARY, np.uint8)
    for field, value in (
        (BinField.JobID, 1),
        (BinField.LineNumber, 1),
        (BinField.ReelNumber, 1),
        (BinField.Interval, microseconds),
        (BinField.IntervalOriginal, microseconds),
        (BinField.Samples, samples),
        (BinField.SamplesOriginal, samples),
        (BinField.Format, IEEE_FLOAT),
        (BinField.SortingCode, sorting),
        (BinField.MeasurementSystem, METRES),
        (BinField.TraceFlag, 1),  # all traces have the same length
    ):
        width = 4 if int(field) <= int(BinField.ReelNumber) else 2
        first = int(field) - 1 - TEXT
        head[first : first + width] = np.frombuffer(value.to_bytes(width, "big"), np.uint8)
    first = int(BinField.SEGYRevision) - 1 - TEXT
    head[first : first + 2] = (1, 0)
    return head.tobytes()


def textual_header(samples: int, microseconds: int, remarks: Sequence[str] = ()) -> bytes:
    """The textual header of a file of gathers, 3200 bytes. remarks: lines on coordinates."""
    lines = [
        "Written by Fathometer",
        "Shot gathers",
        f"{samples} samples every {microseconds} microseconds, the first at time 0",
        "IEEE floats, 4 bytes, big-endian (format 5), fixed trace length",
        "Lengths in metres; source depth positive down, elevations positive up",
        *remarks,
        "",
        "Bytes of the trace header:",
        "  1-4, 5-8    trace number in the file",
        "  9-12        field record (FFID)        13-16  channel",
        "  29-30       trace identification code  37-40  offset",
        "  41-44       receiver elevation         49-52  source depth",
        "  69-70       scalar of elevations and depths (negative divides)",
        "  71-72       scalar of coordinates (negative divides)",
        "  73-76       source x                   77-80  source y",
        "  81-84       receiver x                 85-88  receiver y",
        "  89-90       unit of coordinates (1: length)",
        "  115-116     samples                    117-118  interval, microseconds",
    ]
    return text_lines(lines)


def text_lines(lines: Sequence[str]) -> bytes:
    """A textual header of at most 38 lines and the standard's last two: 40 lines of 80 characters in EBCDIC."""
    forty = [*lines, *[""] * (38 - len(lines)), "SEG Y REV1", "END TEXTUAL HEADER"]
    text = "".join(f"C{number:2d} {line}"[:80].ljust(80) for number, line in enumerate(forty, 1))
    return text.encode("cp037", "replace")


def require_all(path: Path, written: NDArray[np.bool_]) -> None:
    """Raises FathometerError where a trace of a file has not been written; written: (traces,)."""
    if not written.all():
        raise FathometerError(
            f"{path}: {np.count_nonzero(~written)} of {len(written)} traces are missing "
            f"(the first: {int(np.argmin(written))}, from 0)"
        )
