"""Reading gathers in SEG-Y and SU: the table of all trace headers of a file, and samples of chosen traces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.storage.traces.detect import layout_of
from fathometer.storage.traces.doubts import WORDS, Doubts
from fathometer.storage.traces.extension import extension_of, overridden
from fathometer.storage.traces.file_layout import CHUNK_BYTES, Layout
from fathometer.storage.traces.format_doubts import format_doubts
from fathometer.storage.traces.headers import FOOT
from fathometer.storage.traces.intervals import interval_notes, intervals_of
from fathometer.storage.traces.segy_writer import GatherWriter

__all__ = ["GatherWriter", "TraceTable", "read_traces", "scan"]

Number = TypeVar("Number", np.int64, np.float64)
Seen = Callable[[int, NDArray[np.uint8]], None]

SAME_PLACE = 1e-3  # m; headers hold decimal fractions, so equal places may differ by rounding
# Trace identification codes of live seismic data: unknown, seismic, pressure and vertical sensors.
PRESSURE, VERTICAL = 11, 12
LIVE = (0, 1, PRESSURE, VERTICAL)

# Largest values that coordinates in angles can have, by the code of their unit (bytes 89–90).
ANGLE_UNITS = {
    2: ("arc seconds", 360 * 3600),
    3: ("decimal degrees", 360),
    4: ("degrees, minutes, seconds", 360 * 10000),
}

GEOMETRY = (
    *("ffid", "channel", "kind", "delay", "time_scalar", "interval"),
    *("receiver_elevation", "source_elevation", "source_depth", "elevation_scalar"),
    *("coordinate_scalar", "source_x", "source_y", "group_x", "group_y", "coordinate_units"),
)


@dataclass(frozen=True)
class TraceTable:
    """The headers of all n traces of one file."""

    path: Path
    layout: Layout
    samples: int  # of each trace
    delays: NDArray[np.float64]  # (n,) s, time of the first sample
    intervals: NDArray[np.float64]  # (n,) s, 0 for none
    ffid: NDArray[np.int64]  # (n,) field record number
    channel: NDArray[np.int64]  # (n,) trace number within the field record
    source: NDArray[np.float64]  # (n, 3) m: x, y, z; z is positive down from the elevation datum
    receiver: NDArray[np.float64]  # (n, 3) m, likewise
    live: NDArray[np.bool_]  # (n,) marked as seismic data (or not marked at all), with a sample interval
    notes: tuple[str, ...]  # contradictions between headers and how they were resolved, one line each
    suspects: NDArray[np.bool_] | None = None  # (n,) loud traces by an index; None: nobody has looked

    @property
    def interval(self) -> float:
        """Sample interval of the first trace, s."""
        return float(self.intervals[0])

    @property
    def delay(self) -> float:
        """Time of the earliest first sample of live traces, s."""
        return float(self.delays[self.live].min() if self.live.any() else self.delays[0])


def scan(path: Path, interval: float | None = None) -> TraceTable:
    """Read all trace headers of a SEG-Y or SU file (either byte order).

    Scalars are applied to coordinates and elevations (positive multiplies, negative divides, 0 is 1);
    lengths in feet are converted, with a note. Source z is its depth less its surface elevation, receiver z
    is minus its elevation. interval: of the samples in s, in place of the headers'.

    InputError: the file is missing, truncated, without traces or of an unknown sample format; its sample
    counts or intervals are contradictory beyond repair; coordinates are angles; samples are of another format than
    declared, and no numbers as declared.
    """
    layout = layout_of(path, interval)
    head = layout.headers(dict.fromkeys((*GEOMETRY, *WORDS)))
    notes = list(layout.notes)

    extension = extension_of(layout)
    head["shot"], head["receiver_x"], head["receiver_y"] = head["ffid"], head["group_x"], head["group_y"]
    head["receiver_depth"] = np.zeros(layout.traces, np.int64)
    places = positions(head, extension)
    source, receiver = (
        np.stack([places[f"{what}_{axis}"] for axis in "xyz"], axis=1) for what in ("source", "receiver")
    )
    largest = max(float(np.abs(points[:, :2]).max()) for points in (source, receiver))
    notes += check_units(layout, set(np.unique(head["coordinate_units"]).tolist()), largest)
    if layout.feet:
        source, receiver = source * FOOT, receiver * FOOT
        notes.append("lengths are in feet by the binary header; converted to metres")
    doubts = Doubts()
    ends = {"source": source, "receiver": receiver}
    marked_live = np.isin(head["kind"], LIVE)
    ends_by_axis = {f"{what}_{axis}": ends[what][:, n] for what in ends for n, axis in enumerate("xyz")}
    doubts.add(head, ends_by_axis, marked_live, 0)
    notes += doubts.notes(layout)
    notes += format_doubts(layout)
    notes += interval_notes(layout, head["interval"])
    intervals = intervals_of(layout, head["interval"])
    if not (source[:, :2].any() or receiver[:, :2].any()):
        notes.append("the trace headers carry no coordinates: every source and receiver is at the origin")
    if dead := int(np.count_nonzero(~marked_live)):
        notes.append(f"{dead} of {layout.traces} traces are marked as dead or as other than seismic data")
    return TraceTable(
        path=path,
        layout=layout,
        samples=layout.samples,
        delays=delays_of(layout, head),
        intervals=intervals,
        live=marked_live & (intervals > 0),
        ffid=overridden("shot", head["ffid"], extension),
        channel=head["channel"],
        source=source,
        receiver=receiver,
        notes=tuple(notes),
    )


def positions(
    head: Mapping[str, NDArray[Number]], extension: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[np.float64]]:
    """Sources and receivers, source_x … receiver_z (n,), in the file's unit of length, z positive down.

    head: header words by the names of an index. extension: what holds in their place (extension.py).
    """
    horizontal, vertical = head["coordinate_scalar"], head["elevation_scalar"]
    places = {}
    for what in ("source", "receiver"):
        for axis in "xy":
            name = f"{what}_{axis}"
            places[name] = overridden(name, scaled(head[name], horizontal), extension)
        depth, elevation = f"{what}_depth", f"{what}_elevation"
        if extension:
            below, above = (overridden(name, scaled(head[name], vertical), extension) for name in (depth, elevation))
            places[f"{what}_z"] = below - above
        else:
            places[f"{what}_z"] = scaled(head[depth] - head[elevation], vertical)
    return places


def moving_sources(table: TraceTable) -> tuple[str, ...]:
    """A note on the shots whose live traces have their source at several places, with the first of them."""
    live = np.flatnonzero(table.live)
    order = live[np.argsort(table.ffid[live], kind="stable")]
    ffid, source = table.ffid[order], table.source[order]
    begins = np.flatnonzero(np.diff(ffid, prepend=ffid[:1] - 1))
    lengths = np.diff(np.append(begins, len(ffid)))
    distance = np.abs(source - np.repeat(source[begins], lengths, axis=0)).max(axis=1, initial=0)
    moved = np.flatnonzero(distance > SAME_PLACE)
    if not len(moved):
        return ()
    first = moved[np.argmin(order[moved])]  # in the order of the file
    before = begins[np.searchsorted(begins, first, "right") - 1]
    here, there = (", ".join(f"{metres:.10g}" for metres in source[place]) for place in (first, before))
    return (
        f"the source moves within {len(np.unique(ffid[moved]))} of {len(begins)} shots; first: shot {ffid[first]} has "
        f"it at ({there}) m in trace {order[before]}, at ({here}) m in trace {order[first]} (from 0); to migrate, one "
        "place is needed (`fathometer survey build --shot-key` tells shots apart by another header word)",
    )


def read_traces(
    file: Path | Layout, indices: Sequence[int] | NDArray[np.integer], seen: Seen | None = None
) -> NDArray[np.float32]:
    """Traces by their numbers (from 0, in any order), float32 (len(indices), samples), of a file or its layout.

    seen: as of `decode_traces`.
    InputError: as in `scan`; a number outside the file; a NaN or an infinity, named by trace and sample.
    """
    layout = file if isinstance(file, Layout) else layout_of(file)
    path = layout.path
    traces = decode_traces(layout, indices, seen)
    if not np.isfinite(traces).all():
        row, sample = np.argwhere(~np.isfinite(traces))[0]
        value, trace = traces[row, sample], int(np.asarray(indices)[row])
        raise InputError(
            f"{path}: trace {trace} (of {layout.traces}, from 0) holds {value} at sample {sample} "
            f"(of {layout.samples}, from 0); finite float32 values are needed"
        )
    return traces


def decode_traces(layout: Layout, indices: ArrayLike, seen: Seen | None = None) -> NDArray[np.float32]:
    """As `read_traces`, by a layout, without the check for finite values.

    seen: called for each part of the traces with the position in `indices` of its first one and the bytes of their
        samples as stored, uint8 (n, bytes).
    """
    numbers = np.asarray(indices, np.int64).reshape(-1)
    outside = numbers[(numbers < 0) | (numbers >= layout.traces)]
    if len(outside):
        raise InputError(f"{layout.path}: there is no trace {outside[0]} (0 to {layout.traces - 1} are allowed)")
    traces = np.empty((len(numbers), layout.samples), np.float32)
    step = max(1, CHUNK_BYTES // layout.trace_bytes)
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float32 values become infinite, for the caller to check
        for first in range(0, len(numbers), step):
            part = numbers[first : first + step]
            with ledger.io(bytes=len(part) * layout.trace_bytes):
                stored = layout.stored(part)
            if seen is not None:
                seen(first, stored[:, layout.header_bytes :])
            traces[first : first + step] = layout.decode(stored)
    return traces


def scaled(values: NDArray[Number], scalar: NDArray[Number]) -> NDArray[np.float64]:
    """Header values (n,) with their SEG-Y scalars (n,) applied; negative ones divide, so that 123 / 10 is 12.3."""
    if len(scalar) and (scalar == scalar[0]).all():  # as in most files: one operation suffices
        factor = max(abs(scalar[0].item()), 1)
        return np.asarray(values / factor if scalar[0] < 0 else values.astype(np.float64) * factor)
    factors = np.maximum(np.abs(scalar), 1)
    return np.asarray(np.where(scalar < 0, values / factors, values.astype(np.float64) * factors))


def delays_of(layout: Layout, head: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float64]:
    """Times (n,) of the first samples, s; the headers give ms, since revision 1 with a scalar."""
    scalar = head["time_scalar"] if layout.revision >= 1 else np.zeros_like(head["delay"])
    return scaled(head["delay"], scalar) / 1000


def check_units(layout: Layout, declared: Collection[int], largest: float) -> list[str]:
    """Notes on coordinates declared as angles that cannot be angles; InputError where they can.

    declared: all unit codes of a file; largest: magnitude of its coordinates, as stored. The code alone is not
    trusted: there are field data that declare metres as degrees.
    """
    notes = []
    for code, (name, limit) in ANGLE_UNITS.items():
        if largest == 0 or code not in declared:
            continue
        declaration = f"coordinates are declared as {name} (coordinate units {code})"
        if largest > limit:
            notes.append(f"{declaration}, but reach {largest:g}, which no angle does; read as metres")
        elif layout.revision == 0 and code != 2:
            notes.append(f"{declaration}, which SEG-Y revision 0 does not define; read as metres")
        else:
            raise InputError(
                f"{layout.path}: {declaration}; only lengths are allowed: project them to metres (units 1)"
            )
    return notes
