"""Description of an index, and the table of its anomalies."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, extent_in_words, number_of
from fathometer.base.text_tables import TextColumn, ruled
from fathometer.storage.index.anomalies import UNUSABLE
from fathometer.storage.index.table import Sampling, Summary, TraceIndex

NARROWEST = 120  # characters of a table, so that in a log not every word is on a line of its own
MOST_LISTED = 5  # of kinds of sampling
COLUMNS = (
    TextColumn("what", most=30),
    TextColumn("count", right=True),
    TextColumn("what is made of it", most=20),
    TextColumn("first"),
)

Ends = tuple[float, float]


@dataclass(frozen=True)
class IndexDescription:
    """Description of an index; extents are (smallest, largest) of its usable traces, None without any."""

    path: Path
    summary: Summary
    channels: tuple[int, int] | None  # fewest and most traces of a shot
    source: tuple[Ends, ...] | None  # m, of x, y, z
    receiver: tuple[Ends, ...] | None  # m
    offset: Ends | None  # m
    sizes: int  # bytes of all files
    changed: tuple[str, ...]  # files that are missing or have changed, one line each

    @property
    def kind(self) -> str:
        """ "index"."""
        return "index"

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        summary = self.summary
        kinds = Counter(f"{file.kind}{f' revision {file.revision}' * (file.kind != 'SU')}" for file in summary.files)
        rows = [
            ("file", str(self.path)),
            ("kind", "index of a survey"),
            ("files", f"{len(summary.files)} ({', '.join(f'{n} {kind}' for kind, n in kinds.items())}), "
             f"{bytes_in_words(self.sizes)}"),
            ("shots", f"{summary.shots}"),
            ("traces", f"{summary.traces}, of which {summary.usable} can be used"),
        ]  # fmt: skip
        if self.channels is not None and self.source and self.receiver and self.offset:
            fewest, most = self.channels
            rows.append(("channels per shot", f"{fewest}" if fewest == most else f"{fewest} to {most}"))
            for point, extents in (("source", self.source), ("receiver", self.receiver)):
                rows += [(f"{point} {axis}", extent_in_words(*ends)) for axis, ends in zip("xyz", extents, strict=True)]
            rows.append(("offset", extent_in_words(*self.offset)))
        rows += [("ghosts", str(notch)) for notch in summary.notches]
        rows += [("sampling", text) for text in sampling_lines(summary.samplings)]
        rows += [
            ("anomaly", f"{anomaly.count} {anomaly.words}: {anomaly.made}; first: {anomaly.first}")
            for anomaly in summary.anomalies
        ]
        words = {name: word for name, word in summary.words.items() if word != "none"}
        rows.append(("header words", ", ".join(f"{name} {word}" for name, word in words.items())))
        rows += [("note", note) for note in summary.notes]
        return rows + [("changed", text) for text in self.changed]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; SI units in the keys."""
        summary = self.summary

        def axes(extents: tuple[Ends, ...] | None) -> dict[str, list[float]] | None:
            return None if extents is None else {axis: list(ends) for axis, ends in zip("xyz", extents, strict=True)}

        return {
            "kind": self.kind,
            "path": str(self.path),
            "files": [
                {"name": file.name, "format": file.kind, "traces": file.traces, "bytes": file.size}
                for file in summary.files
            ],
            "shots": summary.shots,
            "traces": summary.traces,
            "usable_traces": summary.usable,
            "channels_per_shot": None if self.channels is None else list(self.channels),
            "source_metres": axes(self.source),
            "receiver_metres": axes(self.receiver),
            "offset_metres": None if self.offset is None else list(self.offset),
            "samplings": [
                {
                    "samples": sampling.samples,
                    "interval_seconds": sampling.interval,
                    "delay_seconds": sampling.delay,
                    "traces": sampling.traces,
                    "first_file": sampling.file,
                }
                for sampling in summary.samplings
            ],
            "ghosts": [
                {
                    "of": notch.of,
                    "depth_metres": notch.depth,
                    "expected_hertz": notch.expected,
                    "notch_hertz": notch.found or None,
                }
                for notch in summary.notches
            ],
            "anomalies": [anomaly.as_dict() for anomaly in summary.anomalies],
            "header_words": dict(summary.words),
            "notes": list(summary.notes),
            "changed": list(self.changed),
        }


def describe_index(path: Path) -> IndexDescription:
    """Describe an index, whose files are not read, only checked for changes. InputError where it is none."""
    index = TraceIndex(path)
    coordinates = [f"{point}_{axis}" for point in ("source", "receiver") for axis in "xyz"]
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    shots: list[NDArray[np.int64]] = []
    for rows in index.groups([*coordinates, "offset", "shot", "flags"]):
        usable = rows["flags"] & np.uint16(UNUSABLE) == 0
        if usable.any():
            shots.append(rows["shot"][usable])
            for name in (*coordinates, "offset"):
                low[name] = min(low.get(name, np.inf), float(rows[name][usable].min()))
                high[name] = max(high.get(name, -np.inf), float(rows[name][usable].max()))
    counts = np.unique(np.concatenate(shots), return_counts=True)[1] if shots else None
    changed = []
    for file in index.summary.files:
        try:
            file.layout(index.folder)
        except InputError as error:
            changed.append(str(error))

    def extents(point: str) -> tuple[Ends, ...] | None:
        return tuple((low[f"{point}_{axis}"], high[f"{point}_{axis}"]) for axis in "xyz") if shots else None

    return IndexDescription(
        path=path,
        summary=index.summary,
        channels=None if counts is None else (int(counts.min()), int(counts.max())),
        source=extents("source"),
        receiver=extents("receiver"),
        offset=(low["offset"], high["offset"]) if shots else None,
        sizes=sum(file.size for file in index.summary.files),
        changed=tuple(changed),
    )


def sampling_lines(samplings: tuple[Sampling, ...]) -> list[str]:
    """Lines that tell the kinds of sampling, the most frequent first."""
    if len(samplings) == 1:
        return [str(samplings[0])]
    lines = [f"{kind.traces} traces: {kind}; first in {kind.file}" for kind in samplings[:MOST_LISTED]]
    if (more := len(samplings) - MOST_LISTED) > 0:
        rest = sum(kind.traces for kind in samplings[MOST_LISTED:])
        lines.append(f"{rest} traces: {more} more kinds of sampling")
    return lines


def table_of(index: TraceIndex) -> str:
    """What `survey build` prints: totals, and a table of the anomalies."""
    summary = index.summary
    lines = [
        f"{index.path}: {number_of(len(summary.files), 'file')}, {summary.shots} shots, "
        f"{summary.traces} traces, of which {summary.usable} can be used"
    ]
    lines += [f"sampling: {text}" for text in sampling_lines(summary.samplings)]
    if len(summary.samplings) > 1:
        lines.append("sampling: `migrate` takes all of these to one time axis, with the most frequent interval")
    lines += [f"ghosts: {notch}" for notch in summary.notches]
    lines += [f"note: {note}" for note in summary.notes]
    if not summary.anomalies:
        return "\n".join([*lines, "no anomaly"])
    width = max(NARROWEST, shutil.get_terminal_size().columns)
    rows = [(anomaly.words, str(anomaly.count), anomaly.made, anomaly.first) for anomaly in summary.anomalies]
    return "\n".join([*lines, ruled("anomalies", COLUMNS, rows, width)])
