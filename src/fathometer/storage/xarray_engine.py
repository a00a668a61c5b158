"""Volumes for xarray: `xarray.open_dataset("image.h5", engine="fathometer", level=2)`.

Whatever `fathometer info` describes as a volume becomes the variable "values", read where it is used, with coordinates
in m (of times in s) and the attributes that NetCDF files of this program have. level, share: of volumes that have
coarser levels or levels of detail (storage/volumes/volume.py, `reference_at`). Registered as an entry point of xarray,
which is needed for nothing else here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from fathometer.storage.volumes.block import Volume, float_type
from fathometer.storage.volumes.formats.axis_metadata import attributes_of, axis_names, coordinates
from fathometer.storage.volumes.volume import open_volume, reference_at

NAME = "values"


class Engine(BackendEntrypoint):
    """The engine "fathometer"."""

    description = "Volumes as Fathometer reads them: RSF, SEG-Y, HDF5, NetCDF, Zarr, NPY, at any level"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "level", "share")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        level: int = 0,
        share: int | None = None,
    ) -> Dataset:
        """A dataset of one variable. Raises as `open_volume`."""
        array = _Array(reference_at(os.path.abspath(filename_or_obj), Path(), level, share))
        try:
            dataset = _dataset(array, drop_variables)
        except BaseException:
            array.volume.close()
            raise
        dataset.set_close(array.close)
        return dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Never: a file is opened so where the engine is named."""
        return False


def _dataset(array: _Array, drop_variables: str | Iterable[str] | None) -> Dataset:
    info, names = array.volume.info, axis_names(array.volume.info)
    dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
    data = indexing.LazilyIndexedArray(array)
    variables = {NAME: Variable(names, data, attributes_of(info))}
    for axis, name in enumerate(names if info.spacing is not None else ()):
        variables[name] = Variable((name,), coordinates(info, axis), {"units": info.axis_units[axis]})
    return Dataset({name: one for name, one in variables.items() if name not in dropped})


class _Array(BackendArray):
    """A volume's values, of which a box is read for each selection."""

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self.volume: Volume = open_volume(reference, Path(), steps=True)
        self.shape, self.dtype = self.volume.info.shape, float_type(self.volume.info.dtype)

    def close(self) -> None:
        """Close the file."""
        self.volume.close()

    def __reduce__(self) -> tuple[type[_Array], tuple[str]]:
        """In another process the file is opened there."""
        return _Array, (self._reference,)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: tuple[int | slice, ...]) -> Any:
        ranges = [
            range(n)[part if isinstance(part, slice) else slice(part, part + 1 or None)]
            for part, n in zip(key, self.shape, strict=True)
        ]
        if any(len(cells) == 0 for cells in ranges):
            values = np.empty([len(cells) for cells in ranges], self.dtype)
        else:
            lo, hi = [min(cells) for cells in ranges], [max(cells) + 1 for cells in ranges]
            values = self.volume.read(lo, hi)[tuple(slice(None, None, cells.step) for cells in ranges)]
        return values[tuple(slice(None) if isinstance(part, slice) else 0 for part in key)]
