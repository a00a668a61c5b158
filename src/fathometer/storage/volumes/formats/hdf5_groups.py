"""What the group of an HDF5 dataset says of it: coordinates that lie beside it, and the unit of its values.

Conventions: NXdata of NeXus (signal, axes), and datasets that are called as axes are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from fathometer.storage.volumes.axis_labels import VALUE_UNIT, axis_of, unit_of_values
from fathometer.storage.volumes.formats.axis_metadata import Dimension, in_known_case, names_of_others
from fathometer.storage.volumes.formats.coordinates_beside import names_by_length
from fathometer.storage.volumes.formats.place_metadata import text_of

# Arrays beside velocities, in a group whose unit is that of velocities.
WITHOUT_VELOCITY = ("epsilon", "delta", "eta", "gamma", "q", "qp", "qs", "rho", "density")


def coordinates_beside(values: Any, attributes: Mapping[str, Any]) -> list[Dimension]:
    """The dimensions of a dataset without names and scales by what its group holds; none where that does not tell.

    attributes: the dataset's own.
    """
    names = _nexus(values) or _names(attributes.get("axes"))
    lines = _lines(values, names)
    if len(names) == values.ndim and any(name in lines for name in names):
        return [
            _dimension(name, lines[name]) if name in lines else Dimension("" if name == "." else name) for name in names
        ]
    lengths = {name: line.shape[0] for name, line in lines.items()}
    order = [axis_of(name) for name in names_of_others(attributes, values.ndim)]
    return [_dimension(name, lines[name]) for name in names_by_length(values.shape, lengths, order)]


def _lines(values: Any, names: list[str]) -> dict[str, Any]:
    """The datasets of one axis and of numbers beside a dataset, in its file, that are called as axes are or by one of
    the names, by name."""
    import h5py

    group = values.parent
    wanted = [name for name in group if isinstance(name, str) and (name in names or axis_of(name))]
    beside = {name: group[name] for name in wanted if isinstance(group.get(name, getlink=True), h5py.HardLink)}
    return {
        name: item
        for name, item in beside.items()
        if isinstance(item, h5py.Dataset) and item.ndim == 1 and item.dtype.kind in "fiu"
    }


def _nexus(values: Any) -> list[str]:
    """The names of the axes by the attributes of a group of NeXus whose signal the dataset is."""
    own = values.parent.attrs
    if text_of(own.get("signal")) != str(values.name).rpartition("/")[2]:
        return []
    return _names(own.get("axes"))


def _names(said: Any) -> list[str]:
    if isinstance(said, list | tuple | np.ndarray) and np.size(said) > 1:
        return [text_of(name) for name in np.ravel(said)]
    return [name for name in re.split(r"[,:;\s]+", text_of(said)) if name]


def _dimension(name: str, line: Any) -> Dimension:
    return Dimension(name, line, dict(line.attrs))


def unit_of_group(values: Any) -> str | None:
    """The unit of values that the group of a dataset, or its file, says; None where it says none, or one of lengths."""
    if str(values.name).rpartition("/")[2].lower() in WITHOUT_VELOCITY:
        return None
    for attributes in (in_known_case(values.parent.attrs), in_known_case(values.file.attrs)):
        texts = [text_of(attributes.get(key)) for key in VALUE_UNIT]
        if unit := next((text for text in texts if unit_of_values(f"({text})")), ""):
            return unit
    return None
