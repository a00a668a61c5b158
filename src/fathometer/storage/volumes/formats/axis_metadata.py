"""Metadata of the self-describing formats (NetCDF, HDF5, Zarr): names, coordinates, attributes, packing.

Conventions: those of this program, CF (units, positive, axis, standard_name, scale_factor, add_offset, valid_range),
MATLAB 7.3.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError, naming, shortened
from fathometer.storage.volumes.axis_labels import (
    TIME,
    VALUE_UNIT,
    axis_of,
    listed,
    nameless,
    names_in,
    unit_in,
    unit_of_axis,
    unit_of_values,
)
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.place_metadata import place_attributes, place_of, text_of
from fathometer.storage.volumes.stated_axes import PlacedAxis, StatedAxis, placed_axes, together
from fathometer.storage.volumes.stored import Stored

FILLS = ("_FillValue", "missing_value")
LONG_NAMES = ("long_name", "label")
NO_PLACES = {"time", "crs", "spatial_ref", "band"}  # of the coordinates that xarray and GDAL name
TITLES = ("standard_name", *LONG_NAMES)
PACKING = (("scale_factor", 1.0), ("add_offset", 0.0))
OTHER_PACKING = {
    **dict.fromkeys(("slope", "scale", "scaling_factor", "gain"), 1.0),
    **dict.fromkeys(("intercept", "offset", "bias"), 0.0),
}  # by which others pack values, and what of them changes none; no convention fixes their meaning
UNAPPLIED = ": not applied, values are taken as they are stored"
VALID = ("valid_min", "valid_max", "valid_range")
KNOWN = {
    name.lower(): name
    for name in (*FILLS, *(key for key, _ in PACKING), *VALID, "units", "unit", "positive", "_Unsigned")
}  # attributes that count in any letter case
NAMES_OF_OTHERS = ("_ARRAY_DIMENSIONS", "dimensions", "dims", "axes", "axis_order", "DIMENSION_LABELS")
CONVENTIONS = "CF-1.8"
VALUES = "values"  # the name of an array that has no other
MATLAB = "MATLAB_class"  # attribute of what MATLAB 7.3 has written, whose arrays are column-major
ORDER, FORTRAN = "order", ("f", "fortran", "column-major", "column major")  # attribute, and what says the same
LENGTHS = "spacing_units", "spacing_unit"  # attributes: of spacing and origin


def axis_names(info: VolumeInfo) -> tuple[str, ...]:
    """A dimension name for each axis: its label where that is a unique identifier, else axis0, axis1, …"""
    labels = info.labels or ("",) * len(info.shape)

    def fits(label: str) -> bool:
        reserved = label == VALUES or label.startswith("axis")
        return label.isidentifier() and label.isascii() and labels.count(label) == 1 and not reserved

    return tuple(label if fits(label) else f"axis{n}" for n, label in enumerate(labels))


def array_name(path: Path, info: VolumeInfo) -> str:
    """What the values of a file are called: as the file, in letters, digits and underscores; VALUES where that is no
    name, or one of an axis.

    >>> info = VolumeInfo((2, 2), np.dtype("f4"), None, None, ("x", "z"), None)
    >>> [array_name(Path(name), info) for name in ("image-laplacian.nc", "z.nc", "2.nc")]
    ['image_laplacian', 'values', 'values']
    """
    name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_")
    return name if name.isidentifier() and name not in axis_names(info) else VALUES


def long_name(path: Path) -> str:
    """The same for people, such as "image laplacian"."""
    return " ".join(re.split(r"[\s_-]+", path.stem)).strip()


def coordinates(info: VolumeInfo, axis: int) -> NDArray[np.float64]:
    """Coordinates (cells,) along an axis, m or s; the first is 0 where the origin is unknown. The spacing must be
    known."""
    assert info.spacing is not None
    first = 0.0 if info.origin is None else info.origin[axis]
    return np.asarray(first + info.spacing[axis] * np.arange(info.shape[axis]), np.float64)


def coordinate_attributes(info: VolumeInfo, axis: int) -> dict[str, str]:
    """Attributes of the coordinates along an axis, by the conventions CF."""
    label = axis_names(info)[axis]
    means = axis_of(label)
    attributes = {"units": info.axis_units[axis], "long_name": label}
    if means == "z":
        attributes |= {"long_name": "depth", "standard_name": "depth", "positive": "down", "axis": "Z"}
    elif label == TIME:
        attributes["long_name"] = "time" if axis == 0 else "two-way time"
    elif means in ("x", "y"):
        attributes["axis"] = means.upper()
    return attributes


def attributes_of(info: VolumeInfo) -> dict[str, Any]:
    """Attributes of a volume: spacing, origin (m; s along an axis labelled t), labels, units and place, where known."""
    values = {"spacing": info.spacing, "origin": info.origin, "labels": info.labels, "units": info.unit}
    own = {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items() if value is not None
    }
    return own | place_attributes(info.place)


@dataclass(frozen=True)
class Dimension:
    """What a file has of an axis beside the array: a name ("": none), and a variable of coordinates with its
    attributes, where there is one.

    coordinates: with shape and dtype, in the file; values are read where they are numbers and one for each cell.
    """

    name: str = ""
    coordinates: Any = None
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
    attributes = in_known_case(attributes)
    by_fortran = text_of(attributes.get(ORDER)).lower() in FORTRAN
    column_major = MATLAB in attributes or by_fortran
    dimensions = list(dimensions) or [Dimension()] * len(shape)
    if by_fortran and (any(not nameless(axis.name) for axis in dimensions) or _named(attributes, len(shape))):
        order = text_of(attributes[ORDER])
        raise InputError(f'{name}: {ORDER}: found "{order}" beside names of axes; allowed: one of them')
    step = _one_step(attributes, dimensions, shape)
    if step:
        shape, dimensions = shape[1:], dimensions[1:]
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
        _unit(attributes) or _unit_in_name(attributes) or None,
        fills=declared_fills(attributes, dtype),
        partial=() if spacing else tuple(axis.step for axis in axes),
        firsts=() if origin else tuple(axis.first for axis in axes),
        unplaced="; ".join(reasons),
        uneven="; ".join(axis.uneven for axis in axes if axis.uneven),
        unclear="; ".join(axis.unclear for axis in axes if axis.unclear),
        place=place,
        titles=_titles(name, attributes),
        notes=(
            *(axis.note for axis in axes if axis.note),
            *_unused_notes(dimensions, shape),
            *_auxiliary_notes(attributes, dimensions),
            *_unapplied_notes(name, attributes, dtype),
            *step,
        ),
    )
    stored = _stored(name, shape, dtype, attributes, column_major, axes)
    return info, replace(stored, dropped=(0,)) if step else stored


def _one_step(attributes: Mapping[str, Any], dimensions: Sequence[Dimension], shape: tuple[int, ...]) -> list[str]:
    """A note on a first axis of one step of time, as CF has it, before two axes and more, which is left out; none where
    there is none, and in files of this program, which label all axes."""
    if len(shape) < 3 or shape[0] != 1 or _own_labels(attributes, len(shape)):
        return []
    own = dimensions[0].attributes
    time = text_of(own.get("axis")).upper() == "T" or text_of(own.get("standard_name")) == "time"
    if not time and dimensions[0].name.lower() not in ("time", "t"):
        return []
    return [f'its axis "{dimensions[0].name}" of one step is left out']


def _titles(name: str, attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """What the file calls the values. name: see `stated`."""
    own = (name.rpartition(":")[2] if ":" in name else "", *map(text_of, map(attributes.get, TITLES)))
    return tuple(title for title in own if title)


def _fits(coordinates: Any, cells: int) -> bool:
    """Whether the variable of an axis has one number for each cell."""
    return tuple(coordinates.shape) == (cells,) and coordinates.dtype.kind in "fiu"


def _unused_notes(dimensions: Sequence[Dimension], shape: tuple[int, ...]) -> list[str]:
    """A note on each axis' coordinates that are not one number for each cell."""
    return [
        f'its coordinates "{dimension.name}" are not used: found {shortened(f"{tuple(found.shape)} of {found.dtype}")}'
        f"; allowed: {cells} numbers, one for each cell"
        for dimension, cells in zip(dimensions, shape, strict=True)
        if (found := dimension.coordinates) is not None and not _fits(found, cells)
    ]


