"""Encoding of volumes as SEG-Y revision 1: samples along the last axis, depth or two-way time, IEEE floats, big-endian.

The file is a raw array of bytes, (inlines, crosslines, header + samples), so that a rank's block is a box of it; the
rank that has the first sample of a trace writes its header too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
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
from fathometer.storage.volumes.formats.segy_place import TracePlaces
from fathometer.storage.volumes.raw_array import RawArray

STACKED = 4  # sorting code: horizontally stacked
MILLIMETRES = 1000  # in a metre
MICROSECONDS = 1_000_000  # in a second
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
        self.interval, described = _interval(info) if not info.in_time else _time_interval(path, info)
        self._delay, self._delay_scalar = _delay(path, info)
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


def _interval(info: VolumeInfo) -> tuple[int, str]:
    """Value of the sample interval field, which SEG-Y does not define for depth, and its description."""
    if info.spacing is None:
        return MILLIMETRES, "unknown"
    step = info.spacing[-1]
    millimetres = round(step * MILLIMETRES)
    if 1 <= millimetres <= LARGEST_SHORT:
        return millimetres, f"{step:.10g} m; in headers, in millimetres: {millimetres}"
    metres = min(max(1, round(step)), LARGEST_SHORT)
    return metres, f"{step:.10g} m; in headers, rounded to metres: {metres}"


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
    first = info.origin[-1] if info.in_time and info.origin is not None else 0.0
    for scalar in SCALARS:
        value = first * 1000 * abs(scalar)
        if abs(value) <= LARGEST_SHORT and abs(value - round(value)) < 1e-6:
            return round(value), scalar if round(value) else 0
    raise InputError(
        f"{path}: a first sample at {first:g} s does not fit SEG-Y (whole milliseconds up to {LARGEST_SHORT}, or "
        "tenths to ten-thousandths of one, correspondingly fewer); .rsf, .h5, .nc and .zarr take it"
    )


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
    return text_lines(
        [
            "Written by Fathometer",
            f"{IN_TIME if info.in_time else 'Volume in depth'}, values in: {info.unit or '(no unit)'}",
            *axes,
            f"Sample interval: {interval}",
            f"First sample at: {first}",
            "IEEE floats, 4 bytes, big-endian (format 5), fixed trace length",
            *places.lines(),
            "",
            "Bytes of the trace header:",
            "  1-4, 5-8    trace number in the file",
            "  9-12        field record: inline       13-16  channel: crossline",
            "  21-24       ensemble: trace number     25-28  trace in the ensemble: 1",
            "  29-30       trace identification code",
            "  71-72       scalar of coordinates (negative divides)",
            f"  73-76, 81-84, 181-184  {east} of the trace",
            f"  77-80, 85-88, 185-188  {north} of the trace",
            "  89-90       unit of coordinates (1: length)",
            "  109-110     delay in ms, of volumes in time; its scalar in 215-216",
            "  115-116     samples                    117-118  interval",
            "  189-192     inline, from 1             193-196  crossline, from 1",
        ]
    )
