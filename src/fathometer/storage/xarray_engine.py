"""Volumes for xarray: `xarray.open_dataset("image.rsf")`, or `open_dataset("image.h5", engine="fathometer", level=2)`.

Whatever `fathometer info` describes as a volume becomes a variable that is called as the file, or as its array in the
file, with unit and attributes; its values are read where they are used. Coordinates lie along the axes, in m (of times
in s; of SEG-Y numbers of lines), and, where the volume says where it lies, in the world: X and Y, m. level, share: of
volumes that have coarser levels or levels of detail (storage/volumes/volume.py, `reference_at`). Registered as an entry
point of xarray, which is needed for nothing else here. RSF and SEG-Y are opened so without naming the engine.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from fathometer.base.errors import InputError
from fathometer.storage.lazy_arrays import OpenedFiles, chunks_of
from fathometer.storage.named_coordinates import InWorld, along_axes, in_world
from fathometer.storage.volumes.block import Volume, float_type
from fathometer.storage.volumes.formats.axis_metadata import VALUES, array_name, attributes_of, axis_names, long_name
from fathometer.storage.volumes.volume import open_volume, reference_at, split_reference

OPENED = (".rsf", ".segy", ".sgy")  # that no other engine opens


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
        array = VolumeArray(reference_at(absolute(filename_or_obj), Path(), level, share))
        try:
            dataset = _dataset(array, drop_variables)
        except BaseException:
            array.volume.close()
            raise
        dataset.set_close(array.close)
        return dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether it is a file of a kind that no other engine opens, by its suffix."""
        return isinstance(filename_or_obj, str | os.PathLike) and str(filename_or_obj).lower().endswith(OPENED)


def absolute(name: Any) -> str:
    """A file's name from the root on; what ".." means behind a link is left to the system."""
    return os.path.join(os.getcwd(), os.fspath(name))


def _dataset(array: VolumeArray, drop_variables: str | Iterable[str] | None) -> Dataset:
    info = array.volume.info
    names = axis_names(info)
    dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
    values = Variable(names, indexing.LazilyIndexedArray(array), {"long_name": array.long_name, **attributes_of(info)})
    values.encoding |= {"preferred_chunks": dict(zip(names, chunks_of(info.shape), strict=True)), "token": array.token}
    coordinates = {
        name: Variable((name,), along.values, along.attributes) for name, along in along_axes(array.volume).items()
    }
    for name, place in in_world(info).items():
        lazy = indexing.LazilyIndexedArray(_WorldArray(place))
        coordinates.setdefault(name, Variable([names[axis] for axis in place.axes], lazy, place.attributes))
    kept = {name: one for name, one in coordinates.items() if name not in dropped}
    return Dataset({} if array.name in dropped else {array.name: values}, kept)


class VolumeArray(BackendArray):
    """A volume's values, of which a box is read for each selection.

    Attributes:
        files: as they were when it was opened.
    """

    def __init__(self, reference: str) -> None:
        self._reference, self._lock, self._closed = reference, threading.Lock(), False
        self.volume: Volume = open_volume(reference, Path(), steps=True)
        self.files = OpenedFiles.of(path for path in self.volume.files() if path.is_file())
        self.shape, self.dtype = self.volume.info.shape, float_type(self.volume.info.dtype)
        path, key = split_reference(reference, Path())
        named = [part for part in (getattr(self.volume, "key", None) or key or "").split("/") if part]
        self.name, self.long_name = array_name(path, self.volume.info), long_name(path)
        # An array that has a name in its file keeps it; of a level, or a SEG-Y that is to be a volume, the key is none.
        if named and named[-1].isidentifier() and named[0] not in (VALUES, "levels", "shares", "volume"):
            self.name, self.long_name = named[-1], long_name(Path(named[-1]))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            self.volume.close()

    def __reduce__(self) -> tuple[Any, tuple[str, OpenedFiles]]:
        """In another process the file is opened there, as it is here."""
        return _reopened, (self._reference, self.files)

    @property
    def token(self) -> str:
        """What tells it from another array for dask: also from the same file before a change."""
        return f"{self._reference} {self.files}"

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
            with self._lock:
                if self._closed:
                    raise InputError(f"{self._reference}: is closed; values are read before, or open it again")
                self.files.require_unchanged()
                block = self.volume.read(lo, hi)
            values = block[tuple(slice(None, None, cells.step) for cells in ranges)]
        return values[tuple(slice(None) if isinstance(part, slice) else 0 for part in key)]


def _reopened(reference: str, files: OpenedFiles) -> VolumeArray:
    files.require_unchanged()
    return VolumeArray(reference)


class _WorldArray(BackendArray):
    """X or Y of a volume's columns, computed for each selection: of 1000 x 1000 columns they take 8 MB."""

    def __init__(self, place: InWorld) -> None:
        self._parts = place.parts
        self.shape, self.dtype = tuple(len(part) for part in place.parts), np.dtype(np.float64)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._sum)

    def _sum(self, key: tuple[int | slice, ...]) -> Any:
        first, *others = (part[one] for part, one in zip(self._parts, key, strict=True))
        values: NDArray[np.float64] = np.asarray(first)
        return np.add.outer(values, others[0]) if others else values
