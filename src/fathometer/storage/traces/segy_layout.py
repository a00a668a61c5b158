"""How the bytes of a SEG-Y file lie: byte order, sample format, sample count, where traces begin.

All fields are read by the positions of the SEG-Y standard (rev 0 1975, rev 1 2002, rev 2 2017;
library.seg.org), which segyio names; byte positions count from 1 as there. The layout is found here rather
than by segyio's own `open`, since that takes the binary header's word for the sample count, and its byte
order must be known beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from segyio import BinField, TraceField

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.storage.volumes.block import readable, reading

TEXT, BINARY, HEADER = 3200, 400, 240  # bytes of the textual, the binary and a trace header
CHUNK = 1 << 24  # bytes of traces handled at a time
BLANKS = (0x40, 0x20)  # EBCDIC and ASCII, in what revision 0 left unassigned
EXTENDED_INTERVAL = 3273  # µs, f8, revision 2; segyio has no name for it
ROUNDED = 0.999  # µs by which whole numbers that were rounded, or cut, differ from that
SHORTEST, LONGEST = 1e-3, 1e7  # µs between samples: what is not between them is no interval
SU = ".su"  # Seismic Unix: traces alone
INDEX = ".parquet"  # of such files (storage/index)

# Sample formats: NumPy type of one sample as it lies in the file, and the words for it.
IBM, INT24 = 1, 7
FORMATS = MappingProxyType(
    {
        1: ("u4", "4-byte IBM float"),
        2: ("i4", "4-byte integer"),
        3: ("i2", "2-byte integer"),
        5: ("f4", "4-byte IEEE float"),
        6: ("f8", "8-byte IEEE float"),
        7: ("V3", "3-byte integer"),
        8: ("i1", "1-byte integer"),
        9: ("i8", "8-byte integer"),
        10: ("u4", "4-byte unsigned integer"),
        11: ("u2", "2-byte unsigned integer"),
        12: ("u8", "8-byte unsigned integer"),
        16: ("u1", "1-byte unsigned integer"),
    }
)

# Fields of a trace header in use: first byte (from 1) and integer type.
FIELDS = MappingProxyType(
    {
        "line_sequence": (int(TraceField.TRACE_SEQUENCE_LINE), "i4"),
        "file_sequence": (int(TraceField.TRACE_SEQUENCE_FILE), "i4"),
        "ffid": (int(TraceField.FieldRecord), "i4"),
        "channel": (int(TraceField.TraceNumber), "i4"),
        "cdp": (int(TraceField.CDP), "i4"),
        "cdp_trace": (int(TraceField.CDP_TRACE), "i4"),
        "kind": (int(TraceField.TraceIdentificationCode), "i2"),
        "offset": (int(TraceField.offset), "i4"),
        "receiver_elevation": (int(TraceField.ReceiverGroupElevation), "i4"),
        "source_elevation": (int(TraceField.SourceSurfaceElevation), "i4"),
        "source_depth": (int(TraceField.SourceDepth), "i4"),
        "elevation_scalar": (int(TraceField.ElevationScalar), "i2"),
        "coordinate_scalar": (int(TraceField.SourceGroupScalar), "i2"),
        "source_x": (int(TraceField.SourceX), "i4"),
        "source_y": (int(TraceField.SourceY), "i4"),
        "group_x": (int(TraceField.GroupX), "i4"),
        "group_y": (int(TraceField.GroupY), "i4"),
        "coordinate_units": (int(TraceField.CoordinateUnits), "i2"),
        "delay": (int(TraceField.DelayRecordingTime), "i2"),
        "samples": (int(TraceField.TRACE_SAMPLE_COUNT), "u2"),
        "interval": (int(TraceField.TRACE_SAMPLE_INTERVAL), "i2"),
        "cdp_x": (int(TraceField.CDP_X), "i4"),
        "cdp_y": (int(TraceField.CDP_Y), "i4"),
        "inline": (int(TraceField.INLINE_3D), "i4"),
        "crossline": (int(TraceField.CROSSLINE_3D), "i4"),
        "time_scalar": (int(TraceField.ScalarTraceHeader), "i2"),
    }
)


@dataclass(frozen=True)
class Layout:
    """Where everything lies in one SEG-Y file."""

    path: Path
    order: Literal["<", ">"]  # byte order
    revision: int  # 0, 1 or 2
    format: int  # sample format code
    start: int  # bytes before the first trace
    samples: int  # per trace
    traces: int
    interval: float  # s
    feet: bool  # lengths in feet (binary header's measurement system)
    notes: tuple[str, ...]  # what was contradictory, and what was made of it
    kind: str = "SEG-Y"  # or "SU"
    own_intervals: bool = False  # no header of the file gives the interval: that of the first trace is `interval`
    faults: tuple[str, ...] = ()  # what only an index makes something of; `layout_of` refuses it
    spare: int = 0  # bytes behind the last whole trace

    @property
    def named(self) -> str:
        """For people."""
        return self.kind if self.kind == "SU" else f"{self.kind} revision {self.revision}"

    @property
    def sample_type(self) -> np.dtype[Any]:
        """Type of one sample as it lies in the file."""
        return np.dtype(FORMATS[self.format][0]).newbyteorder(self.order)

    @property
    def trace_bytes(self) -> int:
        """Bytes of one trace with its header."""
        return HEADER + self.samples * self.sample_type.itemsize

    def rows(self) -> NDArray[np.uint8]:
        """The traces with their headers, bytes (traces, trace_bytes), mapped into memory."""
        with reading(self.path):
            return np.memmap(self.path, np.uint8, "r", self.start, (self.traces, self.trace_bytes))

    def headers(self, names: Iterable[str]) -> dict[str, NDArray[np.int64]]:
        """Fields (of FIELDS) of all trace headers, each int64 (traces,)."""
        found = {name: np.empty(self.traces, np.int64) for name in names}
        rows = self.rows()
        step = max(1, CHUNK // HEADER)
        for first in range(0, self.traces, step):
            part = rows[first : first + step, :HEADER]
            with ledger.io(bytes=part.size):
                heads = np.ascontiguousarray(part)
            for name, values in found.items():
                position, code = FIELDS[name]
                kind = np.dtype(code).newbyteorder(self.order)
                field = np.ascontiguousarray(heads[:, position - 1 : position - 1 + kind.itemsize])
                values[first : first + step] = field.view(kind)[:, 0]
        return found

    def decode(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """The samples, (n, samples) as real numbers in native byte order, of n traces as they lie in the
        file.
        """
        return self.decode_samples(rows[:, HEADER:])

    def decode_samples(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """The same of n traces without their headers."""
        raw = np.ascontiguousarray(rows)
        if self.format == IBM:
            return from_ibm(raw.view(self.sample_type).astype(np.uint32))
        if self.format == INT24:
            parts = raw.reshape(len(raw), self.samples, 3)[:, :, :: 1 if self.order == "<" else -1]
            wide = np.zeros((len(raw), self.samples, 4), np.uint8)
            wide[:, :, 1:] = parts  # in the upper three bytes, so that the shift below extends the sign
            return wide.view("<i4")[:, :, 0].astype(np.int32) >> 8
        values = raw.view(self.sample_type)
        return values.astype(values.dtype.newbyteorder("="))


def from_ibm(words: NDArray[np.uint32]) -> NDArray[np.float32]:
    """IBM System/360 floats: sign, 7 bits of exponent to the base 16 (excess 64), 24 bits of fraction.

    Exact wherever float32 reaches; beyond it an infinity.
    """
    fraction = (words & 0x00FFFFFF).astype(np.float32)
    exponent = 4 * (((words >> 24) & 0x7F).astype(np.int32) - 64) - 24
    size = np.ldexp(fraction, exponent)
    return np.where(words >> 31, -size, size)


def layout_of(path: Path) -> Layout:
    """Find the layout of a SEG-Y file, or by its suffix of an SU file, from its headers and its size.

    InputError: missing, too short, an unknown sample format, truncated or contradictory sample counts, no
    traces, no positive sample interval.
    """
    if path.suffix.lower() == SU:
        from fathometer.storage.traces.su_layout import su_layout_of

        layout = su_layout_of(path)
    else:
        layout = segy_layout_of(path)
    if layout.faults:
        raise InputError(f"{path}: {layout.faults[0]}")
    return layout


def segy_layout_of(path: Path) -> Layout:
    """The same of a SEG-Y file that may be truncated (`spare`) or have no sample interval (0), which `faults` tell."""
    readable(path)
    size = path.stat().st_size
    with reading(path), path.open("rb") as file:
        head = file.read(TEXT + BINARY)
        if len(head) < TEXT + BINARY:
            raise InputError(f"{path}: is not SEG-Y: {size} bytes, fewer than the {TEXT + BINARY} of its file header")
        order, code = _order_and_format(path, head)
        revision = head[3500] or head[3501]  # some writers leave the major revision in the minor's byte
        revision = 0 if revision in BLANKS else revision
        start = TEXT + BINARY + _extended_text(path, head, order)
        if revision >= 2:
            if field_of(head, 3507, "i4", order) > 0:
                raise InputError(f"{path}: SEG-Y revision 2 with additional trace headers is not supported")
            start = field_of(head, 3521, "u8", order) or start
        file.seek(start)
        first = file.read(HEADER)
    if size <= start or len(first) < HEADER:
        raise InputError(f"{path}: holds no traces ({size} bytes, of which {min(start, size)} are file headers)")

    in_binary = field_of(head, int(BinField.Samples), "u2", order)
    if revision >= 2:
        in_binary = field_of(head, int(BinField.ExtSamples), "i4", order) or in_binary
    in_trace = field_of(first, *FIELDS["samples"], order)
    width = np.dtype(FORMATS[code][0]).itemsize
    counts = {in_binary: "binary header"}
    counts.setdefault(in_trace, "trace header")
    samples, cut = samples_of(path, size, start, width, counts, order)
    notes = []
    if not cut and (0 < in_binary != samples or 0 < in_trace != samples):
        notes.append(
            f"sample counts differ: the binary header says {in_binary}, the first trace's {in_trace}; "
            f"the file's size fits {samples}"
        )
    said = _in_binary(head, revision, order)
    interval, note, none = _interval(said, first, order)
    return Layout(
        path=path,
        order=order,
        revision=revision,
        format=code,
        start=start,
        samples=samples,
        traces=(size - start) // (HEADER + samples * width),
        interval=interval,
        feet=field_of(head, int(BinField.MeasurementSystem), "i2", order) == 2,
        notes=(*notes, *note),
        own_intervals=said <= 0,
        faults=(*cut, *none),
        spare=(size - start) % (HEADER + samples * width),
    )


def field_of(head: bytes, position: int, code: str, order: Literal["<", ">"]) -> int:
    """A field of a header by its first byte (from 1), type and byte order."""
    return int(np.frombuffer(head, np.dtype(code).newbyteorder(order), 1, position - 1)[0])


def _order_and_format(path: Path, head: bytes) -> tuple[Literal["<", ">"], int]:
    """The format code is a small number, so that it is plausible in one byte order only."""
    place = int(BinField.Format)
    codes = {order: field_of(head, place, "u2", order) for order in (">", "<")}
    for order in (">", "<"):
        if codes[order] in FORMATS:
            return order, codes[order]
    known = ", ".join(map(str, FORMATS))
    code = min(codes.values())
    what = "4-byte fixed point with gain, obsolete" if code == 4 else "unknown"
    raise InputError(f"{path}: sample format {code} ({what}) is not supported (allowed: {known})")


def _extended_text(path: Path, head: bytes, order: Literal["<", ">"]) -> int:
    """Bytes of the extended textual headers; a count of -1 means up to the one with ((SEG: EndText))."""
    count = field_of(head, int(BinField.ExtendedHeaders), "i2", order)
    if count in [blank * 0x101 for blank in BLANKS]:  # two of them
        return 0
    if count >= 0:
        return count * TEXT
    with path.open("rb") as file:
        file.seek(TEXT + BINARY)
        number = 0
        while len(block := file.read(TEXT)) == TEXT:
            number += 1
            for encoding in ("cp037", "latin-1"):
                words = "".join(block.decode(encoding).split()).lower()
                if "((seg:endtext))" in words:
                    return number * TEXT
    raise InputError(f"{path}: announces extended textual headers, but none of them is ((SEG: EndText))")


def samples_of(
    path: Path, size: int, start: int, width: int, counts: dict[int, str], order: Literal["<", ">"]
) -> tuple[int, list[str]]:
    """Which of the sample counts, each with the header that says it, fits the bytes of a file from `start`; and the
    fault of a file that none fits.

    Of several that fit, and of those that leave a rest, the one is believed that leads to what looks like trace
    headers. InputError where none fits or does.
    """
    data, counts = size - start, {count: whose for count, whose in counts.items() if count > 0}

    def leads(count: int) -> bool:
        step = HEADER + count * width
        return _leads_to_headers(path, start, data // step, step, order)

    fitting = [count for count in counts if data % (HEADER + count * width) == 0]
    if fitting:
        return fitting[0] if len(fitting) == 1 else next(filter(leads, fitting), fitting[0]), []
    if not counts:
        raise InputError(f"{path}: neither the binary nor the first trace header gives the number of samples")
    fits = " and ".join(
        f"{data / (HEADER + count * width):.2f} traces of {count} samples ({whose})" for count, whose in counts.items()
    )
    fault = f"is truncated or contradictory: {data} bytes of traces hold {fits}, no whole number"
    for count in filter(leads, counts):
        return count, [fault]
    raise InputError(f"{path}: {fault}")


def _leads_to_headers(path: Path, start: int, traces: int, step: int, order: Literal["<", ">"]) -> bool:
    """Whether most of some places a trace apart hold headers with the sample count and interval of the first one."""
    if traces < 2:
        return traces == 1
    chosen = np.unique(np.linspace(1, traces - 1, 16).astype(np.int64))
    found = []
    with reading(path), path.open("rb") as file:
        for trace in (0, *chosen):
            file.seek(start + int(trace) * step)
            head = file.read(HEADER)
            found.append(tuple(field_of(head, *FIELDS[name], order) for name in ("samples", "interval")))
    alike = sum(one == found[0] for one in found[1:])
    return found[0] != (0, 0) and 2 * alike > len(chosen)


def _in_binary(head: bytes, revision: int, order: Literal["<", ">"]) -> float:
    """The binary header's sample interval, µs."""
    plain = field_of(head, int(BinField.Interval), "i2", order)
    if revision >= 2:
        extended = float(np.frombuffer(head, order + "f8", 1, EXTENDED_INTERVAL - 1)[0])
        # Some writers leave anything there: it only says the other field more precisely, or what does not fit there.
        if SHORTEST < extended < LONGEST and (plain <= 0 or abs(extended - plain) <= ROUNDED):
            return extended
    return plain


def _interval(in_binary: float, first: bytes, order: Literal["<", ">"]) -> tuple[float, list[str], list[str]]:
    """Sample interval in s: the binary header's (µs), the first trace's where that is zero; 0 where it is not positive.
    And the notes and the fault that belong to it.
    """
    in_trace = field_of(first, *FIELDS["interval"], order)
    chosen = in_binary or in_trace
    if chosen <= 0:
        fault = (
            f"the sample interval is not positive: {in_binary:g} µs in the binary header, {in_trace} µs in the first "
            "trace's"
        )
        return 0.0, [], [fault]
    notes = []
    if in_binary and in_trace and abs(in_binary - in_trace) > ROUNDED:
        notes.append(
            f"sample intervals differ: {in_binary:g} µs in the binary header, {in_trace} µs in the first "
            f"trace's; the binary header's is used"
        )
    return chosen / 1e6, notes, []
