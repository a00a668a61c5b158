"""Reading SEG-Y as a volume: traces on a regular grid of inlines and crosslines, or along one line.

Labels are "inline" and "crossline" in the order in which the file is sorted (slowest first), then "z"; a line of traces
has "trace" and "z". The format does not say whether samples are depths or times: where the textual header is that of a
volume in time written here, the last label is "t"; `times` has the headers' delay and interval, whatever they mean. A
sample interval may mean milliseconds of time or millimetres or metres of depth, and line numbers
are not distances, so that spacing and origin remain unknown. CDP coordinates (bytes 181 and 185) give those of the
traces in the coordinates of the survey. A volume in depth written here says in its textual header what interval and
delay of its headers mean; a delay in the trace headers of another is not taken for a depth, which a note says.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.storage.reading import reading
from fathometer.storage.traces.detect import volume_layout_of
from fathometer.storage.traces.doubts import system_doubts, weighting_doubts
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import TEXT
from fathometer.storage.traces.purpose import holds_gathers
from fathometer.storage.traces.reference_system import LINE, crs_of_file, datum_of, text_of
from fathometer.storage.traces.sample_formats import IBM, INT24, SAMPLE_FORMATS, UINT24
from fathometer.storage.traces.segy import scaled
from fathometer.storage.traces.segy_writer import LARGEST_SHORT
from fathometer.storage.volumes.block import TIME, BlockReader, VolumeInfo
from fathometer.storage.volumes.boxes import Box
from fathometer.storage.volumes.formats.segy_encoding import (
    DEPTH_DELAY,
    IN_TIME,
    MILLIMETRES,
    NO_UNIT,
    PARTS_OF_A_METRE,
)
from fathometer.storage.volumes.formats.segy_place import says_no_place
from fathometer.storage.volumes.formats.segy_trace_places import PLACES, trace_places
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.raw_array import RawArray

OURS, FIRST_DEPTH = "Written by Fathometer", re.compile(r"First sample at: (\S+) m\s")
DEPTH_STEP = re.compile(r"Sample interval: (\S+) m; ")
DEPTH_UNIT = re.compile(r"Sample interval: \S+ m; in headers, (?:in|rounded to) (\w+): ")
UNIT = re.compile(r"Volume in (?:depth|two-way time), values in: (\S[^\n]*)")  # of a line
VELOCITIES = "VELOCIT"  # begins a word in lines of the textual header that tell of which
HALF = 0.5 + 1e-6  # of the unit of a header, that a rounded number may be off
AS_VOLUME = "volume"  # key of a SEG-Y that is read as a volume whatever its headers say


@dataclass(frozen=True)
class Depths:
    """First depth and interval, m, of a volume; None where they are not known; and what was decided."""

    first: float | None = None
    step: float | None = None
    notes: tuple[str, ...] = ()


class SegyVolume(BlockReader):
    """A SEG-Y volume for reading.

    InputError: as of `volume_layout_of`; gathers; traces that form no full, regular grid.
    """

    def __init__(self, path: Path, key: str | None = None) -> None:
        if key not in (None, AS_VOLUME):
            raise InputError(
                f"{path}:{key}: a SEG-Y file holds one array and takes no key, but {AS_VOLUME} for what looks like "
                "gathers and is a volume"
            )
        self._layout: Layout = volume_layout_of(path)
        if key is None and holds_gathers(self._layout):
            raise InputError(
                f"{path}: holds gathers (sources and receivers, or differing offsets), not a volume; if its headers "
                f"are wrong and it is one: {path.name}:{AS_VOLUME}"
            )
        head = self._layout.headers(("inline", "crossline", "delay", "time_scalar", "weighting", *PLACES))
        lengths, labels = grid_of(path, head["inline"], head["crossline"])
        shape = (*lengths, self._layout.samples)
        dtype = self._layout.sample_type
        if self._layout.format in (IBM, INT24, UINT24):  # as they are decoded
            dtype = np.dtype(np.float32)
        self.lines: dict[str, NDArray[np.int64]] = {}  # numbers (cells,) along the axes that count lines
        if len(labels) == 2:
            slow, fast = (head[label].reshape(lengths) for label in labels)
            self.lines = dict(zip(labels, (slow[:, 0], fast[0]), strict=True))
        text = _text(self._layout)
        in_time = f" {IN_TIME}" in text
        labels = (*labels, TIME if in_time else "z")
        places = trace_places(self._layout, head, lengths)
        notes = (*system_doubts(self._layout), *weighting_doubts(head["weighting"]), *places.notes)
        delays = scaled(head["delay"], head["time_scalar"] * (self._layout.revision >= 1))
        depths = Depths() if in_time else _depths(self._layout, text, head)
        self.depths: tuple[float, float] | None = None  # m, as `times`, of a volume in depth
        if depths.first is not None and depths.step is not None:
            self.depths = (depths.first, depths.step)
        beside = (None,) * len(lengths)
        firsts = () if depths.first is None else (*beside, depths.first)
        partial = () if depths.step is None else (*beside, depths.step)
        super().__init__(
            path,
            VolumeInfo(
                shape,
                dtype,
                None,
                None,
                labels,
                _unit(text),
                places.grid,
                partial=partial,
                firsts=firsts,
                feet=self._layout.feet,
                uneven="; ".join(reason for reason in (_differing(delays), places.scrambled) if reason),
                notes=notes,
                place=_place(self._layout, text),
                titles=tuple(line.strip() for line in _lines(text) if VELOCITIES in line.upper()),
            ),
        )
        self._first_time = float(delays[0]) / 1000
        self.depth_notes = depths.notes  # to who reads a model
        if self._first_time and depths.first is None and not in_time:
            self.depth_notes = (
                f"{path}: the delay of {float(delays[0]):g} in its trace headers (bytes 109 and 110) is not taken for "
                "the depth of the first sample",
            )
        self._rows = self._layout.rows()
        self.raw = RawArray(path, self._layout.start, (*lengths, self._layout.trace_bytes), np.dtype(np.uint8))

    @property
    def format_name(self) -> str:
        """Description of the sample format."""
        return SAMPLE_FORMATS[self._layout.format][1]

    @property
    def times(self) -> tuple[float, float] | None:
        """First time and interval of the samples in s, if they are times; None where headers have no interval."""
        return (self._first_time, self._layout.interval) if self._layout.interval > 0 else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Contradictions between headers and how they were resolved."""
        return self._layout.notes + self.info.notes + self.depth_notes

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        lengths = self.info.shape[:-1]
        numbers = np.arange(math.prod(lengths)).reshape(lengths)[box[:-1]]
        traces = self._layout.decode(self._rows[numbers.reshape(-1)])
        return traces.reshape(*numbers.shape, self.info.shape[-1])[..., box[-1]]

    def raw_box(self, box: Box) -> Box:
        """The box of the raw array that holds a box of the volume: the bytes of the samples, which follow each
        trace's headers."""
        width = self._layout.sample_type.itemsize
        (*lo, first), (*hi, last) = box
        header = self._layout.header_bytes
        return (*lo, header + width * first), (*hi, header + width * last)

    def from_raw(self, block: NDArray[Any]) -> NDArray[Any]:
        """The volume's values in a block read from the raw array."""
        samples = block.shape[-1] // self._layout.sample_type.itemsize
        rows = block.reshape(math.prod(block.shape[:-1]), -1)
        return self._layout.decode_samples(rows).reshape(*block.shape[:-1], samples)

    def _bytes(self, box: tuple[slice, ...]) -> int:
        return math.prod(int(s.stop - s.start) for s in box[:-1]) * self._layout.trace_bytes

    def close(self) -> None:
        self._rows = np.empty((0, self._layout.trace_bytes), np.uint8)


