"""Layout of SEG-Y files, from the file headers, the first trace header and the file's size.

It is found here rather than by segyio's own `open`, which takes the binary header's word for the sample count, and must
be told the byte order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from segyio import BinField

from fathometer.base.errors import InputError
from fathometer.storage.reading import readable, reading
from fathometer.storage.traces.file_layout import INTERVALS_DIFFER, NO_INTERVAL, Layout
from fathometer.storage.traces.headers import (
    BINARY,
    EXTENDED_INTERVAL,
    EXTENSION_HEADERS,
    EXTENSION_NAME,
    EXTENSION_NAMES,
    FIELDS,
    HEADER,
    INTERVAL_TOLERANCE,
    TEXT,
    TRAILERS,
    Order,
    field_of,
    swap_pairs,
)
from fathometer.storage.traces.reference_system import text_of
from fathometer.storage.traces.sample_count import sample_count
from fathometer.storage.traces.sample_formats import SAMPLE_FORMATS, sample_type

BLANKS = (0x40, 0x20)  # EBCDIC and ASCII blank, in bytes that revision 0 left unassigned
ADDITIONAL_HEADERS = 3507  # position of the largest number of additional headers of a trace, i2, revision 2
# Byte orders by the four bytes from 3297 on, which revision 2 defines as the integer 16909060 (1, 2, 3, 4): the order,
# and whether the bytes are swapped in pairs before it applies.
MARK = slice(3296, 3300)
ORDERS: dict[bytes, tuple[Order, bool]] = {
    b"\1\2\3\4": (">", False),
    b"\4\3\2\1": ("<", False),
    b"\2\1\4\3": (">", True),
}
STANZA, STANZA_BYTES = re.compile(r"\(\([A-Za-z0-9]"), 3  # how a stanza begins: ((SEG: … ))
MOST_TRAILERS = 4096  # stanzas that are looked for
SHORTEST, LONGEST = 1e-3, 1e7  # µs: an extended sample interval outside is ignored
LIKELY = (1.0, 1e6)  # µs: one that is hardly there by accident


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
        head, order, pairs, code = _order_and_format(path, head)
        revision = head[3500] or head[3501]  # some writers leave the major revision in the minor's byte
        revision = 2 if pairs else 0 if revision in BLANKS else revision
        start = TEXT + BINARY + _extended_text(path, head, order)
        if revision >= 2:
            start = field_of(head, 3521, "u8", order) or start
        if start >= size:
            raise InputError(f"{path}: holds no traces ({size} bytes; by its header they begin behind {start})")
        file.seek(start)
        first = file.read(2 * HEADER)
        first = _swapped(first[: len(first) // 2 * 2]) if pairs else first
    if len(first) < HEADER:
        raise InputError(f"{path}: holds no traces ({size} bytes, of which {start} are file headers)")
    if text_of(first[:HEADER]).isprintable():  # a trace header has zeros
        raise InputError(
            f"{path}: text stands where traces begin, behind {start} bytes: extended textual headers that the binary "
            "header does not count (bytes 3505-3506)?"
        )

    in_binary = field_of(head, int(BinField.Samples), "u2", order)
    if revision >= 2:
        in_binary = field_of(head, int(BinField.ExtSamples), "i4", order) or in_binary
    in_trace = field_of(first, *FIELDS["samples"], order)
    width = sample_type(code, order).itemsize
    counts = {in_binary: "binary header"}
    counts.setdefault(in_trace, "trace header")
    most = field_of(head, ADDITIONAL_HEADERS, "i2", order) if revision >= 2 else 0
    ends = _ends(path, size, start, field_of(head, TRAILERS, "i4", order) if revision >= 2 else 0)
    end, additional, samples, truncated = _fitting_end(
        ends,
        lambda end: _fitting_headers(
            _additional_headers(most, first, order),
            lambda header: sample_count(
                path=path, size=end, start=start, width=width, counts=counts, order=order, header=header, pairs=pairs
            ),
        ),
    )
    header = HEADER * (1 + additional)
    notes = []
    if end == size and ends != [size]:
        notes.append(
            f"the binary header announces trailers behind the traces (bytes {TRAILERS}-{TRAILERS + 3}), but the file's "
            "size fits traces alone"
        )
    if not truncated and (0 < in_binary != samples or 0 < in_trace != samples):
        notes.append(
            f"sample counts differ: the binary header says {in_binary}, the first trace's {in_trace}; "
            f"the file's size fits {samples}"
        )
    if additional != max(most, 0):
        notes.append(
            f"the binary header announces {most} additional trace headers, the first trace's extension {additional}, "
            "which fits the file's size"
        )
    micros, two_intervals = _binary_interval(head, revision, order)
    interval, interval_notes, no_interval = _interval(micros, first, order)
    return Layout(
        path=path,
        order=order,
        revision=revision,
        format=code,
        start=start,
        samples=samples,
        traces=(end - start) // (header + samples * width),
        interval=interval,
        feet=field_of(head, int(BinField.MeasurementSystem), "i2", order) == 2,
        notes=(*notes, *two_intervals, *interval_notes),
        own_intervals=micros <= 0,
        faults=(*truncated, *no_interval),
        spare=(end - start) % (header + samples * width),
        additional=additional,
        pairs=pairs,
    )


def _order_and_format(path: Path, head: bytes) -> tuple[bytes, Order, bool, int]:
    """The file header, its pairs of bytes put in order; byte order; whether bytes are swapped in pairs; sample format.

    The order is that of revision 2's mark, or that in which the format code, a small number, is valid.
    """
    mark, codes = ORDERS.get(head[MARK]), []
    if mark is not None and mark[1]:
        head = head[:TEXT] + _swapped(head[TEXT:])
    orders: tuple[Order, ...] = (">", "<")
    for order in orders if mark is None else (mark[0], *orders):
        code = field_of(head, int(BinField.Format), "u2", order)
        if code in SAMPLE_FORMATS:
            pairs = mark is not None and mark[1]
            if pairs and sample_type(code, order).itemsize == 3:
                raise InputError(
                    f"{path}: samples of 3 bytes (format {code}) cannot be swapped in pairs (bytes 3297-3300)"
                )
            return head, order, pairs, code
        codes.append(code)
    known = ", ".join(map(str, SAMPLE_FORMATS))
    code = min(codes)
    what = "4-byte fixed point with gain, obsolete" if code == 4 else "unknown"
    raise InputError(
        f"{path}: is no SEG-Y that can be read: its sample format is {code} ({what}), bytes 3225-3226; allowed: {known}"
    )


def _swapped(data: bytes) -> bytes:
    return swap_pairs(np.frombuffer(data, np.uint8)).tobytes()


def _additional_headers(most: int, first: bytes, order: Order) -> list[int]:
    """How many headers each trace may have beside the first: as the binary header announces (`most`), or as the
    extension of the first trace's header says."""
    if most <= 0:
        return [0]
    extension = first[HEADER:]
    if extension[EXTENSION_NAME] not in EXTENSION_NAMES:
        return [most]
    own = field_of(extension, *EXTENSION_HEADERS, order)
    return [most, own] if 0 < own < most else [most]


