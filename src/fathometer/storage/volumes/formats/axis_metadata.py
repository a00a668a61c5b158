"""Axis metadata of the self-describing formats (NetCDF, HDF5, Zarr): names, coordinates and attributes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.place_metadata import place_attributes, place_of

FILLS = ("_FillValue", "missing_value")


def axis_names(info: VolumeInfo) -> tuple[str, ...]:
    """A dimension name for each axis: its label where that is a unique identifier, else axis0, axis1, …"""
    labels = info.labels or ("",) * len(info.shape)

    def fits(label: str) -> bool:
        reserved = label == "values" or label.startswith("axis")
        return label.isidentifier() and label.isascii() and labels.count(label) == 1 and not reserved

    return tuple(label if fits(label) else f"axis{n}" for n, label in enumerate(labels))


def coordinates(info: VolumeInfo, axis: int) -> NDArray[np.float64]:
    """Coordinates (cells,) along an axis, m or s; the first is 0 where the origin is unknown. The spacing must be
    known."""
    assert info.spacing is not None
    first = 0.0 if info.origin is None else info.origin[axis]
    return np.asarray(first + info.spacing[axis] * np.arange(info.shape[axis]), np.float64)


def attributes_of(info: VolumeInfo) -> dict[str, Any]:
    """Attributes of a volume: spacing, origin (m; s along an axis labelled t), labels, units and place, where known."""
    values = {"spacing": info.spacing, "origin": info.origin, "labels": info.labels, "units": info.unit}
    own = {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items() if value is not None
    }
    return own | place_attributes(info.place)


def info_of(shape: tuple[int, ...], dtype: np.dtype[Any], attributes: Any) -> VolumeInfo:
    """Metadata of a volume from its attributes, the inverse; attributes that do not fit the shape are ignored."""

    def numbers(key: str) -> tuple[float, ...] | None:
        try:
            values = tuple(float(value) for value in attributes[key])
        except (KeyError, TypeError, ValueError):
            return None
        return values if len(values) == len(shape) and all(np.isfinite(values)) else None

    labels, unit = attributes.get("labels"), attributes.get("units")
    spacing = numbers("spacing")
    return VolumeInfo(
        shape,
        dtype,
        spacing if spacing is None or min(spacing) > 0 else None,
        numbers("origin"),
        None if labels is None or len(labels) != len(shape) else tuple(str(label) for label in labels),
        unit if isinstance(unit, str) else None,
        fills=declared_fills(attributes),
        place=place_of(attributes),
    )


def declared_fills(attributes: Any) -> tuple[float, ...]:
    """The values that stand for missing data by the conventions of NetCDF."""
    fills: list[float] = []
    for name in FILLS:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            fills += np.asarray(attributes[name], np.float64).reshape(-1).tolist()
    return tuple(fill for fill in dict.fromkeys(fills) if not np.isnan(fill))
