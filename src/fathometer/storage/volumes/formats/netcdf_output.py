"""A NetCDF file (CDF-5) that all ranks of a communicator write by PnetCDF: defined, reserved, filled with boxes, and
checked when it is closed."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import collective_errors
from fathometer.storage import atomic
from fathometer.storage.volumes.collective_file import check_opening
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.netcdf_file import NetcdfFile
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.spot_check import SpotCheck
from fathometer.storage.volumes.strategy import COLLECTIVE, ROOT, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

Boxes = Sequence[tuple[Sequence[int], NDArray[Any]]]  # first cell of each box, and its values
Attributes = Mapping[str, str | NDArray[Any]]  # numbers in the type that they have in the file
KINDS = {"int32": pnetcdf.INT, "float32": pnetcdf.FLOAT, "float64": pnetcdf.DOUBLE}


@dataclass(frozen=True, eq=False)
class NewVariable:
    """A variable of a file that is written: names of its dimensions, the slowest first; type of its values."""

    name: str
    dimensions: Sequence[str]
    kind: np.dtype[Any]
    attributes: Attributes = field(default_factory=dict)


class PnetcdfOutput:
    """The file, open on all ranks; errors of one rank are OSErrors there, raised after all collective calls.

    Args:
        part: the file as it is written. path: its name, for messages. dimensions: their lengths by name.
    """

    def __init__(
        self,
        part: Path,
        path: Path,
        dimensions: Mapping[str, int],
        variables: Sequence[NewVariable],
        attributes: Attributes,
        comm: MPI.Intracomm,
        strategy: Strategy,
    ) -> None:
        check_opening(part, comm, os.O_RDWR)
        self._part, self._sync = part, strategy.sync != "none"
        if strategy.name == ROOT:  # of which `comm` holds rank 0 alone
            strategy = Strategy.of(COLLECTIVE)
        self._file = NetcdfFile(part, comm, strategy, create=True)
        try:
            self._numbers = self._define(dimensions, variables, attributes)
            self._checks = {
                variable.name: (self._array(part, dimensions, variable), SpotCheck()) for variable in variables
            }
            ends = [array.start + math.prod(array.shape) * array.dtype.itemsize for array, _ in self._checks.values()]
            with collective_errors(comm), atomic.writing(path):
                if comm.rank == 0:
                    _reserve(part, max(ends, default=0))
        except (OSError, FathometerError):
            self._file.close()
            raise

    def _define(
        self, dimensions: Mapping[str, int], variables: Sequence[NewVariable], attributes: Attributes
    ) -> Mapping[str, int]:
        file = self._file
        places = {name: file.inquire("def_dim", name.encode(), length) for name, length in dimensions.items()}
        numbers = {}
        for variable in variables:
            own = (ctypes.c_int * max(1, len(variable.dimensions)))(*[places[name] for name in variable.dimensions])
            kind = KINDS[variable.kind.name]
            number = file.inquire("def_var", variable.name.encode(), kind, len(variable.dimensions), own)
            numbers[variable.name] = number
            self._describe(number, variable.attributes)
        self._describe(pnetcdf.GLOBAL, attributes)
        file("enddef")
        return numbers

    def _describe(self, variable: int, attributes: Attributes) -> None:
        for key, value in attributes.items():
            if isinstance(value, str):
                self._file.text(variable, key, value)
            else:
                self._file.numbers(variable, key, KINDS[value.dtype.name], value.tolist())

    def _array(self, part: Path, dimensions: Mapping[str, int], variable: NewVariable) -> RawArray:
        start = self._file.inquire("inq_varoffset", self._numbers[variable.name], kind=ctypes.c_longlong)
        shape = tuple(dimensions[name] for name in variable.dimensions)
        return RawArray(part, start, shape, variable.kind.newbyteorder(">"))

    def put(self, name: str, boxes: Boxes) -> None:
        """Collective. Write this rank's boxes of a variable, C-contiguous, writeable and of its type."""
        array, check = self._checks[name]
        for lo, values in boxes:
            check.record(values.astype(array.dtype), lo)
        self._file.put(self._numbers[name], boxes)

    def flush(self) -> None:
        """Have what this rank wrote on the device, where it is asked for. Not by ncmpi_sync: where that fails on one
        rank, it leaves the others in a barrier."""
        if self._sync:
            with ledger.flush():
                atomic.flush_file(self._part)

    def close(self) -> None:
        """Collective. Close the file; what is in it is compared with what was written."""
        self._file.close()
        self._file.verify_header()
        for array, check in self._checks.values():
            check.verify_raw(array)

    def abandon(self, error: FathometerError) -> None:
        """Close after a step that failed with `error` on all ranks; errors raised here are ignored."""
        self._file.close()


def _reserve(part: Path, size: int) -> None:
    """Reserve the file's space, so that a full disk is noticed now."""
    handle = os.open(part, os.O_WRONLY)
    try:
        atomic.reserve(handle, size)
    finally:
        os.close(handle)
