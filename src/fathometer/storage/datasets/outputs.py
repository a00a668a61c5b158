"""The two ways into a NetCDF file: PnetCDF, by all ranks; SciPy, by one rank that has all values in memory."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.storage import atomic
from fathometer.storage.datasets.dataset import FILL, Attribute, Dataset, Variable, numbers_of
from fathometer.storage.shared_writer import Opened
from fathometer.storage.volumes.collective_file import check_opening
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.netcdf_file import NetcdfFile
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.spot_check import SpotCheck
from fathometer.storage.volumes.strategy import COLLECTIVE, ROOT, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

Boxes = Sequence[tuple[Sequence[int], npt.NDArray[Any]]]  # first cell of each box, and its values
KINDS = {"int32": pnetcdf.INT, "float32": pnetcdf.FLOAT, "float64": pnetcdf.DOUBLE}
LARGEST_CLASSIC = (1 << 31) - 4  # bytes of a variable of CDF-2 as SciPy writes it


class Output(Opened, Protocol):
    """A file being written by the ranks that have it open; errors of one rank are OSErrors there, raised after all
    collective calls."""

    def put(self, variable: Variable, boxes: Boxes) -> None:
        """Write this rank's boxes, C-contiguous, writeable and of the variable's type."""


class PnetcdfOutput:
    """A file of CDF-5 that all ranks write."""

    def __init__(self, part: Path, path: Path, dataset: Dataset, comm: MPI.Intracomm, strategy: Strategy) -> None:
        check_opening(part, comm, os.O_RDWR)
        self._sync = strategy.sync != "none"
        if strategy.name == ROOT:  # of which `comm` holds rank 0 alone
            strategy = Strategy.of(COLLECTIVE)
        self._file = NetcdfFile(part, comm, strategy, create=True)
        try:
            self._numbers = self._define(dataset)
            arrays = [self._array(part, dataset, variable) for variable in dataset.variables]
            self._checks = {
                variable.name: (array, SpotCheck()) for variable, array in zip(dataset.variables, arrays, strict=True)
            }
            ends = [array.start + math.prod(array.shape) * array.dtype.itemsize for array in arrays]
            with collective_errors(comm), atomic.writing(path):
                if comm.rank == 0:
                    _reserve(part, max(ends, default=0))
        except (OSError, FathometerError):
            self._file.close()
            raise

    def _define(self, dataset: Dataset) -> Mapping[str, int]:
        file, numbers = self._file, {}
        for name, length in dataset.dimensions.items():
            numbers[name] = file.inquire("def_dim", name.encode(), length)
        variables = {}
        for variable in dataset.variables:
            dimensions = (ctypes.c_int * max(1, len(variable.dimensions)))(*[numbers[n] for n in variable.dimensions])
            kind = KINDS[variable.kind.name]
            number = file.inquire("def_var", variable.name.encode(), kind, len(variable.dimensions), dimensions)
            variables[variable.name] = number
            for key, value in variable.attributes.items():
                self._attribute(number, key, value, kind if key == FILL else pnetcdf.DOUBLE)
        for key, value in dataset.attributes.items():
            self._attribute(pnetcdf.GLOBAL, key, value, pnetcdf.DOUBLE)
        file("enddef")
        return variables

    def _attribute(self, variable: int, key: str, value: Attribute, kind: int) -> None:
        if isinstance(value, str):
            self._file.text(variable, key, value)
        else:
            self._file.numbers(variable, key, kind, numbers_of(value))

    def _array(self, part: Path, dataset: Dataset, variable: Variable) -> RawArray:
        start = self._file.inquire("inq_varoffset", self._numbers[variable.name], kind=ctypes.c_longlong)
        return RawArray(part, start, dataset.shape(variable), variable.kind.newbyteorder(">"))

    def put(self, variable: Variable, boxes: Boxes) -> None:
        """Write this rank's boxes, C-contiguous, writeable and of the variable's type."""
        array, check = self._checks[variable.name]
        for lo, values in boxes:
            check.record(values.astype(array.dtype), lo)
        self._file.put(self._numbers[variable.name], boxes)

    def flush(self) -> None:
        """See Output."""
        if self._sync:
            with ledger.flush():
                self._file("sync")

    def close(self) -> None:
        """See Output."""
        self._file.close()
        self._file.verify_header()
        for array, check in self._checks.values():
            check.verify_raw(array)

    def abandon(self, error: FathometerError) -> None:
        """See Output."""
        self._file.close()


class ScipyOutput:
    """A file of CDF-2 that one rank writes, at the end and from its memory."""

    def __init__(self, part: Path, path: Path, dataset: Dataset, strategy: Strategy) -> None:
        for variable in dataset.variables:
            if dataset.bytes(variable) > LARGEST_CLASSIC:
                raise InputError(
                    f"{path}:{variable.name}: {dataset.bytes(variable)} bytes do not fit a NetCDF file with 64-bit "
                    f"offsets (allowed: {LARGEST_CLASSIC}); larger ones are written by PnetCDF: {pnetcdf.missing()}"
                )
        self._part, self._dataset, self._sync = part, dataset, strategy.sync != "none"
        self._values = {
            variable.name: np.zeros(dataset.shape(variable), variable.kind.newbyteorder(">"))
            for variable in dataset.variables
        }

    def put(self, variable: Variable, boxes: Boxes) -> None:
        """Write this rank's boxes, C-contiguous, writeable and of the variable's type."""
        for lo, values in boxes:
            box = tuple(slice(a, a + n) for a, n in zip(lo, values.shape, strict=True))
            self._values[variable.name][box] = values

    def flush(self) -> None:
        """See Output."""
        from scipy.io import netcdf_file

        data = self._dataset
        size = sum(values.nbytes for values in self._values.values())
        with ledger.io(bytes=size), netcdf_file(self._part, "w", version=2) as file:
            for name, length in data.dimensions.items():
                file.createDimension(name, length)
            for key, value in data.attributes.items():
                setattr(file, key, _scipy_attribute(value, np.dtype(np.float64)))
            for variable in data.variables:
                one = file.createVariable(variable.name, variable.kind, variable.dimensions)
                vars(one)["data"] = self._values[variable.name]  # by setattr it would become an attribute in the file
                for key, value in variable.attributes.items():
                    setattr(one, key, _scipy_attribute(value, variable.kind if key == FILL else np.dtype(np.float64)))
        if self._sync:
            with ledger.flush():
                atomic.flush_file(self._part)

    def close(self) -> None:
        """See Output."""

    def abandon(self, error: FathometerError) -> None:
        """See Output."""


def _scipy_attribute(value: Attribute, kind: np.dtype[Any]) -> Any:
    return value if isinstance(value, str) else np.asarray(numbers_of(value), kind)


def _reserve(part: Path, size: int) -> None:
    """Reserve the file's space, so that a full disk is noticed now."""
    handle = os.open(part, os.O_WRONLY)
    try:
        atomic.reserve(handle, size)
    finally:
        os.close(handle)
