"""The arrays of a model's state in one NetCDF file, float64, in the folder of a state (restart_folder.py).

    out/restart/00000120/state.nc

The file does not depend on the ranks: a state may be read on other ranks, and in other boxes, than it was written by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.checksum import checksum, checksum_of_bytes
from fathometer.runs.restart_folder import Sums
from fathometer.storage.datasets.dataset import Attribute, Dataset, Variable
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.datasets.writer import DatasetWriter

if TYPE_CHECKING:
    from mpi4py import MPI

STATE = "state.nc"

Box = tuple[tuple[int, ...], npt.NDArray[Any]]  # first index in the whole array, and values


@dataclass(frozen=True, eq=False)
class StateArray:
    """An array of a model's state as a rank has it.

    Attributes:
        dimensions: names of its axes; arrays that share a name have as many cells along it. shape: of all of it.
        boxes: that this rank owns; their values are views of the model's own array (float64), read into as well.
        empty: first and last index of boxes that no rank owns, zeros in the file; the same on all ranks.
    """

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    boxes: Sequence[Box]
    empty: Sequence[tuple[Sequence[int], Sequence[int]]] = ()

    def written(self, rank: int) -> list[Box]:
        """The boxes that a rank writes: its own and, on rank 0, those of nobody."""
        # Checksums need numbers that follow each other along the last axis, and no more.
        found = [
            (lo, values if values.strides[-1] == values.itemsize else np.ascontiguousarray(values))
            for lo, values in self.boxes
        ]
        for lo, hi in self.empty if rank == 0 else ():
            found.append((tuple(lo), np.zeros([b - a for a, b in zip(lo, hi, strict=True)])))
        return found


def save(
    folder: Path, arrays: Mapping[str, StateArray], attributes: Mapping[str, Attribute], comm: MPI.Intracomm
) -> Sums:
    """Collective. Write the arrays into a folder; checksums of this rank's part. attributes: of the file.

    Raises FathometerError where it cannot be written.
    """
    dimensions = {
        name: length for array in arrays.values() for name, length in zip(array.dimensions, array.shape, strict=True)
    }
    variables = [Variable(name, array.dimensions, "f8") for name, array in arrays.items()]
    sums = {}
    with DatasetWriter(folder / STATE, Dataset(dimensions, variables, attributes), comm) as writer:
        for name, array in arrays.items():
            boxes = array.written(comm.rank)
            writer.write(name, boxes)
            sums[_entry(name)] = sum(checksum(values, array.shape, lo) for lo, values in boxes)
    with collective_errors(comm):
        return sums | _around(folder, comm)


def load(folder: Path, arrays: Mapping[str, StateArray], comm: MPI.Intracomm) -> Sums:
    """Read the arrays of a folder into their boxes, on each rank; checksums of what was read.

    Raises FathometerError where the file cannot be read, or has other arrays.
    """
    with DatasetFile(folder / STATE) as file:
        sums = {_entry(name): _fill(file, name, array, comm.rank) for name, array in arrays.items()}
    return sums | _around(folder, comm)


def _entry(name: str) -> str:
    return f"{STATE}:{name}"


def _fill(file: DatasetFile, name: str, array: StateArray, rank: int) -> int:
    stored = file.variable(name)
    if stored.shape != array.shape or stored.dtype != np.dtype(">f8"):
        found, needed = (" × ".join(map(str, shape)) for shape in (stored.shape, array.shape))
        raise FathometerError(f"{file.path}:{name}: found {found} values of {stored.dtype}; needed: {needed} of >f8")

    def boxes() -> Iterator[tuple[Sequence[int], npt.NDArray[Any]]]:
        for lo, values in array.boxes:
            values[...] = read = file.read(name, lo, [a + n for a, n in zip(lo, values.shape, strict=True)])
            yield lo, read
        for start, end in array.empty if rank == 0 else ():
            yield start, file.read(name, start, end)

    return sum(checksum(read, array.shape, lo) for lo, read in boxes())


def _around(folder: Path, comm: MPI.Intracomm) -> dict[str, int]:
    """Of the bytes around the values, on rank 0."""
    if comm.rank:
        return {}
    with DatasetFile(folder / STATE) as file:
        return {STATE: checksum_of_bytes(file.around())}
