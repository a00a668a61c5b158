"""The traces of a survey's index, as the tables that scanning the headers of its files would give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.storage.index.anomalies import DESCRIPTIONS, UNUSABLE, Flag
from fathometer.storage.index.table import Sampling, TraceIndex
from fathometer.storage.traces.segy import TraceTable

_AXES = "xyz"
_KEYS = {str(flag.name).lower() for flag in Flag if flag in UNUSABLE}  # of anomalies that rows tell by their flags
_COLUMNS = (
    *("file", "trace", "shot", "channel", "interval", "samples", "delay", "flags"),
    *(f"{what}_{axis}" for what in ("source", "receiver") for axis in _AXES),
)


def indexed_tables(path: Path) -> tuple[list[TraceTable], tuple[str, ...]]:
    """A table for each file of an index that holds something, and notes on what is left out. No header is read.

    Live are the traces without an anomaly that forbids their use, and sampled as most of these are. InputError where
    the index or one of its files cannot be used, and where no trace can.
    """
    index = TraceIndex(path)
    layouts = index.layouts()
    rows = index.columns(_COLUMNS)
    good = rows["flags"] & np.uint16(UNUSABLE) == 0
    notes = [f"{path}: {note}" for note in _left_out(rows["flags"])]
    if not good.any():
        raise InputError(
            f"{path}: none of its {len(good)} traces can be used: {'; '.join(_left_out(rows['flags']))}; see "
            "`fathometer info`"
        )
    common, same = _common(rows, good)
    if other := int(np.count_nonzero(good & ~same)):
        first = int(np.flatnonzero(good & ~same)[0])
        where = f"{index.folder / index.summary.files[rows['file'][first]].name}"
        notes.append(
            f"{path}: {other} of {np.count_nonzero(good)} traces are left out, since they are not sampled as most are, "
            f"{common}; first: trace {rows['trace'][first]} of {where}, {_sampling(rows, first)}"
        )
    live = good & same
    tables = []
    starts = np.searchsorted(rows["file"], np.arange(len(layouts) + 1))
    for number, (layout, indexed) in enumerate(zip(layouts, index.summary.files, strict=True)):
        mine = slice(starts[number], starts[number + 1])
        if not live[mine].any():
            continue
        source, receiver = (
            np.stack([rows[f"{what}_{axis}"][mine] for axis in _AXES], axis=1) for what in ("source", "receiver")
        )
        tables.append(
            TraceTable(
                path=index.folder / indexed.name,
                layout=layout,
                samples=common.samples,
                interval=common.interval,
                delay=common.delay,
                ffid=rows["shot"][mine],
                channel=rows["channel"][mine],
                source=source,
                receiver=receiver,
                live=live[mine],
                notes=(),
            )
        )
    repaired = [
        f"{path}: {one.count} {one.words}: {one.made}; first: {one.first}"
        for one in index.summary.anomalies
        if one.key not in _KEYS
    ]
    return tables, (*index.summary.notes, *repaired, *notes)


def _left_out(flags: npt.NDArray[np.uint16]) -> list[str]:
    """How many traces cannot be used, and why; a trace may have several reasons."""
    counts = {flag: int(np.count_nonzero(flags & np.uint16(flag))) for flag in Flag if flag in UNUSABLE}
    return [
        f"{count} of {len(flags)} traces: {DESCRIPTIONS[flag]}: left out" for flag, count in counts.items() if count
    ]


def _common(
    rows: dict[str, npt.NDArray[np.generic]], good: npt.NDArray[np.bool_]
) -> tuple[Sampling, npt.NDArray[np.bool_]]:
    """How most good traces are sampled (of several as frequent, the first that appears), and which traces are so."""
    keys = np.stack([np.asarray(rows[name], np.float64) for name in ("samples", "interval", "delay")], axis=1)
    kinds, first, counts = np.unique(keys[good], axis=0, return_index=True, return_counts=True)
    most = min(range(len(kinds)), key=lambda k: (-counts[k], first[k]))
    samples, interval, delay = kinds[most].tolist()
    return Sampling(int(samples), interval, delay, int(counts[most]), ""), np.all(keys == kinds[most], axis=1)


def _sampling(rows: dict[str, npt.NDArray[np.generic]], row: int) -> Sampling:
    samples, interval, delay = (rows[name][row].item() for name in ("samples", "interval", "delay"))
    return Sampling(samples, interval, delay, 1, "")
