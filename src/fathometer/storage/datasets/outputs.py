"""The two ways into a NetCDF file: PnetCDF, by all ranks; SciPy, by one rank that has all values in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import atomic
from fathometer.storage.datasets.dataset import FILL, Attribute, Dataset, numbers_of
from fathometer.storage.shared_writer import Opened
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.netcdf_output import Boxes, NewVariable, PnetcdfOutput
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

LARGEST_CLASSIC = (1 << 31) - 4  # bytes of a variable of CDF-2 as SciPy writes it


class Output(Opened, Protocol):
    """A file being written by the ranks that have it open; errors of one rank are OSErrors there, raised after all
    collective calls."""

    def put(self, name: str, boxes: Boxes) -> None:
        """Write this rank's boxes of a variable, C-contiguous, writeable and of its type."""


def pnetcdf_output(part: Path, path: Path, dataset: Dataset, comm: MPI.Intracomm, strategy: Strategy) -> PnetcdfOutput:
    """A file of CDF-5 that all ranks write."""
    variables = [
        NewVariable(
            variable.name,
            variable.dimensions,
            variable.kind,
            {key: _typed(value, key, variable.kind) for key, value in variable.attributes.items()},
        )
        for variable in dataset.variables
    ]
    attributes = {key: _typed(value) for key, value in dataset.attributes.items()}
    return PnetcdfOutput(part, path, dataset.dimensions, variables, attributes, comm, strategy)


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

    def put(self, name: str, boxes: Boxes) -> None:
        """Write this rank's boxes of a variable, C-contiguous, writeable and of its type."""
        for lo, values in boxes:
            box = tuple(slice(a, a + n) for a, n in zip(lo, values.shape, strict=True))
            self._values[name][box] = values

    def flush(self) -> None:
        """Write the file, whole; have it on the device, where that is asked for."""
        from scipy.io import netcdf_file

        data = self._dataset
        size = sum(values.nbytes for values in self._values.values())
        with ledger.io(bytes=size), netcdf_file(self._part, "w", version=2) as file:
            for name, length in data.dimensions.items():
                file.createDimension(name, length)
            for key, value in data.attributes.items():
                setattr(file, key, _typed(value))
            for variable in data.variables:
                one = file.createVariable(variable.name, variable.kind, variable.dimensions)
                vars(one)["data"] = self._values[variable.name]  # by setattr it would become an attribute in the file
                for key, value in variable.attributes.items():
                    setattr(one, key, _typed(value, key, variable.kind))
        if self._sync:
            with ledger.flush():
                atomic.flush_file(self._part)

    def close(self) -> None:
        """Nothing is open."""

    def abandon(self, error: FathometerError) -> None:
        """Nothing is open."""


def _typed(value: Attribute, key: str = "", kind: npt.DTypeLike = np.float64) -> str | npt.NDArray[Any]:
    """An attribute of a variable of type `kind`, or of the file, as it is in the file."""
    return value if isinstance(value, str) else np.asarray(numbers_of(value), kind if key == FILL else np.float64)
