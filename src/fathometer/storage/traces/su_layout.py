"""How the bytes of a Seismic Unix (SU) file lie: traces alone, with the headers of SEG-Y, and IEEE floats.

The file says neither its byte order nor how many samples a trace has but in the headers of the traces themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from fathometer.base.errors import InputError
from fathometer.storage.traces.segy_layout import FIELDS, HEADER, Layout, field_of, samples_of
from fathometer.storage.volumes.block import readable, reading

FLOAT, WIDTH = 5, 4  # code and bytes of the samples
LARGEST_NUMBER = 1 << 24  # of a first trace: in the wrong byte order a 1 is 16777216


def su_layout_of(path: Path) -> Layout:
    """Find the layout of an SU file; `faults` of the layout tell what is truncated or has no sample interval.

    InputError: missing, no whole trace, a sample count that does not fit the file in either byte order.
    """
    readable(path)
    size = path.stat().st_size
    with reading(path), path.open("rb") as file:
        first = file.read(HEADER)
    if len(first) < HEADER:
        raise InputError(f"{path}: is not SU: {size} bytes, fewer than the {HEADER} of a trace header")
    found: list[Layout] = []
    orders: tuple[Literal["<", ">"], ...] = ("<", ">")
    for order in orders:
        count = field_of(first, *FIELDS["samples"], order)
        try:
            samples, cut = samples_of(path, size, 0, WIDTH, {count: "first trace header"}, order)
        except InputError:
            continue
        micro = field_of(first, *FIELDS["interval"], order)
        none = [] if micro > 0 else [f"the sample interval is not positive: {micro} µs in the first trace's header"]
        trace = HEADER + samples * WIDTH
        found.append(
            Layout(
                path=path,
                order=order,
                revision=1,
                format=FLOAT,
                start=0,
                samples=samples,
                traces=size // trace,
                interval=max(micro, 0) / 1e6,
                feet=False,
                notes=(),
                kind="SU",
                own_intervals=True,
                faults=(*cut, *none),
                spare=size % trace,
            )
        )
    if not found:
        counts = " or ".join(str(field_of(first, *FIELDS["samples"], order)) for order in orders)
        raise InputError(
            f"{path}: is not SU: its first trace's header says {counts} samples (little- or big-endian), and {size} "
            "bytes are no traces of that length"
        )

    def doubt(layout: Layout) -> tuple[int, bool]:
        number = field_of(first, *FIELDS["line_sequence"], layout.order)
        return len(layout.faults), not 0 <= number < LARGEST_NUMBER

    return min(found, key=doubt)
