"""Volumes for xarray: `xarray.open_dataset("image.h5", engine="fathometer", level=2)`.

Whatever `fathometer info` describes as a volume becomes the variable "values", read where it is used, with coordinates
in m (of times in s) and the attributes that NetCDF files of this program have. level, share: of volumes that have
coarser levels or levels of detail (storage/volumes/volume.py, `reference_at`). Registered as an entry point of xarray,
which is needed for nothing else here.
"""

from __future__ import annotations

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
        volume = open_volume(reference_at(str(filename_or_obj), Path(), level, share), Path(), steps=True)
        info, names = volume.info, axis_names(volume.info)
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        data = indexing.LazilyIndexedArray(_Array(volume))
        variables = {NAME: Variable(names, data, attributes_of(info))}
        for axis, name in enumerate(names if info.spacing is not None else ()):
            variables[name] = Variable((name,), coordinates(info, axis), {"units": info.axis_units[axis]})
        dataset = Dataset({name: one for name, one in variables.items() if name not in dropped})
        dataset.set_close(volume.close)
        return dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Never: a file is opened so where the engine is named."""
        return False


class _Array(BackendArray):
    """A volume's values, of which a box is read for each selection."""

    def __init__(self, volume: Volume) -> None:
        self._volume = volume
        self.shape, self.dtype = volume.info.shape, float_type(volume.info.dtype)

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
            values = self._volume.read(lo, hi)[tuple(slice(None, None, cells.step) for cells in ranges)]
        return values[tuple(slice(None) if isinstance(part, slice) else 0 for part in key)]
