"""Restart files of an ocean: see runs/restart_folder.py.

    out/restart/00000120/state.nc    its arrays by name over x, y and level, NetCDF, float64

A state may be read on other ranks and blocks than it was written by. Blocks of land have zeros in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.ocean.grid import Floats
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.checksum import checksum, checksum_of_bytes
from fathometer.runs.restart_folder import RestartFolder, Sums
from fathometer.storage.datasets.dataset import Attribute, Dataset, Variable
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.datasets.writer import DatasetWriter
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.ocean.barotropic.layout import Layout

STATE = "state.nc"
AXES = ("x", "y", "level")


@dataclass(frozen=True)
class Progress:
    """What of a run is in its restart file, beside the arrays.

    Attributes:
        time: s. steps: taken. rows: of the time series.
        contents, gained, volume, courant: as of course.Course. written: steps whose fields are there.
    """

    time: float
    steps: int
    rows: Sequence[Mapping[str, Any]]
    contents: Sequence[float]
    gained: Sequence[float]
    volume: float
    courant: float
    written: Sequence[int]


class RestartFiles:
    """The restart files of a run; methods are collective.

    Args:
        output: folder of the results. input: what of the input the states depend on, JSON-ready.
    """

    def __init__(
        self,
        output: Path,
        input: Mapping[str, Any],
        layout: Layout,
        comm: MPI.Intracomm,
        strategy: Strategy | None = None,
    ) -> None:
        self._states = RestartFolder(output, input, Progress.__dataclass_fields__, comm)
        self._layout, self._comm, self._strategy = layout, comm, strategy

    def write(self, progress: Progress, arrays: Mapping[str, Floats]) -> None:
        """Write a state: blocked arrays (nb, X, Y) or (nb, X, Y, levels) by name, halos of no account.

        Raises FathometerError where it cannot be written; the state before stays then.
        """
        levels = max((values.shape[3] for values in arrays.values() if values.ndim == 4), default=1)
        dimensions = dict(zip(AXES, (*self._layout.shape, levels), strict=True))
        variables = [Variable(name, AXES[: values.ndim - 1], "f8") for name, values in arrays.items()]
        attributes: dict[str, Attribute] = {"title": "state of an ocean", "time_seconds": progress.time}
        dataset = Dataset(dimensions, variables, attributes | {"steps": progress.steps})

        def save(folder: Path) -> Sums:
            sums = {}
            with DatasetWriter(folder / STATE, dataset, self._comm, self._strategy) as writer:
                for name, values in arrays.items():
                    boxes = self._boxes(values)
                    writer.write(name, boxes)
                    sums[f"{STATE}:{name}"] = sum(self._checksum(lo, box) for lo, box in boxes)
            with collective_errors(self._comm):
                return sums | self._around(folder)

        self._states.write(asdict(progress), save)

    def _checksum(self, lo: tuple[int, ...], values: Floats) -> int:
        return checksum(values, (*self._layout.shape, *values.shape[2:]), lo)

    def _around(self, folder: Path) -> dict[str, int]:
        """That of the bytes around the values, on rank 0."""
        if self._comm.rank:
            return {}
        with DatasetFile(folder / STATE) as file:
            return {STATE: checksum_of_bytes(file.around())}

    def _boxes(self, values: Floats) -> list[tuple[tuple[int, ...], Floats]]:
        """This rank's boxes; rank 0 has those of blocks that nobody has, of zeros."""
        inner = values.shape[3:]
        found = [
            ((*block.lo, *(0,) * len(inner)), self._layout.owned(values, number))
            for number, block in enumerate(self._layout.own)
        ]
        if self._comm.rank == 0:
            for lo, hi in self._layout.left_out:
                found.append(((*lo, *(0,) * len(inner)), np.zeros((hi[0] - lo[0], hi[1] - lo[1], *inner))))
        return found

    def read(
        self,
        arrays: Mapping[str, Floats],
        written: Callable[[Sequence[int]], None] = lambda steps: None,
        steps: int | None = None,
    ) -> Progress | None:
        """The newest state, or that after so many steps, its arrays into these by name: what this rank owns; halos
        become 0. None where there is none. written: raises FathometerError where the fields after one of the steps are
        missing.

        Raises InputError where it is of another input, FathometerError where it is damaged; as RestartFolder.read.
        """

        def load(folder: Path) -> Sums:
            with DatasetFile(folder / STATE) as file:
                sums = {f"{STATE}:{name}": self._fill(file, name, values) for name, values in arrays.items()}
            return sums | self._around(folder)

        values = self._states.read(load, lambda values: written(values["written"]), steps)
        return None if values is None else Progress(**values)

    def _fill(self, file: DatasetFile, name: str, values: Floats) -> int:
        """Read this rank's blocks of an array; the checksum of what was read, on rank 0 that of land too."""
        stored, layout, inner = file.variable(name), self._layout, values.shape[3:]
        if stored.shape != (*layout.shape, *inner) or stored.dtype != np.dtype(">f8"):
            raise FathometerError(f"{file.path}:{name}: is not of this ocean")

        def box(columns: tuple[int, int], end: tuple[int, int]) -> tuple[tuple[int, ...], Floats]:
            lo = (*columns, *(0,) * len(inner))
            return lo, file.read(name, lo, (*end, *inner))

        found, values[...] = 0, 0.0
        for number, block in enumerate(layout.own):
            lo, read = box(block.lo, block.hi)
            layout.owned(values, number)[...] = read
            found += self._checksum(lo, read)
        return found + sum(self._checksum(*box(*land)) for land in layout.left_out if self._comm.rank == 0)

    def remove(self) -> None:
        """Remove all states; what else lies in their folder stays."""
        self._states.remove()