def _auxiliary_notes(attributes: Mapping[str, Any], dimensions: Sequence[Dimension]) -> list[str]:
    """A note on coordinates beside those of the dimensions, which CF's attribute of the array names."""
    known = {dimension.name for dimension in dimensions} | NO_PLACES
    names = [name for name in text_of(attributes.get("coordinates")).split() if name not in known]
    return [f"its auxiliary coordinates {listed(names)} are not used, and no place is taken from them"] if names else []


def _unapplied_notes(name: str, attributes: Mapping[str, Any], dtype: np.dtype[Any]) -> list[str]:
    """A note on packing by other names than those of PACKING. InputError where values are integers, and so packed.

    name: see `stated`."""
    words = "" if any(key in attributes for key, _ in PACKING) else unapplied(attributes, OTHER_PACKING)
    if words and dtype.kind in "iu":
        wanted = " and ".join(key for key, _ in PACKING)
        raise InputError(f"{name}: found {words}, of integers; needed: {wanted}, by which alone values are unpacked")
    return [words + UNAPPLIED] if words else []


def unapplied(attributes: Mapping[str, Any], neutral: Mapping[str, float]) -> str:
    """Those attributes of one number, other than the neutral one of their name in lower case, that are there."""
    found = []
    keys = {str(key).lower(): key for key in attributes}
    for name, none in neutral.items():
        number = np.asarray(attributes[keys[name]] if name in keys else none)
        if number.dtype.kind in "fiu" and number.size == 1 and number.item() != none:
            found.append(f"{keys[name]} = {number.item():g}")
    return " and ".join(found)


