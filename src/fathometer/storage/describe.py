"""Description of a file's contents, as `fathometer info` prints it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError, shortened
from fathometer.base.formatting import bytes_in_words, extent_in_words
from fathometer.storage.contents import Kind, contents_of
from fathometer.storage.traces.sample_formats import SAMPLE_FORMATS
from fathometer.storage.traces.segy import TraceTable, decode_traces, moving_sources, scan
from fathometer.storage.volumes.block import Volume
from fathometer.storage.volumes.boxes import Box, extent
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.formats.wavelet import WaveletVolume
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.registry import format_to_read
from fathometer.storage.volumes.survey_grid import SurveyGrid
from fathometer.storage.volumes.volume import open_volume

if TYPE_CHECKING:
    from fathometer.storage.index.summary import IndexDescription

SLAB_VALUES = 1 << 24  # read at a time
SAMPLED_VALUES = 1 << 24  # of a volume most of which is in no file
SAMPLES = 16  # as many boxes, at least
DENSEST = 2000  # bytes of values in a byte of a file, at most: lossless compression reaches half of it
PROGRESS_SECONDS = 10.0  # between lines of progress

Say = Callable[[str], None]


@dataclass(frozen=True)
class ValueRange:
    """Range of a file's values: extremes and mean of the finite ones (None without any), and counts of the others."""

    minimum: float | None
    maximum: float | None
    mean: float | None
    nan: int
    infinite: int

    def rows(self, unit: str = "") -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        if self.minimum is None or self.maximum is None or self.mean is None:
            text = "none finite"
        else:
            text = f"{self.minimum:.6g} to {self.maximum:.6g}{unit}, mean {self.mean:.6g}{unit}"
        return [("values", text), ("NaN", f"{self.nan}"), ("infinite", f"{self.infinite}")]

    def notes(self, unit: str | None = None, sampled: bool = False) -> tuple[str, ...]:
        """A note where all values are the same; sampled: not all of them were read."""
        if self.minimum is None or self.maximum is None:
            return ()
        finite, some = "finite " * bool(self.nan or self.infinite), " that were read" * sampled
        return equal_notes(f"{finite}values{some}", self.minimum, self.maximum, unit)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "mean": self.mean,
            "nan_count": self.nan,
            "infinite_count": self.infinite,
        }


