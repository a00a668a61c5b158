"""SEG-Y headers: their sizes, the fields of a trace header in use, reading one field.

Positions are those of the SEG-Y standard (rev 0 1975, rev 1 2002, rev 2 2017; library.seg.org), which segyio names;
bytes are counted from 1 as there.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from segyio import TraceField

TEXT, BINARY, HEADER = 3200, 400, 240  # bytes of the textual, the binary and a trace header
FOOT = 0.3048  # m
INTERVAL_TOLERANCE = 0.999  # µs: sample intervals that differ by no more were rounded or truncated to whole µs

Order = Literal["<", ">"]  # byte order: little-endian, big-endian

# Fields of a trace header in use: first byte (from 1) and NumPy integer type.
FIELDS = MappingProxyType(
    {
        "line_sequence": (int(TraceField.TRACE_SEQUENCE_LINE), "i4"),
        "file_sequence": (int(TraceField.TRACE_SEQUENCE_FILE), "i4"),
        "ffid": (int(TraceField.FieldRecord), "i4"),
        "channel": (int(TraceField.TraceNumber), "i4"),
        "cdp": (int(TraceField.CDP), "i4"),
        "cdp_trace": (int(TraceField.CDP_TRACE), "i4"),
        "kind": (int(TraceField.TraceIdentificationCode), "i2"),
        "data_use": (int(TraceField.DataUse), "i2"),
        "offset": (int(TraceField.offset), "i4"),
        "receiver_elevation": (int(TraceField.ReceiverGroupElevation), "i4"),
        "source_elevation": (int(TraceField.SourceSurfaceElevation), "i4"),
        "source_depth": (int(TraceField.SourceDepth), "i4"),
        "receiver_datum": (int(TraceField.ReceiverDatumElevation), "i4"),
        "source_datum": (int(TraceField.SourceDatumElevation), "i4"),
        "elevation_scalar": (int(TraceField.ElevationScalar), "i2"),
        "coordinate_scalar": (int(TraceField.SourceGroupScalar), "i2"),
        "source_x": (int(TraceField.SourceX), "i4"),
        "source_y": (int(TraceField.SourceY), "i4"),
        "group_x": (int(TraceField.GroupX), "i4"),
        "group_y": (int(TraceField.GroupY), "i4"),
        "coordinate_units": (int(TraceField.CoordinateUnits), "i2"),
        "delay": (int(TraceField.DelayRecordingTime), "i2"),
        "source_static": (int(TraceField.SourceStaticCorrection), "i2"),
        "group_static": (int(TraceField.GroupStaticCorrection), "i2"),
        "total_static": (int(TraceField.TotalStaticApplied), "i2"),
        "lag_a": (int(TraceField.LagTimeA), "i2"),
        "lag_b": (int(TraceField.LagTimeB), "i2"),
        "mute_end": (int(TraceField.MuteTimeEND), "i2"),
        "gain": (int(TraceField.InstrumentGainConstant), "i2"),
        "early_gain": (int(TraceField.InstrumentInitialGain), "i2"),
        "correlated": (int(TraceField.Correlated), "i2"),
        "sweep": (int(TraceField.SweepLength), "i2"),
        "year": (int(TraceField.YearDataRecorded), "i2"),
        "weighting": (int(TraceField.TraceWeightingFactor), "i2"),
        "samples": (int(TraceField.TRACE_SAMPLE_COUNT), "u2"),
        "interval": (int(TraceField.TRACE_SAMPLE_INTERVAL), "i2"),
        "cdp_x": (int(TraceField.CDP_X), "i4"),
        "cdp_y": (int(TraceField.CDP_Y), "i4"),
        "inline": (int(TraceField.INLINE_3D), "i4"),
        "crossline": (int(TraceField.CROSSLINE_3D), "i4"),
        "unit": (int(TraceField.TraceValueMeasurementUnit), "i2"),
        "constant": (int(TraceField.TransductionConstantMantissa), "i4"),
        "constant_power": (int(TraceField.TransductionConstantPower), "i2"),
        "constant_unit": (int(TraceField.TransductionUnit), "i2"),
        "time_scalar": (int(TraceField.ScalarTraceHeader), "i2"),
    }
)

# Of the binary header, in revision 2; segyio has no names for them.
EXTENDED_INTERVAL = 3273  # sample interval in µs, f8
TRACE_COUNT = 3513  # number of traces, u8
TRAILERS = 3529  # number of trailer stanzas behind the traces, i4; -1: it is not known

# Of Trace Header Extension 1, the second header of a trace (revision 2).
EXTENSION_HEADERS = (157, "u2")  # headers that this trace has beside the first
EXTENSION_NAME = slice(232, 240)  # bytes of a header that name it
EXTENSION_NAMES = ("SEG00001".encode("ascii"), "SEG00001".encode("cp037"))


def swap_pairs(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bytes (…, even number) with the two of each pair swapped."""
    return np.ascontiguousarray(data).view(np.uint16).byteswap().view(np.uint8)


def field_of(head: bytes, position: int, dtype: str, order: Order) -> int:
    """A field of a header by its first byte (from 1), NumPy type and byte order."""
    return int(np.frombuffer(head, np.dtype(dtype).newbyteorder(order), 1, position - 1)[0])


def fields_of(heads: NDArray[np.uint8], position: int, dtype: str, order: Order) -> NDArray[Any]:
    """The same of many headers, uint8 (n, bytes): (n,), in native byte order."""
    stored = np.dtype(dtype).newbyteorder(order)
    field = np.ascontiguousarray(heads[:, position - 1 : position - 1 + stored.itemsize])
    return np.asarray(field.view(stored)[:, 0].astype(stored.newbyteorder("=")))


def extended(heads: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which of the second headers of traces, uint8 (n, HEADER), are named as extensions of the first: (n,)."""
    return np.isin(np.ascontiguousarray(heads[:, EXTENSION_NAME]).view("S8")[:, 0], EXTENSION_NAMES)
