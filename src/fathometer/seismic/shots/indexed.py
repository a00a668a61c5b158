"""Trace tables from a survey's index, as a scan of the headers of its files would give them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.storage.index.anomalies import DESCRIPTIONS, UNUSABLE, Flag
from fathometer.storage.index.table import TraceIndex
from fathometer.storage.traces.segy import TraceTable

_AXES = "xyz"
# Of anomalies that flags mark in the rows, and of those that the migration tells itself.
_KEYS = {str(flag.name).lower() for flag in Flag if flag in UNUSABLE | Flag.LOUD}
_MOST_LISTED = 3  # sample intervals, the shortest
_COLUMNS = (
    *("file", "trace", "shot", "channel", "interval", "delay", "flags"),
    *(f"{what}_{axis}" for what in ("source", "receiver") for axis in _AXES),
)


def indexed_tables(path: Path, interval: float | None = None) -> tuple[list[TraceTable], tuple[str, ...]]:
    """A trace table for each file of an index with usable traces, and notes on what is left out. No header is read.

    Live are the traces without an anomaly that forbids their use.
    interval: of the samples in s, in place of what the headers said; traces may lack one then.
    Raises InputError where the index or one of its files cannot be used, and where no trace can.
    """
    index = TraceIndex(path)
    layouts = index.layouts()
    rows = index.columns(_COLUMNS)
    given: list[str] = []
    if interval is not None:
        micros = ", ".join(f"{1e6 * seconds:.10g}" for seconds in np.unique(rows["interval"])[:_MOST_LISTED])
        rows["interval"] = np.full(len(rows["interval"]), interval)
        rows["flags"] = rows["flags"] & ~np.uint16(Flag.NO_INTERVAL)
        given = [
            f"{path}: the sample interval is taken as {1e6 * interval:.10g} µs, as was asked for; indexed: {micros} µs"
        ]
    usable = rows["flags"] & np.uint16(UNUSABLE) == 0
    notes = [*given, *(f"{path}: {note}" for note in _left_out(rows["flags"]))]
    if not usable.any():
        raise InputError(
            f"{path}: none of its {len(usable)} traces can be used: {'; '.join(_left_out(rows['flags']))}; see "
            "`fathometer info`"
        )
    tables = []
    starts = np.searchsorted(rows["file"], np.arange(len(layouts) + 1))
    for number, (layout, indexed) in enumerate(zip(layouts, index.summary.files, strict=True)):
        own = slice(starts[number], starts[number + 1])
        if not usable[own].any():
            continue
        source, receiver = (
            np.stack([rows[f"{what}_{axis}"][own] for axis in _AXES], axis=1) for what in ("source", "receiver")
        )
        tables.append(
            TraceTable(
                path=index.folder / indexed.name,
                layout=layout,
                samples=layout.samples,
                delays=np.asarray(rows["delay"][own], np.float64),
                intervals=np.asarray(rows["interval"][own], np.float64),
                ffid=rows["shot"][own],
                channel=rows["channel"][own],
                source=source,
                receiver=receiver,
                live=usable[own],
                notes=(),
                suspects=rows["flags"][own] & np.uint16(Flag.LOUD) != 0 if index.summary.judged else None,
            )
        )
    repaired = [
        f"{path}: {anomaly.count} {anomaly.words}: {anomaly.made}; first: {anomaly.first}"
        for anomaly in index.summary.anomalies
        if anomaly.key not in _KEYS
    ]
    return tables, (*index.summary.notes, *repaired, *notes)


def _left_out(flags: npt.NDArray[np.uint16]) -> list[str]:
    """Messages on how many traces cannot be used, and why; a trace may have several reasons."""
    counts = {flag: int(np.count_nonzero(flags & np.uint16(flag))) for flag in Flag if flag in UNUSABLE}
    return [
        f"{count} of {len(flags)} traces: {DESCRIPTIONS[flag]}: left out" for flag, count in counts.items() if count
    ]
