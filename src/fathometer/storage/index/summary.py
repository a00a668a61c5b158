"""What an index holds, in words and numbers."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.storage.index.anomalies import UNUSABLE, Anomaly
from fathometer.storage.index.table import Sampling, Summary, TraceIndex

NARROWEST = 120  # columns of a table: what stands in a log should not be folded at every word
MOST_LISTED = 5  # of kinds of sampling

Ends = tuple[float, float]


@dataclass(frozen=True)
class IndexDescription:
    """An index; extents are (first, last) of its usable traces, None where there is none."""

    path: Path
    summary: Summary
    channels: tuple[int, int] | None  # fewest and most traces of a shot
    source: tuple[Ends, ...] | None  # m, of x, y, z
    receiver: tuple[Ends, ...] | None  # m
    offset: Ends | None  # m
    sizes: int  # bytes of all files
    changed: tuple[str, ...]  # files that have gone or are other ones than were indexed

    @property
    def kind(self) -> str:
        """ "index"."""
        return "index"

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        summary = self.summary
        kinds = Counter(f"{one.kind}{f' revision {one.revision}' * (one.kind != 'SU')}" for one in summary.files)
        rows = [
            ("file", str(self.path)),
            ("kind", "index of a survey"),
            ("files", f"{len(summary.files)} ({', '.join(f'{n} {kind}' for kind, n in kinds.items())}), "
             f"{1e-9 * self.sizes:.3g} GB"),
            ("shots", f"{summary.shots}"),
            ("traces", f"{summary.traces}, of which {summary.usable} can be used"),
        ]  # fmt: skip
        if self.channels is not None and self.source and self.receiver and self.offset:
            fewest, most = self.channels
            rows.append(("channels per shot", f"{fewest}" if fewest == most else f"{fewest} to {most}"))
            for what, ends in (("source", self.source), ("receiver", self.receiver)):
                rows += [(f"{what} {axis}", _extent(one)) for axis, one in zip("xyz", ends, strict=True)]
            rows.append(("offset", _extent(self.offset)))
        rows += [("sampling", text) for text in sampling_lines(summary.samplings)]
        rows += [(("anomaly"), f"{one.count} {one.words}: {one.made}; first: {one.first}") for one in summary.anomalies]
        words = {name: word for name, word in summary.words.items() if word != "none"}
        rows.append(("header words", ", ".join(f"{name} {word}" for name, word in words.items())))
        rows += [("note", note) for note in summary.notes]
        return rows + [("changed", text) for text in self.changed]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; SI units in the keys."""
        summary = self.summary

        def axes(ends: tuple[Ends, ...] | None) -> dict[str, list[float]] | None:
            return None if ends is None else {axis: list(one) for axis, one in zip("xyz", ends, strict=True)}

        return {
            "kind": self.kind,
            "path": str(self.path),
            "files": [
                {"name": one.name, "format": one.kind, "traces": one.traces, "bytes": one.size} for one in summary.files
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
                    "samples": one.samples,
                    "interval_seconds": one.interval,
                    "delay_seconds": one.delay,
                    "traces": one.traces,
                    "first_file": one.file,
                }
                for one in summary.samplings
            ],
            "anomalies": [one.as_dict() for one in summary.anomalies],
            "header_words": dict(summary.words),
            "notes": list(summary.notes),
            "changed": list(self.changed),
        }


def describe_index(path: Path) -> IndexDescription:
    """Describe an index; its files are looked at, but not read. InputError where it is none."""
    index = TraceIndex(path)
    places = [f"{what}_{axis}" for what in ("source", "receiver") for axis in "xyz"]
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    shots: list[NDArray[np.int64]] = []
    for rows in index.groups([*places, "offset", "shot", "flags"]):
        good = rows["flags"] & np.uint16(UNUSABLE) == 0
        if good.any():
            shots.append(rows["shot"][good])
            for name in (*places, "offset"):
                low[name] = min(low.get(name, np.inf), float(rows[name][good].min()))
                high[name] = max(high.get(name, -np.inf), float(rows[name][good].max()))
    counts = np.unique(np.concatenate(shots), return_counts=True)[1] if shots else None
    changed = []
    for one in index.summary.files:
        try:
            one.layout(index.folder)
        except InputError as error:
            changed.append(str(error))

    def ends(what: str) -> tuple[Ends, ...] | None:
        return tuple((low[f"{what}_{axis}"], high[f"{what}_{axis}"]) for axis in "xyz") if shots else None

    return IndexDescription(
        path=path,
        summary=index.summary,
        channels=None if counts is None else (int(counts.min()), int(counts.max())),
        source=ends("source"),
        receiver=ends("receiver"),
        offset=(low["offset"], high["offset"]) if shots else None,
        sizes=sum(one.size for one in index.summary.files),
        changed=tuple(changed),
    )


def sampling_lines(samplings: tuple[Sampling, ...]) -> list[str]:
    """How the traces are sampled, the most frequent first."""
    if len(samplings) == 1:
        return [str(samplings[0])]
    lines = [f"{one.traces} traces: {one}; first in {one.file}" for one in samplings[:MOST_LISTED]]
    if (more := len(samplings) - MOST_LISTED) > 0:
        rest = sum(one.traces for one in samplings[MOST_LISTED:])
        lines.append(f"{rest} traces: {more} more kinds of sampling")
    return lines


def table_of(index: TraceIndex) -> str:
    """What `survey build` prints: what is there, and a table of the anomalies."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    summary = index.summary
    lines = [
        f"{index.path}: {len(summary.files)} file{'s' * (len(summary.files) != 1)}, {summary.shots} shots, "
        f"{summary.traces} traces, of which {summary.usable} can be used"
    ]
    lines += [f"sampling: {text}" for text in sampling_lines(summary.samplings)]
    if len(summary.samplings) > 1:
        lines.append("sampling: `migrate` takes the traces of the most frequent kind, and leaves the others out")
    lines += [f"note: {note}" for note in summary.notes]
    if not summary.anomalies:
        return "\n".join([*lines, "no anomaly"])
    table = Table(title="anomalies", title_justify="left")
    table.add_column("what", max_width=30)
    table.add_column("count", justify="right")
    table.add_column("what is made of it", max_width=20)
    table.add_column("first", overflow="fold")
    for one in summary.anomalies:
        table.add_row(*(escape(text) for text in _cells(one)))
    drawn = io.StringIO()
    width = max(NARROWEST, shutil.get_terminal_size().columns)
    Console(file=drawn, width=width).print(table)
    return "\n".join([*lines, drawn.getvalue().rstrip()])


def _cells(one: Anomaly) -> tuple[str, str, str, str]:
    return one.words, str(one.count), one.made, one.first


def _extent(ends: Ends) -> str:
    first, last = ends
    return f"{first:.10g} m" if first == last else f"{first:.10g} to {last:.10g} m"
