"""Layout of Seismic Unix (SU) files: traces without a file header, each with SEG-Y's trace header and IEEE floats.

Byte order and sample count are found from the trace headers and the file's size.
"""

from __future__ import annotations

from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.storage.reading import readable, reading
from fathometer.storage.traces.file_layout import NO_INTERVAL, Layout
from fathometer.storage.traces.headers import FIELDS, HEADER, Order, field_of
from fathometer.storage.traces.sample_count import sample_count

IEEE_FLOAT, SAMPLE_BYTES = 5, 4  # format code and bytes of the samples
LARGEST_FIRST_TRACE = 1 << 24  # number of a first trace: in the wrong byte order a 1 is 16777216


def su_layout_of(path: Path) -> Layout:
    """Layout of an SU file, which may be truncated (`spare`) or lack a sample interval (0): `faults` tell.

    InputError: missing, no whole trace, a sample count that does not fit the file in either byte order.
    """
    readable(path)
    size = path.stat().st_size
    with reading(path), path.open("rb") as file:
        first = file.read(HEADER)
    if len(first) < HEADER:
        raise InputError(f"{path}: is not SU: {size} bytes, fewer than the {HEADER} of a trace header")
    layouts: list[Layout] = []  # of the byte orders that fit
    orders: tuple[Order, ...] = ("<", ">")
    for order in orders:
        count = field_of(first, *FIELDS["samples"], order)
        try:
            samples, truncated = sample_count(path, size, 0, SAMPLE_BYTES, {count: "first trace header"}, order)
        except InputError:
            continue
        micros = field_of(first, *FIELDS["interval"], order)
        no_interval = [] if micros > 0 else [f"{NO_INTERVAL}: {micros} µs in the first trace's header"]
        trace_bytes = HEADER + samples * SAMPLE_BYTES
        layouts.append(
            Layout(
                path=path,
                order=order,
                revision=1,
                format=IEEE_FLOAT,
                start=0,
                samples=samples,
                traces=size // trace_bytes,
                interval=max(micros, 0) / 1e6,
                feet=False,
                notes=(),
                kind="SU",
                own_intervals=True,
                faults=(*truncated, *no_interval),
                spare=size % trace_bytes,
            )
        )
    if not layouts:
        counts = " or ".join(str(field_of(first, *FIELDS["samples"], order)) for order in orders)
        raise InputError(
            f"{path}: is not SU: its first trace's header says {counts} samples (little- or big-endian), and {size} "
            "bytes are no traces of that length"
        )

    def doubt(layout: Layout) -> tuple[int, bool]:
        number = field_of(first, *FIELDS["line_sequence"], layout.order)
        return len(layout.faults), not 0 <= number < LARGEST_FIRST_TRACE

    return min(layouts, key=doubt)
