"""Metadata of the self-describing formats (NetCDF, HDF5, Zarr): names, coordinates, attributes, packing.

Conventions: those of this program, CF (units, positive, axis, standard_name, scale_factor, add_offset, valid_range),
MATLAB 7.3.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError, naming, shortened
from fathometer.storage.volumes.axis_labels import VALUE_UNIT, nameless
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.place_metadata import place_attributes, place_of, text_of
from fathometer.storage.volumes.stated_axes import PlacedAxis, StatedAxis, placed_axes, together
from fathometer.storage.volumes.stored import Stored

FILLS = ("_FillValue", "missing_value")
PACKING = (("scale_factor", 1.0), ("add_offset", 0.0))
MATLAB = "MATLAB_class"  # attribute of what MATLAB 7.3 has written, whose arrays are column-major


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


@dataclass(frozen=True)
class Dimension:
    """What a file has of an axis beside the array: a name ("": none), and a variable of coordinates (cells,) with its
    attributes, where there is one."""

    name: str = ""
    coordinates: NDArray[Any] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


def stated(
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    attributes: Mapping[str, Any],
    dimensions: Sequence[Dimension] = (),
) -> tuple[VolumeInfo, Stored]:
    """Metadata of a volume and how it is stored, from the attributes and the dimensions of its array.

    Attributes as `attributes_of` makes them are read back exactly. Those that do not fit the shape are ignored.
    name: of the file and the array, for messages. shape, dimensions: of the array, slowest first.
    InputError: attributes of packing that are no numbers; coordinates that are packed so.
    """
    column_major = MATLAB in attributes
    dimensions = list(dimensions) or [Dimension()] * len(shape)
    if column_major:
        shape, dimensions = shape[::-1], dimensions[::-1]
    axes, labelled = _axes(name, shape, attributes, dimensions)
    spacing, origin = together(axes)
    reasons = [axis.unplaced for axis in axes if axis.unplaced]
    if spacing is None and _spacing(attributes, shape) is None and _numbers(attributes, "spacing", shape):
        reasons.append("its attribute spacing has numbers that are not above 0")
    with naming(name):
        place = place_of(attributes)
    info = VolumeInfo(
        shape,
        dtype,
        spacing,
        origin,
        tuple(axis.label for axis in axes) if labelled else None,
        _unit(attributes) or None,
        fills=declared_fills(attributes),
        partial=() if spacing else tuple(axis.step for axis in axes),
        firsts=() if origin else tuple(axis.first for axis in axes),
        unplaced="; ".join(reasons),
        uneven="; ".join(axis.uneven for axis in axes if axis.uneven),
        unclear="; ".join(axis.unclear for axis in axes if axis.unclear),
        place=place,
    )
    return info, _stored(name, shape, dtype, attributes, column_major, axes)


def _axes(
    name: str, shape: tuple[int, ...], attributes: Mapping[str, Any], dimensions: Sequence[Dimension]
) -> tuple[list[PlacedAxis], bool]:
    """The volume's axes, and whether any of them has a name; labels without a meaning count where they are ours."""
    own = attributes.get("labels")
    given = own is not None and not isinstance(own, str) and len(own) == len(shape)
    labels = ["" if nameless(dimension.name) else dimension.name for dimension in dimensions]
    if own is not None and given:
        labels = [text_of(label) or str(label) for label in own]
    nothing: tuple[None, ...] = (None,) * len(shape)
    firsts, steps = _numbers(attributes, "origin", shape) or nothing, _spacing(attributes, shape) or nothing
    axes = placed_axes(
        [
            _stated_axis(name, dimension, label, cells, first, step)
            for dimension, label, cells, first, step in zip(dimensions, labels, shape, firsts, steps, strict=True)
        ]
    )
    return axes, given or any(axis.label for axis in axes)