@dataclass(frozen=True)
class VolumeDescription:
    """Description of a volume; tuples are in the file's axis order, slowest first."""

    path: Path
    format: str
    dtype: str
    shape: tuple[int, ...]
    labels: tuple[str, ...] | None
    spacing: tuple[float, ...] | None  # in axis_units
    origin: tuple[float, ...] | None
    unit: str | None
    values: ValueRange
    notes: tuple[str, ...]
    survey: SurveyGrid | None = None
    axis_units: tuple[str, ...] = ()  # "m" or "s"; empty: all in m
    place: Place = field(default_factory=Place)
    times: tuple[float, float] | None = None  # s, first and interval of the last axis where `spacing` lacks them

    @property
    def kind(self) -> str:
        """ "volume"."""
        return "volume"

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        unit = f" {self.unit}" if self.unit else ""
        unknown = "not in the file"
        return [
            ("file", str(self.path)),
            ("kind", f"volume, {len(self.shape)}D"),
            ("format", f"{self.format}, {self.dtype}"),
            ("shape", " × ".join(map(str, self.shape)) + " (slowest axis first)"),
            ("axes", ", ".join(self.labels) if self.labels else unknown),
            ("spacing", self._along_axes(self.spacing) if self.spacing else unknown),
            ("origin", self._along_axes(self.origin) if self.origin else unknown),
            *([("times", f"every {self.times[1]:.10g} s, from {self.times[0]:.10g} s")] if self.times else []),
            *([("CDP coordinates", str(self.survey))] if self.survey else []),
            *([("world", str(self.place.world))] if self.place.world else []),
            *([("coordinates", f"{self._local_words}, by the textual header")] if self.place.local else []),
            *([("CRS", shortened(self.place.crs))] if self.place.crs else []),
            *([("vertical datum", shortened(self.place.datum))] if self.place.datum else []),
            ("unit of values", self.unit or unknown),
            *self.values.rows(unit),
            *(("note", note) for note in self.notes),
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; SI units in the keys."""
        return {
            "kind": self.kind,
            "path": str(self.path),
            "format": self.format,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "axes": None if self.labels is None else list(self.labels),
            **self._by_unit("spacing", self.spacing),
            **self._by_unit("origin", self.origin),
            **({} if self.times is None else {"first_time_seconds": self.times[0], "interval_seconds": self.times[1]}),
            "survey": None if self.survey is None else self.survey.as_dict(),
            "place": self.place.as_dict(),
            "unit": self.unit,
            "values": self.values.as_dict(),
            "notes": list(self.notes),
        }

    @property
    def _local_words(self) -> str:
        return "not known to be in the CRS" if self.place.crs else "local"

    def _along_axes(self, values: tuple[float, ...]) -> str:
        """Numbers along the axes with their units: one for all where it is one."""
        if "s" not in self.axis_units:
            return " × ".join(f"{value:.10g}" for value in values) + " m"
        return " × ".join(f"{value:.10g} {unit}" for value, unit in zip(values, self.axis_units, strict=True))

    def _by_unit(self, name: str, values: tuple[float, ...] | None) -> dict[str, list[float | None] | None]:
        """Numbers along the axes in metres, and where an axis is time also in seconds: null is of the other unit."""
        keys = {"m": f"{name}_metres"} | ({"s": f"{name}_seconds"} if "s" in self.axis_units else {})
        if values is None:
            return dict.fromkeys(keys.values())
        units = self.axis_units or ("m",) * len(values)
        return {
            key: [value if own == unit else None for value, own in zip(values, units, strict=True)]
            for unit, key in keys.items()
        }


@dataclass(frozen=True)
class GathersDescription:
    """Description of gathers; source and receiver are (smallest, largest) of each of x, y, z."""

    path: Path
    format: str
    sample_format: str
    shots: int  # different field records
    traces: int
    samples: int
    interval: float  # s
    delay: float  # s, of the earliest trace
    latest: float  # s, of the latest one
    channels: tuple[int, int]  # fewest and most traces of a shot
    source: tuple[tuple[float, float], ...]  # m
    receiver: tuple[tuple[float, float], ...]  # m
    offset: tuple[float, float]  # m, horizontal, unsigned
    values: ValueRange
    notes: tuple[str, ...]
    intervals: tuple[float, float]  # s, least and largest of live traces

    @property
    def kind(self) -> str:
        """ "gathers"."""
        return "gathers"

    @property
    def shape(self) -> tuple[int, int]:
        """Traces and samples."""
        return self.traces, self.samples

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        fewest, most = self.channels
        last = self.delay + (self.samples - 1) * self.interval
        shortest, longest = self.intervals
        return [
            ("file", str(self.path)),
            ("kind", "gathers"),
            ("format", f"{self.format}, {self.sample_format}"),
            ("shots", f"{self.shots}"),
            ("traces", f"{self.traces}"),
            ("channels per shot", f"{fewest}" if fewest == most else f"{fewest} to {most}"),
            ("samples", f"{self.samples} every {self.interval:g} s, from {self.delay:g} to {last:g} s"),
            *([("delays", f"of later traces up to {self.latest:g} s")] if self.latest > self.delay else []),
            *([("sample intervals", f"of the traces {shortest:g} to {longest:g} s")] if shortest < longest else []),
            *((f"source {axis}", extent_in_words(*ends)) for axis, ends in zip("xyz", self.source, strict=True)),
            *((f"receiver {axis}", extent_in_words(*ends)) for axis, ends in zip("xyz", self.receiver, strict=True)),
            ("offset", extent_in_words(*self.offset)),
            *self.values.rows(),
            *(("note", note) for note in self.notes),
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; SI units in the keys."""
        return {
            "kind": self.kind,
            "path": str(self.path),
            "format": self.format,
            "sample_format": self.sample_format,
            "shots": self.shots,
            "traces": self.traces,
            "samples": self.samples,
            "interval_seconds": self.interval,
            "trace_intervals_seconds": list(self.intervals),
            "delay_seconds": self.delay,
            "latest_delay_seconds": self.latest,
            "channels_per_shot": list(self.channels),
            "source_metres": {axis: list(ends) for axis, ends in zip("xyz", self.source, strict=True)},
            "receiver_metres": {axis: list(ends) for axis, ends in zip("xyz", self.receiver, strict=True)},
            "offset_metres": list(self.offset),
            "values": self.values.as_dict(),
            "notes": list(self.notes),
        }


Description: TypeAlias = "VolumeDescription | GathersDescription | IndexDescription"


def describe(
    reference: str,
    directory: Path,
    wanted: Kind | None = None,
    interval: float | None = None,
    say: Say = lambda line: None,
) -> Description:
    """Describe the file of a reference (see volumes/volume.py). All of its values are read, a slab at a time; the
    files of an index are not. Of a volume that has far more cells than its files can hold, which are mostly empty, a
    sample is read. say: prints a line of progress, now and then.

    wanted: "gathers" or "volume", in place of what the headers of a SEG-Y or SU file tell (contents.py). interval: of
    the samples of gathers in s, in place of the headers'. InputError where the file cannot be read.
    """
    contents = contents_of(reference, directory, wanted)
    if interval is not None and contents.kind != "gathers":
        kind = "an index" if contents.kind == "index" else "a volume"
        raise InputError(f"{reference}: a sample interval is given; found {kind}; allowed: gathers, in SEG-Y or SU")
    if contents.kind == "index":
        from fathometer.storage.index.summary import describe_index

        return describe_index(contents.path)
    if contents.kind == "gathers":
        return _describe_gathers(scan(contents.path, interval))
    with open_volume(contents.reference, directory, steps=True) as volume:
        return _describe_volume(volume, say)


def _describe_volume(volume: Volume, say: Say) -> VolumeDescription:
    info = volume.info
    values = math.prod(info.shape)
    stored = sum(path.stat().st_size for path in volume.files() if path.is_file()) if values > SAMPLED_VALUES else 0
    notes = volume.notes if isinstance(volume, SegyVolume) else info.notes
    if isinstance(volume, WaveletVolume):
        shares = ", ".join(f"1:{share}" for share in volume.shares)
        notes += (f"wavelet coefficients: levels up to {volume.coarsest}, shares {shares} (--level, --share)",)
    if volume.levels:
        notes += (f"beside it are {volume.levels} coarser levels of means (--level)",)
    sparse = values > SAMPLED_VALUES and values * info.dtype.itemsize > DENSEST * stored
    steps = _steps(info.shape, SAMPLED_VALUES // SAMPLES if sparse else SLAB_VALUES)
    count, every = math.prod(-(-n // step) for n, step in zip(info.shape, steps, strict=True)), 1
    if sparse:
        every = -(-count * math.prod(steps) // SAMPLED_VALUES)
        read = sum(math.prod(extent(_box(info.shape, steps, number))) for number in range(0, count, every))
        notes += (f"{read} of {values} values were read, spread evenly: {stored} bytes of files hold few of them",)
    found = value_range(_told(volume, steps, range(0, count, every), say))
    notes += found.notes(info.unit, sparse)
    notes += tuple(
        f"{reason}; a model or velocities from this file are refused"
        for reason in (info.unplaced, info.uneven)
        if reason
    )
    if info.feet:
        notes += (
            "lengths are in feet by the binary header: velocities are taken as ft/s, unless units says otherwise",
        )
    if found.nan and info.fills:
        notes += (f"counted as NaN{info.fill_words}",)
    return VolumeDescription(
        path=volume.path,
        format=format_to_read(volume.path).name,
        dtype=volume.format_name if isinstance(volume, SegyVolume) else _type_name(info.dtype),
        shape=info.shape,
        labels=info.labels,
        spacing=info.spacing,
        origin=info.origin,
        unit=info.unit,
        values=found,
        notes=notes,
        survey=info.survey,
        place=info.place,
        axis_units=info.axis_units,
        times=volume.times if isinstance(volume, SegyVolume) and info.in_time else None,
    )


def _describe_gathers(table: TraceTable) -> GathersDescription:
    layout = table.layout
    channels = np.unique(table.ffid, return_counts=True)[1]
    offsets = np.hypot(*(table.receiver - table.source)[:, :2].T)
    step = max(1, SLAB_VALUES // table.samples)
    chunks = (
        decode_traces(layout, np.arange(first, min(first + step, layout.traces)))
        for first in range(0, layout.traces, step)
    )
    values = value_range(chunks)
    return GathersDescription(
        path=table.path,
        format=f"{layout.named}, {layout.byte_order}",
        sample_format=SAMPLE_FORMATS[layout.format][1],
        shots=len(channels),
        traces=layout.traces,
        samples=table.samples,
        interval=table.interval,
        intervals=_ends(table.intervals[table.live] if table.live.any() else table.intervals[:1]),
        delay=table.delay,
        latest=float(table.delays[table.live].max() if table.live.any() else table.delays[0]),
        channels=(int(channels.min()), int(channels.max())),
        source=_extents(table.source),
        receiver=_extents(table.receiver),
        offset=(float(offsets.min()), float(offsets.max())),
        values=values,
        notes=(*table.notes, *moving_sources(table), *values.notes()),
    )


def _told(volume: Volume, steps: Sequence[int], boxes: Sequence[int], say: Say) -> Iterable[NDArray[Any]]:
    """The blocks of some boxes, by their numbers; what takes long says how far it is."""
    last_line = ledger.now()
    for done, number in enumerate(boxes, start=1):
        yield volume.read(*_box(volume.info.shape, steps, number))
        if ledger.now() > last_line + PROGRESS_SECONDS:
            last_line = ledger.now()
            size = math.prod(volume.info.shape) * volume.info.dtype.itemsize
            say(f"{volume.path}: {100 * done / len(boxes):.0f} % of {bytes_in_words(size)}")


def _steps(shape: Sequence[int], most: int) -> list[int]:
    """Cells along each axis of a box of at most `most` cells, whole along the fastest axes."""
    steps: list[int] = []
    left = most
    for n in reversed(shape):
        steps.insert(0, min(n, max(1, left)))
        left //= n
    return steps


def _box(shape: Sequence[int], steps: Sequence[int], number: int) -> Box:
    """The box of a number: boxes are counted like cells, the fastest axis first."""
    lo: list[int] = []
    for n, step in zip(reversed(shape), reversed(steps), strict=True):
        number, place = divmod(number, -(-n // step))
        lo.insert(0, place * step)
    return tuple(lo), tuple(min(a + step, n) for a, step, n in zip(lo, steps, shape, strict=True))


def value_range(blocks: Iterable[NDArray[Any]]) -> ValueRange:
    """Range of the values of all blocks; sums are in float64."""
    low, high, total, finite, nan, infinite = math.inf, -math.inf, 0.0, 0, 0, 0
    for block in blocks:
        numbers = block[np.isfinite(block)]
        block_nan = int(np.count_nonzero(np.isnan(block)))
        nan += block_nan
        infinite += block.size - numbers.size - block_nan
        if numbers.size:
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            total += float(numbers.sum(dtype=np.float64))
            finite += numbers.size
    if finite == 0:
        return ValueRange(None, None, None, nan, infinite)
    return ValueRange(low + 0.0, high + 0.0, total / finite + 0.0, nan, infinite)  # -0 becomes 0


def equal_notes(what: str, low: float, high: float, unit: str | None) -> tuple[str, ...]:
    """A note where values from low to high are all the same: a model may be so, but a file that was not written is,
    too."""
    return (f"all {what} are {low:.6g} {unit or ''}".rstrip(),) if low == high else ()


def _extents(points: NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    return tuple(_ends(axis) for axis in points.T)


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _type_name(dtype: np.dtype[Any]) -> str:
    order = {">": "big-endian ", "<": "little-endian "}.get(np.dtype(dtype).str[0], "")
    return f"{order}{dtype.name}"
