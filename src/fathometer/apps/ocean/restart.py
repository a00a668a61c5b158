"""Restart files of an ocean: see runs/restart_folder.py.

    out/restart/00000120/state.nc    its arrays by name over x, y and level, NetCDF, float64

A state may be read on other ranks and blocks than it was written by. Blocks of land have zeros in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.ocean.grid import Floats
from fathometer.base.errors import FathometerError
from fathometer.runs.restart_folder import RestartFolder
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
        contents, gained, volume: as of course.Course. written: steps whose fields are there.
    """

    time: float
    steps: int
    rows: Sequence[Mapping[str, Any]]
    contents: Sequence[float]
    gained: Sequence[float]
    volume: float
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

        def save(folder: Path) -> None:
            with DatasetWriter(folder / STATE, dataset, self._comm, self._strategy) as writer:
                for name, values in arrays.items():
                    writer.write(name, self._boxes(values))

        self._states.write(asdict(progress), save)

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

    def read(self, arrays: Mapping[str, Floats]) -> Progress | None:
        """The newest state, its arrays into these by name: what this rank owns; halos become 0. None where there is
        none.

        Raises InputError where it is of another input, FathometerError where it is damaged.
        """

        def load(folder: Path) -> None:
            with DatasetFile(folder / STATE) as file:
                for name, values in arrays.items():
                    self._fill(file, name, values)

        values = self._states.read(load)
        return None if values is None else Progress(**values)

    def _fill(self, file: DatasetFile, name: str, values: Floats) -> None:
        stored, layout = file.variable(name), self._layout
        if stored.shape != (*layout.shape, *values.shape[3:]) or stored.dtype != np.dtype(">f8"):
            raise FathometerError(f"{file.path}:{name}: is not of this ocean; --overwrite begins anew")
        values[...] = 0.0
        for number, block in enumerate(layout.own):
            lo, hi = (*block.lo, *(0,) * (values.ndim - 3)), (*block.hi, *values.shape[3:])
            layout.owned(values, number)[...] = file.read(name, lo, hi)

    def remove(self) -> None:
        """Remove all states; what else lies in their folder stays."""
        self._states.remove()