def _text(layout: Layout) -> str:
    """The textual header; "" of SU, which has none."""
    with reading(layout.path), layout.path.open("rb") as file:
        return text_of(file.read(TEXT)) if layout.start >= TEXT else ""


def _depths(layout: Layout, text: str, head: dict[str, NDArray[np.int64]]) -> Depths:
    """First depth and interval of a volume in depth written here.

    A program that cuts or resamples such a file changes its headers and keeps the text: where they differ by more than
    the headers' rounding, the headers count.
    """
    if OURS not in text:
        return Depths()
    first, step, notes = _number(FIRST_DEPTH, text), _number(DEPTH_STEP, text), []
    scalar = head["time_scalar"][:1] * (layout.revision >= 1)
    delay = float(scaled(head["delay"][:1], scalar)[0])
    found = DEPTH_UNIT.search(text)
    parts = next((parts for parts, name in PARTS_OF_A_METRE.items() if found and name == found[1]), 0)
    in_metres = DEPTH_DELAY in text and parts == MILLIMETRES
    if in_metres and first is not None and abs(first - delay) > HALF and abs(first) <= LARGEST_SHORT:
        notes.append(f"first sample at {delay:g} m by its trace headers, which count, and at {first:g} m by its text")
        first = delay
    if parts and step is not None and abs(step - layout.interval * 1e6 / parts) > HALF / parts:
        notes.append(
            f"samples every {layout.interval * 1e6 / parts:g} m by its headers, which count, and {step:g} m by its text"
        )
        step = layout.interval * 1e6 / parts
    return Depths(first, step or None, tuple(f"{layout.path}: {note}" for note in notes))