def _fitting_headers(
    additional: list[int], counted: Callable[[int], tuple[int, list[str]]]
) -> tuple[int, int, list[str]]:
    """The first number of additional headers with which the traces fit the file, or else any; with the result of
    `counted` of the bytes of a trace's headers."""
    found: list[tuple[int, int, list[str]]] = []
    errors: list[InputError] = []
    for number in additional:
        try:
            found.append((number, *counted(HEADER * (1 + number))))
        except InputError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return next((one for one in found if not one[2]), found[0])


def _ends(path: Path, size: int, start: int, trailers: int) -> list[int]:
    """Where traces may end, the likeliest first: before as many trailer stanzas as announced, or before what begins
    like one where their number is unknown (-1), or with the file. Stanzas are as long as textual headers."""
    most = (size - start - HEADER) // TEXT
    if 0 < trailers <= most:
        return [size - trailers * TEXT, size]
    if trailers != -1:
        return [size]
    ends = []
    with reading(path), path.open("rb") as file:
        for end in range(size - min(most, MOST_TRAILERS) * TEXT, size, TEXT):
            file.seek(end)
            block = file.read(STANZA_BYTES)
            if any(STANZA.match(block.decode(code)) for code in ("cp037", "latin-1")):
                ends.append(end)
    return [*ends, size]


def _fitting_end(
    ends: list[int], fitted: Callable[[int], tuple[int, int, list[str]]]
) -> tuple[int, int, int, list[str]]:
    """The first end with which the traces fit the file, or else the first; with the result of `fitted`."""
    for end in ends:
        try:
            found = fitted(end)
        except InputError:
            continue
        if not found[2]:
            return end, *found
    return ends[0], *fitted(ends[0])


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


def _binary_interval(head: bytes, revision: int, order: Order) -> tuple[float, list[str]]:
    """The binary header's sample interval, µs, and a note where it has another one that is as likely."""
    plain = field_of(head, int(BinField.Interval), "i2", order)
    if revision >= 2:
        extended = float(np.frombuffer(head, order + "f8", 1, EXTENDED_INTERVAL - 1)[0])
        # Some writers leave anything there: it counts only as a more precise value of the other field, or where that is
        # unset.
        if SHORTEST < extended < LONGEST and (plain <= 0 or abs(extended - plain) <= INTERVAL_TOLERANCE):
            return extended, []
        if LIKELY[0] <= extended <= LIKELY[1]:
            note = (
                f"{INTERVALS_DIFFER}: {plain} µs in the binary header, {extended:.10g} µs in its extended field (bytes "
                f"{EXTENDED_INTERVAL}-{EXTENDED_INTERVAL + 7}); the former is used"
            )
            return plain, [note]
    return plain, []


def _interval(in_binary: float, first: bytes, order: Order) -> tuple[float, list[str], list[str]]:
    """Sample interval (s), notes and fault: the binary header's (µs), the first trace's where that is zero; 0 where
    neither is positive.
    """
    in_trace = field_of(first, *FIELDS["interval"], order)
    chosen = in_binary or in_trace
    if chosen <= 0:
        fault = f"{NO_INTERVAL}: {in_binary:g} µs in the binary header, {in_trace} µs in the first trace's"
        return 0.0, [], [fault]
    notes = []
    if in_binary and in_trace and abs(in_binary - in_trace) > INTERVAL_TOLERANCE:
        notes.append(
            f"{INTERVALS_DIFFER}: {in_binary:g} µs in the binary header, {in_trace} µs in the first "
            f"trace's; the binary header's is used"
        )
    return chosen / 1e6, notes, []
