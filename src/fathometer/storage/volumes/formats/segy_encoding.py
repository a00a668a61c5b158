"""Encoding of volumes as SEG-Y revision 1: samples along the last axis, depth or two-way time, IEEE floats, big-endian.

The file is a raw array of bytes, (inlines, crosslines, header + samples), so that a rank's block is a box of it; the
rank that has the first sample of a trace writes its header too.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.storage.traces.headers import HEADER
from fathometer.storage.traces.segy_writer import (
    LARGEST_SHORT,
    METRES,
    SCALARS,
    SEISMIC,
    binary_header,
    text_lines,
    trace_type,
)
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.segy_place import LINE, TracePlaces
from fathometer.storage.volumes.raw_array import RawArray

STACKED = 4  # sorting code: horizontally stacked
MICROSECONDS = 1_000_000  # in a second
MILLIMETRES = 1000  # in a metre
# Of a sample interval in depth: parts of a metre, and their name. Programs that take millimetres for microseconds, and
# the delay for milliseconds, show depths in metres in place of times in milliseconds.
PARTS_OF_A_METRE = MappingProxyType({MILLIMETRES: "millimetres", 100: "centimetres", 10: "decimetres", 1: "metres"})
DEPTH_DELAY = "depth of the first sample in whole m"  # of bytes 109-110, in volumes in depth
MOST_LINES = 38  # of a textual header, without the standard's last two
NO_UNIT = "(no unit)"
IN_TIME = "Volume in two-way time"  # a line of the textual header begins; the format itself has no field for it
LARGEST_TRACE_NUMBER = np.iinfo(np.int32).max


class SegyEncoder:
    """Headers and blocks of a volume as bytes of a SEG-Y file. InputError where it does not fit the format.

    Attributes:
        head: bytes of the file headers. raw: array of the traces. interval: the headers' sample interval field.
    """

    def __init__(self, path: Path, info: VolumeInfo) -> None:
        *lines, samples = info.shape
        if samples > LARGEST_SHORT:
            raise InputError(f"{path}: {samples} samples a trace do not fit SEG-Y (1 to {LARGEST_SHORT})")
        if math.prod(lines) > LARGEST_TRACE_NUMBER:
            raise InputError(f"{path}: {math.prod(lines)} traces do not fit SEG-Y (1 to {LARGEST_TRACE_NUMBER})")
        self.path, self.info = path, info
        if "s" in info.axis_units[:-1]:
            raise InputError(f"{path}: an axis of time that is not the last one does not fit SEG-Y")
        if info.in_time:
            self.interval, described = _time_interval(path, info)
            self._delay, self._delay_scalar = _delay(path, info)
        else:
            self.interval, parts, described = _interval(info)
            self._delay, self._delay_scalar = _depth_delay(info, parts), 0
        self._places = TracePlaces(path, info)
        self.head = _textual_header(info, described, self._places) + binary_header(samples, self.interval, STACKED)
        self.raw = RawArray(path, len(self.head), (*lines, HEADER + 4 * samples), np.dtype(np.uint8))

    def encode(self, block: NDArray[Any], lo: Sequence[int]) -> tuple[NDArray[np.uint8], tuple[int, ...]]:
        """The bytes of a block at `lo`, and their first cell in the raw array."""
        values = np.ascontiguousarray(block, ">f4")
        (*lines, samples), (*start, first) = values.shape, lo
        if first > 0 or values.size == 0:
            first_byte = HEADER + 4 * first if values.size else 0
            return values.view(np.uint8).reshape(*lines, 4 * samples), (*start, first_byte)
        traces = np.zeros((*lines, HEADER + 4 * samples), np.uint8)
        traces[..., :HEADER] = self._headers(lines, start)
        traces[..., HEADER:] = values.view(np.uint8)
        return traces, (*start, 0)

    def _headers(self, lines: Sequence[int], start: Sequence[int]) -> NDArray[np.uint8]:
        """Trace headers of a block's lines from `start` on, uint8 (inlines, crosslines, HEADER) or (traces, HEADER)."""
        x, *y = (np.arange(first, first + n) for first, n in zip(start, lines, strict=True))
        i, j = np.meshgrid(x, y[0] if y else np.zeros(1, int), indexing="ij")
        block = np.zeros(i.shape, trace_type(0))
        number = i * self._places.crosslines + j + 1
        block["line_sequence"] = block["file_sequence"] = number
        block["ffid"], block["channel"] = i + 1, j + 1
        block["cdp"], block["cdp_trace"] = number, 1
        block["inline"], block["crossline"] = i + 1, j + 1
        block["kind"] = SEISMIC
        block["coordinate_units"], block["coordinate_scalar"] = METRES, self._places.scalar
        for axis, metres in zip("xy", self._places.of(i, j), strict=True):
            for point in ("source", "group", "cdp"):
                block[f"{point}_{axis}"] = np.rint(metres * abs(self._places.scalar))
        block["samples"], block["interval"] = self.info.shape[-1], self.interval
        block["delay"], block["time_scalar"] = self._delay, self._delay_scalar
        heads = block.reshape(-1).view(np.uint8).reshape(block.size, -1)[:, :HEADER]
        return heads.reshape(*lines, HEADER)