def _lines(text: str) -> list[str]:
    return [text[first : first + LINE] for first in range(0, len(text), LINE)]


def _unit(text: str) -> str | None:
    """Unit of the values of a volume written here; None where it has none."""
    lines = _lines(text) if OURS in text else []
    found = next((found[1].strip() for line in lines if (found := UNIT.search(line))), NO_UNIT)
    return None if found == NO_UNIT else found


def _differing(delays: NDArray[np.float64]) -> str:
    """That samples of the traces (n,) do not begin at one delay; "" where they do."""
    others = np.flatnonzero(delays != delays[0])
    if not len(others):
        return ""
    first = int(others[0])
    return (
        f"its trace headers differ in their delay (bytes 109 and 110): {delays[0]:g} in trace 1, {delays[first]:g} in "
        f"trace {first + 1}, and {len(others)} of {len(delays)} traces differ from the first"
    )


def _number(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    try:
        number = math.nan if found is None else float(found[1])
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _place(layout: Layout, text: str) -> Place:
    """What the textual header says of the place."""
    if layout.start < TEXT:
        return Place()
    return Place(crs=crs_of_file(layout.path, layout.start), local=says_no_place(text), datum=datum_of(text))


def grid_of(
    path: Path, inline: NDArray[np.int64], crossline: NDArray[np.int64]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Lengths and labels of the axes of traces with these line numbers (traces,), slowest first.

    >>> grid_of(Path("a.segy"), np.array([1, 1, 2, 2]), np.array([5, 6, 5, 6]))
    ((2, 2), ('inline', 'crossline'))
    """
    count = len(inline)
    for slow, fast, labels in (
        (inline, crossline, ("inline", "crossline")),
        (crossline, inline, ("crossline", "inline")),
    ):
        changes = np.flatnonzero(np.diff(slow))
        run = int(changes[0]) + 1 if len(changes) else count
        if run == count or count % run:
            continue
        rows, columns = slow.reshape(-1, run), fast.reshape(-1, run)
        if (rows == rows[:, :1]).all() and (columns == columns[:1]).all():
            if run > 1 and _regular(rows[:, 0]) and _regular(columns[0]):
                return (count // run, run), labels
            if run == 1 and _regular(slow) and not np.diff(fast).any():
                return (count,), ("trace",)
    if not (np.diff(inline).any() or np.diff(crossline).any()):
        return (count,), ("trace",)
    raise InputError(
        f"{path}: its {count} traces form neither a line nor a regular grid of inlines and crosslines "
        f"({len(np.unique(inline))} and {len(np.unique(crossline))} different numbers, bytes 189 and 193)"
    )


def _regular(numbers: NDArray[np.int64]) -> bool:
    """Whether line numbers rise or fall by a constant step."""
    steps = np.diff(numbers)
    return bool(len(steps) == 0 or (steps[0] != 0 and (steps == steps[0]).all()))
