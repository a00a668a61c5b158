"""Trace Header Extension 1 of revision 2: wide values, which hold in place of the first header's where they are not 0.

They are floats and 64-bit integers without a scalar, by the standard in the file's unit of length. The extension is the
second header of a trace, and says its name, SEG00001, in its last eight bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.traces.file_layout import CHUNK_BYTES, Layout
from fathometer.storage.traces.headers import HEADER, extended, fields_of, swap_pairs

LARGEST = 1 << 53  # of a value that is believed: beyond it are no places, and no whole numbers of a float
# First byte of the extension (from 1) and NumPy type, by the names of an index's header words, and of the CDP.
FIELDS = MappingProxyType(
    {
        "shot": (17, "i8"),
        "receiver_elevation": (33, "f8"),
        "receiver_depth": (41, "f8"),
        "source_elevation": (49, "f8"),
        "source_depth": (57, "f8"),
        "source_x": (97, "f8"),
        "source_y": (105, "f8"),
        "receiver_x": (113, "f8"),
        "receiver_y": (121, "f8"),
        "cdp_x": (161, "f8"),
        "cdp_y": (169, "f8"),
    }
)


def extension_of(layout: Layout) -> dict[str, NDArray[Any]]:
    """The fields of all traces, (traces,) each; 0 where a trace has none. Empty where no trace has."""
    if not layout.additional:
        return {}
    rows = layout.rows()
    step = max(1, CHUNK_BYTES // HEADER)
    parts = [
        extension_fields(rows[first : first + step, : 2 * HEADER], layout) for first in range(0, layout.traces, step)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def extension_fields(rows: NDArray[np.uint8], layout: Layout, straight: bool = False) -> dict[str, NDArray[Any]]:
    """The same of some traces as stored, uint8 (n, bytes); straight: swapped pairs of bytes are in order already."""
    if not layout.additional:
        return {}
    heads = rows[:, HEADER : 2 * HEADER]
    heads = swap_pairs(heads) if layout.pairs and not straight else np.ascontiguousarray(heads)
    named = extended(heads)
    fields = {}
    for name, (place, code) in FIELDS.items():
        values = fields_of(heads, place, code, layout.order)
        with np.errstate(invalid="ignore"):
            fields[name] = np.where(named & (np.abs(values) <= LARGEST), values, 0)  # a NaN, too, counts for nothing
    return fields


def overridden(name: str, values: NDArray[Any], extension: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Values (n,) of the first header, or of the extension where that is not 0."""
    own = extension.get(name)
    return values if own is None else np.where(own != 0, own, values)