def _interval(info: VolumeInfo) -> tuple[int, int, str]:
    """Value of the sample interval field of a volume in depth, in how many parts of a metre, and its description.

    The finest part of which a whole number holds it, else that to which it is rounded least; 0 where none does."""
    if info.spacing is None:
        return MILLIMETRES, MILLIMETRES, "unknown"
    step = info.spacing[-1]
    fitting = [(round(step * parts), parts) for parts in PARTS_OF_A_METRE if 1 <= round(step * parts) <= LARGEST_SHORT]
    exact = [(number, parts) for number, parts in fitting if math.isclose(number / parts, step, rel_tol=1e-9)]
    if not fitting:
        return min(max(1, round(step)), LARGEST_SHORT), 0, f"{step:.10g} m; headers do not hold it"
    number, parts = (exact or fitting)[0]
    name = PARTS_OF_A_METRE[parts]
    return number, parts, f"{step:.10g} m; in headers, {'in' if exact else 'rounded to'} {name}: {number}"


def _time_interval(path: Path, info: VolumeInfo) -> tuple[int, str]:
    """As `_interval`, of samples in time. InputError where whole microseconds do not hold it."""
    step = 1e-3 if info.spacing is None else info.spacing[-1]
    micros = round(step * MICROSECONDS)
    fits = 1 <= micros <= LARGEST_SHORT
    if not fits or abs(step * MICROSECONDS - micros) * (info.shape[-1] - 1) > 0.01 * micros:
        raise InputError(
            f"{path}: a sample interval of {step:g} s does not fit SEG-Y (a whole number of microseconds, 1 to "
            f"{LARGEST_SHORT}); .rsf, .h5, .nc and .zarr take it"
        )
    return micros, f"{step:.10g} s; in headers, in microseconds: {micros}"


def _delay(path: Path, info: VolumeInfo) -> tuple[int, int]:
    """Time of the first sample as headers hold it: a whole number, in ms over their scalar, and that scalar.

    InputError where they do not."""
    first = 0.0 if info.origin is None else info.origin[-1]
    for scalar in SCALARS:
        value = first * 1000 * abs(scalar)
        if abs(value) <= LARGEST_SHORT and abs(value - round(value)) < 1e-6:
            return round(value), scalar if round(value) else 0
    raise InputError(
        f"{path}: a first sample at {first:g} s does not fit SEG-Y (whole milliseconds up to {LARGEST_SHORT}, or "
        "tenths to ten-thousandths of one, correspondingly fewer); .rsf, .h5, .nc and .zarr take it"
    )


def _depth_delay(info: VolumeInfo, parts: int) -> int:
    """Depth of the first sample as headers hold it: the nearest whole metre, since few programs know the delay's
    scalar; 0 where the interval is not in millimetres, with which they take the delay for metres, or it is too deep."""
    first = round(info.origin[-1]) if info.origin is not None and parts == MILLIMETRES else 0
    return first if abs(first) <= LARGEST_SHORT else 0


def _textual_header(info: VolumeInfo, interval: str, places: TracePlaces) -> bytes:
    """The textual header."""
    first = "unknown" if info.origin is None else f"{info.origin[-1]:.10g} {info.axis_units[-1]}"
    east, north = places.letters
    labels = info.labels or ("",) * len(info.shape)
    names = ("inline", "crossline", "samples") if len(info.shape) == 3 else ("inline", "samples")
    axes = [
        f"{name:<10} {labels[axis]:<12.12} {info.shape[axis]:>8} cells"
        + ("" if info.spacing is None else f" of {info.spacing[axis]:.10g} {info.axis_units[axis]}")
        + ("" if info.origin is None else f" from {info.origin[axis]:.10g} {info.axis_units[axis]}")
        for axis, name in enumerate(names)
    ]
    vertical = "Two-way time in s from 0; lengths in m"
    if not info.in_time:
        vertical = "Depth in m, positive down from z = 0 of the model; lengths in m"
    delay = "time of the first sample, ms; its scalar in 215-216" if info.in_time else DEPTH_DELAY
    above = [
        *axes,
        f"Sample interval: {interval}",
        f"First sample at: {first}",
        vertical,
        f"Vertical datum: {info.datum or info.place.datum or 'not stated'}",
        "IEEE floats, 4 bytes, big-endian (format 5), fixed trace length",
        *places.lines(),
    ]
    below = [
        "Bytes of the trace header:",
        "  1-4, 5-8    trace number in the file",
        "  9-12        field record: inline       13-16  channel: crossline",
        "  21-24       ensemble: trace number     25-28  trace in the ensemble: 1",
        "  29-30       trace identification code",
        "  71-72       scalar of coordinates (negative divides)",
        f"  73-76, 81-84, 181-184  {east} of the trace",
        f"  77-80, 85-88, 185-188  {north} of the trace",
        "  89-90       unit of coordinates (1: length)",
        f"  109-110     {delay}",
        "  115-116     samples                    117-118  interval",
        "  189-192     inline, from 1             193-196  crossline, from 1",
    ]
    kind = f"{IN_TIME if info.in_time else 'Volume in depth'}, values in: {info.unit or NO_UNIT}"
    left = MOST_LINES - len(above) - len(below) - 2
    return text_lines(["Written by Fathometer", kind[:LINE], *_wrapped(info.made, left), *above, *below])


def _wrapped(lines: Sequence[str], most: int) -> list[str]:
    """Lines shorter than LINE, for readers that cut them at blanks; those beyond `most` are left out, which the last
    one says."""
    wrapped = [
        part for line in lines for part in textwrap.wrap(line, LINE - 1, subsequent_indent="  ", break_on_hyphens=False)
    ]
    return wrapped if len(wrapped) <= most else [*wrapped[: most - 1], f"{wrapped[most - 1]:.{LINE - 4}} ..."]
