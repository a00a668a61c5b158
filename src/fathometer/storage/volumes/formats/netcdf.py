"""NetCDF volumes: written by PnetCDF as CDF-5, big-endian; CDF-1, 2 and 5 are read. `file.nc:variable`.

The array is the variable that is called as the file ("values" in files of older versions); where there is a spacing,
each axis has a coordinate variable in m (of two-way time in s), as xarray and other tools expect. Spacing and origin
are attributes of the array too, so that they are read back exactly.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.volumes.block import SPACE_AXES, BlockReader, Volume, VolumeInfo, check_shape, check_values
from fathometer.storage.volumes.boxes import Box
from fathometer.storage.volumes.collective_file import allocate_block, check_opening
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.axis_metadata import (
    CONVENTIONS,
    Dimension,
    array_name,
    axis_names,
    coordinate_attributes,
    coordinates,
    long_name,
    stated,
)
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.formats.netcdf_file import NetcdfFile
from fathometer.storage.volumes.formats.netcdf_header import DEFAULT_FILLS, Header, StoredVariable, header_of
from fathometer.storage.volumes.formats.netcdf_output import NewVariable, PnetcdfOutput
from fathometer.storage.volumes.formats.place_metadata import place_attributes
from fathometer.storage.volumes.formats.reference_system import in_system
from fathometer.storage.volumes.strategy import SHARED, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI


def new_files(path: Path, info: VolumeInfo) -> list[atomic.NewFile]:
    """The file; the library writes its header."""
    return [atomic.NewFile(path)]


def missing(name: str, ranks: int) -> str:
    """What this machine lacks for a strategy, with how to install it; "": nothing."""
    return "" if name == SHARED else pnetcdf.missing()


class NetcdfSink(PnetcdfOutput):
    """A NetCDF volume that PnetCDF writes."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        names, kind = axis_names(info), np.dtype(np.float64)
        axes = {} if info.spacing is None else {name: coordinates(info, axis) for axis, name in enumerate(names)}
        variables = [
            NewVariable(name, (name,), kind, coordinate_attributes(info, axis)) for axis, name in enumerate(axes)
        ]
        self._name = array_name(path, info)
        variables.append(NewVariable(self._name, names, info.dtype, _attributes(path, info)))
        sizes = dict(zip(names, info.shape, strict=True))
        super().__init__(part, path, sizes, variables, {"Conventions": CONVENTIONS}, comm, strategy)
        try:
            for name, values in axes.items():
                self.put(name, [((0,), values)] if comm.rank == 0 else [])
        except OSError:
            self._file.close()
            raise

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty."""
        self.put(self._name, [(lo, block)])


def _attributes(path: Path, info: VolumeInfo) -> dict[str, str | NDArray[Any]]:
    """Of the array: its name, spacing and origin, where known; units, labels, place."""
    own = {"long_name": long_name(path), "spacing": info.spacing, "origin": info.origin, "units": info.unit}
    own |= {"labels": None if info.labels is None else "\n".join(info.labels)} | place_attributes(info.place)
    return {
        key: value if isinstance(value, str) else np.atleast_1d(np.asarray(value, np.float64))
        for key, value in own.items()
        if value is not None
    }


class NetcdfVolume(BlockReader):
    """One variable of a NetCDF file of the classic kinds, for one rank: read without the library, which needs MPI."""

    def __init__(self, path: Path, key: str | None) -> None:
        header = header_of(path)
        variables = header.variables
        arrays = [name for name, variable in variables.items() if 2 <= len(variable.shape) <= SPACE_AXES + 1]
        self.key = choose_key(path, key, arrays or list(variables))
        stored, name = variables[self.key], f"{path}:{self.key}"
        check_values(name, stored.dtype)
        shape = check_shape(name, stored.shape)
        labels = stored.attributes.get("labels")
        names = {"labels": labels.split("\n")} if isinstance(labels, str) and labels else {}
        with reading(path):
            file = np.memmap(path, np.uint8, "r")
            dimensions = [_dimension(axis, variables, file) for axis in stored.dimensions]
            self._values = _array(stored, file)
        info, arrangement = stated(name, shape, stored.dtype, {**stored.attributes, **names}, dimensions)
        info = in_system(
            info, stored.attributes, lambda name: _attributes_in(header, name), header.attributes, dimensions
        )
        default = (DEFAULT_FILLS[stored.dtype.str[1:]],) if stored.dtype.itemsize > 1 else ()
        super().__init__(path, replace(info, fills=info.fills or default), arrangement)

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        block: NDArray[Any] = self._values[box]
        return block

    def close(self) -> None:
        self._values = np.empty((0,) * len(self.info.shape), self.info.dtype)


def _attributes_in(header: Header, name: str) -> Mapping[str, Any] | None:
    """Those of a variable; None where there is none of that name."""
    return header.variables[name].attributes if name in header.variables else None


def _array(variable: StoredVariable, file: NDArray[np.uint8]) -> NDArray[Any]:
    """A variable's values in the mapped file."""
    shape, width = variable.shape, variable.dtype.itemsize
    strides = [width * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if variable.stride:
        strides[0] = variable.stride
    return np.ndarray(shape, variable.dtype, file, variable.start, strides)


def _dimension(name: str, variables: Mapping[str, StoredVariable], file: NDArray[np.uint8]) -> Dimension:
    """A dimension with its variable of coordinates, the one of its name."""
    found = variables.get(name)
    if found is None or found.dimensions != (name,):
        return Dimension(name)
    return Dimension(name, _array(found, file), found.attributes)


class NetcdfSource:
    """A NetCDF volume that PnetCDF reads."""

    def __init__(self, volume: NetcdfVolume, comm: MPI.Intracomm, strategy: Strategy) -> None:
        check_opening(volume.path, comm, os.O_RDONLY)
        self._volume, self._comm = volume, comm
        self._file = NetcdfFile(volume.path, comm, strategy, create=False)
        self._variable = self._file.inquire("inq_varid", volume.key.encode())

    def read(self, box: Box) -> NDArray[Any]:
        """The values of a box of the volume, in any real dtype."""
        block = allocate_block(self._volume.path, box, self._volume.info.dtype.newbyteorder("="), self._comm)
        self._file.get(self._variable, block, box[0])
        return block

    def close(self) -> None:
        """Collective. Close the file."""
        self._file.close()


def source(volume: Volume, comm: MPI.Intracomm, strategy: Strategy) -> NetcdfSource | None:
    """Its reader on several ranks; None where each rank reads by itself."""
    assert isinstance(volume, NetcdfVolume)
    return None if strategy.name == SHARED else NetcdfSource(volume, comm, strategy)
