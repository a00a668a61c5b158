"""The picture of a survey's index: `fathometer info INDEX.parquet --picture OUT.png`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.pictures.gather import MOST_TRACES, signed_offsets
from fathometer.pictures.survey_map import FLATTEST, ShownGather, survey_picture
from fathometer.storage.index.anomalies import UNUSABLE
from fathometer.storage.index.table import TraceIndex
from fathometer.storage.traces.segy import decode_traces

_PLACES = ("source_x", "source_y", "receiver_x", "receiver_y")
_SHOWN = (*_PLACES, "offset", "shot", "file", "trace", "samples", "interval", "delay")

Points = npt.NDArray[np.float64]
Rows = dict[str, npt.NDArray[Any]]


def index_picture(path: Path, index_path: Path) -> None:
    """Draw the usable traces of an index: map, fold, offsets, and the gather of the middle shot.

    Without the gather where its files have gone or changed, which the picture says. InputError where it is no index or
    none of its traces can be used; FathometerError where the picture can't be written.
    """
    index = TraceIndex(index_path)
    rows = index.columns([*_SHOWN, "flags"])
    good = rows.pop("flags") & np.uint16(UNUSABLE) == 0
    if not good.any():
        raise InputError(f"{index_path}: none of its {len(good)} traces can be used; see `fathometer info`")
    rows = {name: values[good] for name, values in rows.items()}
    source, receiver = (np.stack([rows[f"{what}_{axis}"] for axis in "xy"], axis=1) for what in ("source", "receiver"))
    sources, receivers = distinct(source), distinct(receiver)
    gather, note = None, ""
    try:
        gather = _middle(index, rows, source, receiver, _is_line(sources, receivers))
    except InputError as error:
        note = f"no gather: {error}"
    left = len(good) - int(np.count_nonzero(good))
    title = f"{index_path.name}: {index.summary.shots} shots, {np.count_nonzero(good)} traces"
    if left:
        title += f" ({left} left out)"
    survey_picture(path, sources, receivers, ((source + receiver) / 2, rows["offset"]), gather, title, note)


def distinct(places: Points) -> Points:
    """The different ones of places (n, 2)."""
    found = np.unique(places[:, 0] + 1j * places[:, 1])
    return np.stack((found.real, found.imag), axis=1)


def _is_line(sources: Points, receivers: Points) -> bool:
    spread = np.ptp(np.concatenate([sources, receivers]), axis=0)
    return float(spread.min()) <= FLATTEST * float(spread.max())


def _middle(index: TraceIndex, rows: Rows, source: Points, receiver: Points, line: bool) -> ShownGather:
    """The middle one of the shots, sorted by offset: with its sign on a line, where the sides differ."""
    keys, first = np.unique(rows["shot"], return_index=True)
    shot = int(keys[np.argsort(first)[len(keys) // 2]])
    mine = np.flatnonzero(rows["shot"] == shot)
    alike = [rows[name][mine] == rows[name][mine[0]] for name in ("samples", "interval", "delay")]
    mine = mine[np.all(alike, axis=0)]
    offsets = signed_offsets(source[mine], receiver[mine]) if line else rows["offset"][mine]
    order = np.argsort(offsets, kind="stable")
    order = order[:: -(-len(order) // MOST_TRACES)]
    mine, offsets = mine[order], offsets[order]
    traces = np.empty((len(mine), int(rows["samples"][mine[0]])), np.float32)
    for file in np.unique(rows["file"][mine]):
        own = np.flatnonzero(rows["file"][mine] == file)
        layout = index.summary.files[file].layout(index.folder)
        traces[own] = decode_traces(layout, rows["trace"][mine[own]])
    delay, interval = float(rows["delay"][mine[0]]), float(rows["interval"][mine[0]])
    return ShownGather(f"shot {shot}, {len(mine)} traces", traces, offsets, interval, delay)
