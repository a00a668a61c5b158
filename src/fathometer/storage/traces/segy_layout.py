"""Layout of SEG-Y files, from the file headers, the first trace header and the file's size.

It is found here rather than by segyio's own `open`, which takes the binary header's word for the sample count, and must
be told the byte order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from segyio import BinField

from fathometer.base.errors import InputError
from fathometer.storage.reading import readable, reading
from fathometer.storage.traces.headers import BINARY, FIELDS, HEADER, INTERVAL_TOLERANCE, TEXT, Order, field_of
from fathometer.storage.traces.layout import Layout
from fathometer.storage.traces.sample_count import sample_count
from fathometer.storage.traces.sample_formats import SAMPLE_FORMATS, sample_type

BLANKS = (0x40, 0x20)  # EBCDIC and ASCII blank, in bytes that revision 0 left unassigned
EXTENDED_INTERVAL = 3273  # position of the interval in µs, f8, revision 2; segyio has no name for it
SHORTEST, LONGEST = 1e-3, 1e7  # µs: an extended sample interval outside is ignored


def segy_layout_of(path: Path) -> Layout:
    """Layout of a SEG-Y file, which may be truncated (`spare`) or lack a sample interval (0): `faults` tell.

    InputError: missing, too short, an unknown sample format, no traces, contradictory sample counts.
    """
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
    width = sample_type(code, order).itemsize
    counts = {in_binary: "binary header"}
    counts.setdefault(in_trace, "trace header")
    samples, truncated = sample_count(path, size, start, width, counts, order)
    notes = []
    if not truncated and (0 < in_binary != samples or 0 < in_trace != samples):
        notes.append(
            f"sample counts differ: the binary header says {in_binary}, the first trace's {in_trace}; "
            f"the file's size fits {samples}"
        )
    micros = _binary_interval(head, revision, order)
    interval, interval_notes, no_interval = _interval(micros, first, order)
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
        notes=(*notes, *interval_notes),
        own_intervals=micros <= 0,
        faults=(*truncated, *no_interval),
        spare=(size - start) % (HEADER + samples * width),
    )


def _order_and_format(path: Path, head: bytes) -> tuple[Order, int]:
    """Byte order and sample format code, a small number that is valid in one byte order only."""
    orders: tuple[Order, ...] = (">", "<")
    codes = {order: field_of(head, int(BinField.Format), "u2", order) for order in orders}
    for order in orders:
        if codes[order] in SAMPLE_FORMATS:
            return order, codes[order]
    known = ", ".join(map(str, SAMPLE_FORMATS))
    code = min(codes.values())
    what = "4-byte fixed point with gain, obsolete" if code == 4 else "unknown"
    raise InputError(f"{path}: sample format {code} ({what}) is not supported (allowed: {known})")


def _extended_text(path: Path, head: bytes, order: Order) -> int:
    """Bytes of the extended textual headers; a count of -1 means up to the one with ((SEG: EndText))."""
    count = field_of(head, int(BinField.ExtendedHeaders), "i2", order)
    if count in [blank * 0x101 for blank in BLANKS]:  # both of its bytes
        return 0
    if count >= 0:
        return count * TEXT
    with path.open("rb") as file:
        file.seek(TEXT + BINARY)
        headers = 0
        while len(block := file.read(TEXT)) == TEXT:
            headers += 1
            for encoding in ("cp037", "latin-1"):
                words = "".join(block.decode(encoding).split()).lower()
                if "((seg:endtext))" in words:
                    return headers * TEXT
    raise InputError(f"{path}: announces extended textual headers, but none of them is ((SEG: EndText))")


def _binary_interval(head: bytes, revision: int, order: Order) -> float:
    """The binary header's sample interval, µs."""
    plain = field_of(head, int(BinField.Interval), "i2", order)
    if revision >= 2:
        extended = float(np.frombuffer(head, order + "f8", 1, EXTENDED_INTERVAL - 1)[0])
        # Some writers leave anything there: it counts only as a more precise value of the other field, or where that is
        # unset.
        if SHORTEST < extended < LONGEST and (plain <= 0 or abs(extended - plain) <= INTERVAL_TOLERANCE):
            return extended
    return plain


def _interval(in_binary: float, first: bytes, order: Order) -> tuple[float, list[str], list[str]]:
    """Sample interval (s), notes and fault: the binary header's (µs), the first trace's where that is zero; 0 where
    neither is positive.
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
    if in_binary and in_trace and abs(in_binary - in_trace) > INTERVAL_TOLERANCE:
        notes.append(
            f"sample intervals differ: {in_binary:g} µs in the binary header, {in_trace} µs in the first "
            f"trace's; the binary header's is used"
        )
    return chosen / 1e6, notes, []
