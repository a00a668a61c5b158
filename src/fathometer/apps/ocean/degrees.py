"""Longitudes and latitudes of a NetCDF file's array, which volumes do not have, as lengths are in metres; its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.ocean.grid import Floats
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.reading import reading
from fathometer.storage.volumes.formats.hdf5 import is_hdf5
from fathometer.storage.volumes.formats.hdf5_common import file_to_read
from fathometer.storage.volumes.volume import split_reference


def degrees_along(reference: str, axis: int) -> Floats | None:
    """Coordinates of an axis (from 0, slowest first) in degrees, rising, as a volume has them; None where it has none.

    InputError where the file cannot be read.
    """
    path, key = split_reference(reference, Path())
    if is_hdf5(path):
        found = _of_hdf5(path, key, axis)
    elif path.suffix.lower() == ".nc":
        found = _of_classic(path, key, axis)
    else:
        return None
    if found is None:
        return None
    values, unit = found
    if not _text(unit).lower().startswith("degree") or values.ndim != 1 or not np.isfinite(values).all():
        return None
    rising: Floats = values.astype(np.float64)
    return rising[::-1] if len(rising) > 1 and rising[0] > rising[-1] else rising


def only_array(reference: str) -> str:
    """The name of the only array with several axes of a NetCDF file; "" of any other file, and where there are more."""
    path, key = split_reference(reference, Path())
    names: list[str] = []
    if is_hdf5(path):
        names = _arrays_of_hdf5(path)
    elif path.suffix.lower() == ".nc":
        with DatasetFile(path) as file:
            names = [name for name, stored in file.header.variables.items() if len(stored.shape) > 1]
    return key or (names[0] if len(names) == 1 else "")


def _arrays_of_hdf5(path: Path) -> list[str]:
    import h5py

    with reading(path), file_to_read(path) as file:
        return [name for name, one in file.items() if isinstance(one, h5py.Dataset) and one.ndim > 1]


def _of_classic(path: Path, key: str | None, axis: int) -> tuple[Any, Any] | None:
    with DatasetFile(path) as file:
        variables = file.header.variables
        name = key or only_array(str(path))
        if name not in variables or len(variables[name].dimensions) <= axis:
            return None
        dimension = variables[name].dimensions[axis]
        return (file.read(dimension), file.attribute(dimension, "units")) if dimension in variables else None


def _of_hdf5(path: Path, key: str | None, axis: int) -> tuple[Any, Any] | None:
    name = key or only_array(str(path))
    with reading(path), file_to_read(path) as file:
        array = file.get(name)
        if array is None or array.ndim <= axis or not array.dims[axis].keys():
            return None
        scale = array.dims[axis][0]
        return scale[:], scale.attrs.get("units", "")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