def _axes(
    name: str, shape: tuple[int, ...], attributes: Mapping[str, Any], dimensions: Sequence[Dimension]
) -> tuple[list[PlacedAxis], bool]:
    """The volume's axes, and whether any of them has a name; labels without a meaning count where they are ours."""
    labels = ["" if nameless(dimension.name) else dimension.name for dimension in dimensions]
    own = _own_labels(attributes, len(shape)) if any(labels) else _named(attributes, len(shape))
    given = bool(own)
    labels = own or labels
    nothing: tuple[float | None, ...] = (None,) * len(shape)
    factors = _factors(name, attributes, len(shape))
    firsts, steps = (
        tuple(None if number is None else number * factor for number, factor in zip(numbers, factors, strict=True))
        for numbers in (_numbers(attributes, "origin", shape) or nothing, _spacing(attributes, shape) or nothing)
    )
    axes = placed_axes(
        [
            _stated_axis(name, dimension, label, cells, first, step)
            for dimension, label, cells, first, step in zip(dimensions, labels, shape, firsts, steps, strict=True)
        ]
    )
    return axes, given or any(axis.label for axis in axes)


def _factors(name: str, attributes: Mapping[str, Any], count: int) -> list[float]:
    """m or s of the units of spacing and origin along each axis, 1 where no attribute says them. InputError where one
    is unknown."""
    said = next((attributes[key] for key in LENGTHS if key in attributes), None)
    several = isinstance(said, list | tuple | np.ndarray) and np.size(said) == count
    texts = [text_of(text) for text in np.ravel(np.asarray(said))] if several else [text_of(said)] * count
    if not any(texts):
        return [1.0] * count
    factors = [unit_of_axis(text, "")[0] for text in texts]
    if None in factors:
        found = texts[factors.index(None)]
        raise InputError(f'{name}: {LENGTHS[0]}: found "{found}"; known: m, km, ft, kft, cm, mm, s, ms, us')
    return [factor for factor in factors if factor is not None]


