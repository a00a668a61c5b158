"""Sample intervals of the traces of a file, from its headers and theirs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import INTERVAL_TOLERANCE

LONGEST_SECONDS = 1e9
ALLOWED = (1e-12, LONGEST_SECONDS)  # s

Words = NDArray[np.float64] | NDArray[np.int64]


def intervals_of(layout: Layout, own: Words) -> NDArray[np.float64]:
    """Sample intervals (n,) in s: the file's, or where it has none the traces' own (n,), µs; 0 for none."""
    if not layout.own_intervals:
        return np.full(len(own), layout.interval)
    seconds = own / 1e6
    usable = (ALLOWED[0] <= seconds) & (seconds <= ALLOWED[1])
    return np.asarray(np.where(usable, seconds, np.where(own == 0, layout.interval, 0.0)))


def contradicting(layout: Layout, own: Words) -> NDArray[np.bool_]:
    """Which traces (n,) say another interval than the file, whose word counts; own: theirs, µs, 0 for none."""
    if layout.own_intervals or layout.given_interval:
        return np.zeros(len(own), bool)
    return np.asarray((own != 0) & (np.abs(own - 1e6 * layout.interval) > INTERVAL_TOLERANCE))


def interval_notes(layout: Layout, own: Words) -> list[str]:
    """A line on traces that contradict the file, and on those that have no interval: with the first of each."""
    told = bool((own == own[0]).all())  # a note of the layout compares the first trace with the file
    kinds = (
        (contradicting(layout, own) & (not told), "another sample interval than the file: the file's interval is used"),
        (intervals_of(layout, own) <= 0, "no positive sample interval: left out"),
    )
    notes = []
    for mask, what in kinds:
        if mask.any():
            first = int(np.argmax(mask))
            notes.append(
                f"{np.count_nonzero(mask)} of {len(own)} traces: {what}; first: trace {first} (from 0): "
                f"{own[first]:g} µs, {1e6 * layout.interval:g} µs in the file"
            )
    return notes
