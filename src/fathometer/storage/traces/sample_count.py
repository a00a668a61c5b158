"""Sample count of the traces of a SEG-Y or SU file: which of several that headers give fits the file's size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fathometer.base.errors import InputError
from fathometer.storage.reading import reading
from fathometer.storage.traces.headers import FIELDS, HEADER, Order, field_of, swap_pairs

PROBES = 16  # trace headers looked at to confirm a sample count


def sample_count(
    path: Path,
    size: int,
    start: int,
    width: int,
    counts: Mapping[int, str],
    order: Order,
    header: int = HEADER,
    pairs: bool = False,
) -> tuple[int, list[str]]:
    """The sample count that fits a file, and the fault of a file that none fits (at most one line).

    Among several that fit, and among those that leave a remainder, the one is taken at whose stride trace headers are
    found.

    Args:
        size: bytes of the file. start: bytes before the first trace. width: bytes of a sample.
        counts: candidates, each with the header that gives it. header: bytes of the headers of a trace.
        pairs: the bytes of headers are swapped in pairs.

    InputError where no count fits and none leads to trace headers.
    """
    data, counts = size - start, {count: whose for count, whose in counts.items() if count > 0}

    def leads(count: int) -> bool:
        stride = header + count * width
        return _leads_to_headers(path, start, data // stride, stride, order, pairs)

    fitting = [count for count in counts if data % (header + count * width) == 0]
    if fitting:
        return fitting[0] if len(fitting) == 1 else next(filter(leads, fitting), fitting[0]), []
    if not counts:
        raise InputError(f"{path}: neither the binary nor the first trace header gives the number of samples")
    fits = " and ".join(
        f"{data / (header + count * width):.2f} traces of {count} samples ({whose})" for count, whose in counts.items()
    )
    fault = f"is truncated or contradictory: {data} bytes of traces hold {fits}, no whole number"
    for count in filter(leads, counts):
        return count, [fault]
    raise InputError(f"{path}: {fault}")


def _leads_to_headers(path: Path, start: int, traces: int, stride: int, order: Order, pairs: bool) -> bool:
    """Whether most of some places a stride (bytes) apart hold headers with the first one's sample count and
    interval."""
    if traces < 2:
        return traces == 1
    chosen = np.unique(np.linspace(1, traces - 1, PROBES).astype(np.int64))
    fields = []  # (sample count, interval) of each header
    with reading(path), path.open("rb") as file:
        for trace in (0, *chosen):
            file.seek(start + int(trace) * stride)
            head = file.read(HEADER)
            head = swap_pairs(np.frombuffer(head, np.uint8)).tobytes() if pairs else head
            fields.append(tuple(field_of(head, *FIELDS[name], order) for name in ("samples", "interval")))
    alike = sum(other == fields[0] for other in fields[1:])
    return fields[0] != (0, 0) and 2 * alike > len(chosen)
