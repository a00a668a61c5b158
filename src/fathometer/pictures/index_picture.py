"""Picture of the index of a survey: `fathometer info INDEX.parquet --picture OUT.png`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.pictures.gather import MOST_TRACES, signed_offsets
from fathometer.pictures.survey_map import LINE_WIDTH, ShownGather, survey_picture
from fathometer.storage.index.anomalies import UNUSABLE
from fathometer.storage.index.table import TraceIndex
from fathometer.storage.traces.segy import decode_traces

_POSITIONS = ("source_x", "source_y", "receiver_x", "receiver_y")
_COLUMNS = (*_POSITIONS, "offset", "shot", "file", "trace", "samples", "interval", "delay")

Points = npt.NDArray[np.float64]
Rows = dict[str, npt.NDArray[Any]]


def index_picture(path: Path, index_path: Path) -> None:
    """Draw the usable traces of an index: map, fold, offsets, and the gather of the middle shot.

    The gather is left out, with a note, where its files are missing or have changed. InputError where it is no index or
    none of its traces can be used; FathometerError where the picture can't be written.
    """
    index = TraceIndex(index_path)
    rows = index.columns([*_COLUMNS, "flags"])
    usable = rows.pop("flags") & np.uint16(UNUSABLE) == 0
    if not usable.any():
        raise InputError(f"{index_path}: none of its {len(usable)} traces can be used; see `fathometer info`")
    rows = {name: values[usable] for name, values in rows.items()}
    source, receiver = (
        np.stack([rows[f"{point}_{axis}"] for axis in "xy"], axis=1) for point in ("source", "receiver")
    )
    sources, receivers = distinct(source), distinct(receiver)
    gather, note = None, ""
    try:
        gather = _middle_gather(index, rows, source, receiver, _is_line(sources, receivers))
    except InputError as error:
        note = f"no gather: {error}"
    left_out = len(usable) - int(np.count_nonzero(usable))
    title = f"{index_path.name}: {index.summary.shots} shots, {np.count_nonzero(usable)} traces"
    if left_out:
        title += f" ({left_out} left out)"
    survey_picture(path, sources, receivers, ((source + receiver) / 2, rows["offset"]), gather, title, note)


def distinct(positions: Points) -> Points:
    """The distinct positions of (n, 2), in m."""
    unique = np.unique(positions[:, 0] + 1j * positions[:, 1])
    return np.stack((unique.real, unique.imag), axis=1)


def _is_line(sources: Points, receivers: Points) -> bool:
    spread = np.ptp(np.concatenate([sources, receivers]), axis=0)
    return float(spread.min()) <= LINE_WIDTH * float(spread.max())


def _middle_gather(index: TraceIndex, rows: Rows, source: Points, receiver: Points, line: bool) -> ShownGather:
    """The gather of the middle shot, sorted by offset; signed, if the survey is a line."""
    shots, first = np.unique(rows["shot"], return_index=True)
    shot = int(shots[np.argsort(first)[len(shots) // 2]])
    rows_of_shot = np.flatnonzero(rows["shot"] == shot)
    first_row = rows_of_shot[0]
    alike = [rows[name][rows_of_shot] == rows[name][first_row] for name in ("samples", "interval", "delay")]
    selected = rows_of_shot[np.all(alike, axis=0)]
    offsets = signed_offsets(source[selected], receiver[selected]) if line else rows["offset"][selected]
    order = np.argsort(offsets, kind="stable")
    order = order[:: -(-len(order) // MOST_TRACES)]
    selected, offsets = selected[order], offsets[order]
    traces = np.empty((len(selected), int(rows["samples"][selected[0]])), np.float32)
    for file in np.unique(rows["file"][selected]):
        of_file = np.flatnonzero(rows["file"][selected] == file)
        layout = index.summary.files[file].layout(index.folder)
        traces[of_file] = decode_traces(layout, rows["trace"][selected[of_file]])
    delay, interval = float(rows["delay"][selected[0]]), float(rows["interval"][selected[0]])
    return ShownGather(f"shot {shot}, {len(selected)} traces", traces, offsets, interval, delay)