def _stored(
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    attributes: Mapping[str, Any],
    column_major: bool,
    axes: Sequence[PlacedAxis],
) -> Stored:
    scale, offset = (_number(name, attributes, key, default) for key, default in PACKING)
    if not scale:
        raise InputError(f"{name}: scale_factor: found 0; allowed: any other number")
    if "_Unsigned" in attributes:
        raise InputError(f"{name}: found the attribute _Unsigned; allowed: an array of the type that is meant")
    stored = Stored(shape, column_major, tuple(axis.flipped for axis in axes), scale, offset)
    return replace(stored, valid=_valid(name, attributes, dtype, stored))


def _spacing(attributes: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[float, ...] | None:
    spacing = _numbers(attributes, "spacing", shape)
    return spacing if spacing is not None and min(spacing) > 0 else None


def _stated_axis(
    name: str, dimension: Dimension, label: str, cells: int, first: float | None, step: float | None
) -> StatedAxis:
    own = dimension.attributes
    words = {key: text_of(own.get(key)) for key in ("positive", "standard_name", "long_name", "axis")}
    words["units"] = _unit(own)
    coordinates, rounding = None, 0.0
    values = dimension.coordinates
    if values is not None and values.shape == (cells,) and values.dtype.kind in "fiu":
        scale, offset = (_number(f"{name}: {dimension.name}", own, key, default) for key, default in PACKING)
        coordinates = values.astype(np.float64) * scale + offset
        rounding = 2.0**-24 if values.dtype.kind == "f" and values.dtype.itemsize <= 4 else 0.0
    ours = step is not None
    return StatedAxis(label, coordinates, first=first, step=step, cells=cells, rounding=rounding, ours=ours, **words)


def _unit(attributes: Mapping[str, Any]) -> str:
    """The unit of an array or of coordinates; "" where there is none."""
    return next((text for key in VALUE_UNIT if (text := text_of(attributes.get(key)))), "")


def _numbers(attributes: Mapping[str, Any], key: str, shape: tuple[int, ...]) -> tuple[float, ...] | None:
    try:
        values = tuple(float(value) for value in attributes[key])
    except (KeyError, TypeError, ValueError):
        return None
    return values if len(values) == len(shape) and all(np.isfinite(values)) else None


def _number(name: str, attributes: Mapping[str, Any], key: str, default: float) -> float:
    """The one number of an attribute. InputError where it is anything else."""
    if key not in attributes:
        return default
    values = np.empty(0)
    with contextlib.suppress(TypeError, ValueError):
        given = np.asarray(attributes[key])
        if given.dtype.kind in "fiu":  # text and complex numbers are none, though NumPy would convert them
            values = given.astype(np.float64).reshape(-1)
    if len(values) != 1 or not np.isfinite(values[0]):
        raise InputError(f"{name}: {key}: found {shortened(str(attributes[key]))}; allowed: one finite number")
    return float(values[0])


def _valid(
    name: str, attributes: Mapping[str, Any], dtype: np.dtype[Any], stored: Stored
) -> tuple[float, float] | None:
    """The valid stored values. Bounds that are floats beside packed integers are those of the unpacked values."""
    ends = [-math.inf, math.inf]
    of_values = False
    for key, sides in (("valid_min", (0,)), ("valid_max", (1,)), ("valid_range", (0, 1))):
        if key not in attributes:
            continue
        given = np.asarray(attributes[key]).reshape(-1)
        if given.dtype.kind not in "fiu" or len(given) != len(sides):
            raise InputError(f"{name}: {key}: found {shortened(str(attributes[key]))}; allowed: {len(sides)} numbers")
        of_values = of_values or (stored.packed and given.dtype.kind == "f" and dtype.kind != "f")
        for side, number in zip(sides, given.tolist(), strict=True):
            ends[side] = float(number)
    if of_values:
        ends = sorted((end - stored.offset) / stored.scale for end in ends)
    return None if ends == [-math.inf, math.inf] else (ends[0], ends[1])


def declared_fills(attributes: Any) -> tuple[float, ...]:
    """The values that stand for missing data by the conventions of NetCDF."""
    fills: list[float] = []
    for name in FILLS:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            fills += np.asarray(attributes[name], np.float64).reshape(-1).tolist()
    return tuple(fill for fill in dict.fromkeys(fills) if not np.isnan(fill))