def in_known_case(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes, and those of KNOWN that are there in other letter case as these spell them."""
    found = {name: attributes[key] for key in attributes if (name := KNOWN.get(str(key).lower())) is not None}
    return {**found, **attributes}


def _named(attributes: Mapping[str, Any], count: int) -> list[str]:
    """The names of all axes in the attributes of an array; none where these do not name them all."""
    return _own_labels(attributes, count) or names_of_others(attributes, count)


def _own_labels(attributes: Mapping[str, Any], count: int) -> list[str]:
    """The names of all axes in the attribute labels: a list, as it is written here, or one text; else none."""
    said = attributes.get("labels")
    if said is not None and not isinstance(said, str | bytes) and np.ndim(said) and len(said) == count:
        return [text_of(label) or str(label) for label in said]
    return names_in(text_of(said), count)


def names_of_others(attributes: Mapping[str, Any], count: int) -> list[str]:
    """The names of all axes in an attribute of others, a list or one text; none where it does not name them all."""
    for key in NAMES_OF_OTHERS:
        said = attributes.get(key)
        if isinstance(said, list | tuple | np.ndarray) and np.size(said) > 1:
            names = [text_of(name) for name in np.ravel(said)]
        else:
            names = names_in(text_of(said), count)
        if len(names) == count and all(axis_of(name) for name in names):
            return names
    return []


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
    own = in_known_case(dimension.attributes)
    words = {key: text_of(own.get(key)) for key in ("positive", "standard_name", "long_name", "axis")}
    words["units"] = _unit(own) or ("" if unit_in(label) else unit_in(words["long_name"]))
    coordinates, rounding = None, 0.0
    if dimension.coordinates is not None and _fits(dimension.coordinates, cells):
        values = np.asarray(dimension.coordinates[:])
        scale, offset = (_number(f"{name}: {dimension.name}", own, key, default) for key, default in PACKING)
        coordinates = values.astype(np.float64) * scale + offset
        rounding = 2.0**-24 if values.dtype.kind == "f" and values.dtype.itemsize <= 4 else 0.0
    ours = step is not None
    return StatedAxis(label, coordinates, first=first, step=step, cells=cells, rounding=rounding, ours=ours, **words)


def _unit(attributes: Mapping[str, Any]) -> str:
    """The unit of an array or of coordinates; "" where there is none."""
    return next((text for key in VALUE_UNIT if (text := text_of(attributes.get(key)))), "")


def _unit_in_name(attributes: Mapping[str, Any]) -> str:
    """The unit in the brackets of an array's long name or label; "" where there is none."""
    return next((text for key in LONG_NAMES if (text := unit_of_values(text_of(attributes.get(key))))), "")


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
        text = text_of(attributes[key])
        shown = f'"{text}"' if text else str(attributes[key])
        raise InputError(f"{name}: {key}: found {shortened(shown)}; allowed: one finite number")
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


def declared_fills(attributes: Any, dtype: np.dtype[Any]) -> tuple[float, ...]:
    """The stored values that stand for missing data by the conventions of NetCDF.

    A missing_value that is a float beside packed integers is that of the unpacked values, unless no integer of dtype is
    so unpacked.
    """
    fills: list[float] = []
    attributes = in_known_case(attributes)
    for name in FILLS:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            given = np.asarray(attributes[name])
            values = given.astype(np.float64).reshape(-1)
            if name != FILLS[0] and given.dtype.kind == "f" and dtype.kind in "iu":
                values = _as_packed(attributes, values, dtype)
            fills += values.tolist()
    return tuple(fill for fill in dict.fromkeys(fills) if not np.isnan(fill))


def _as_packed(attributes: Any, values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[np.float64]:
    """Unpacked values as the nearest stored ones; themselves where these are none of dtype."""
    scale, offset = (float(np.asarray(attributes.get(key, default)).reshape(-1)[0]) for key, default in PACKING)
    if not scale:
        return values
    stored = np.rint((values - offset) / scale)
    ends = np.iinfo(dtype)
    return np.asarray(np.where((ends.min <= stored) & (stored <= ends.max), stored, values))
