"""The fields of an ocean at output times: a NetCDF file each, CF names, values in float32.

    out/fields/ocean-00000120.nc    after 120 steps

What is no water is the fill value: cells of land, and those below the bottom. `xarray.open_mfdataset` joins the files
along time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.field_kinds import Field, dataset_of, fields_of
from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.solver.problem import TRACERS
from fathometer.apps.ocean.streamfunction import gathered, near_water
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.value_range import ValueRange
from fathometer.storage import atomic
from fathometer.storage.datasets.dataset import FILL_VALUE
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.datasets.writer import DatasetWriter
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.ocean.barotropic.layout import Layout
    from fathometer.apps.ocean.ocean_file import OceanFile

FOLDER = "fields"
KIND = "fields"  # of file, in the account
SOURCE = "Fathometer"
NAME = re.compile(r"ocean-(\d{8,})\.nc")

Box = tuple[tuple[int, ...], npt.NDArray[np.float32]]


def file_name(step: int) -> str:
    """Name of the file after some steps, below the folder of the fields."""
    return f"ocean-{step:08d}.nc"


class FieldFiles:
    """The files of a run; methods are collective.

    Args:
        file: the input, of which folder, fields and strategy are taken. written: steps whose files are there, of a run
            that is resumed; all others that bear such names are removed.

    Attributes:
        fields: that are written. steps: of the files that there are. ranges: of this rank's values in the water that
            were written, by field.
    """

    def __init__(
        self, file: OceanFile, grid: OceanGrid, layout: Layout, comm: MPI.Intracomm, written: Sequence[int] = ()
    ) -> None:
        self._folder, self._grid, self._layout, self._comm = file.output_directory / FOLDER, grid, layout, comm
        self._strategy = Strategy.of(file.storage.write)
        self._attributes = {"title": file.path.stem, "source": SOURCE, "history": f"written by {SOURCE}"}
        self.fields = fields_of(file.output.fields, TRACERS[2:], grid.spherical)
        self.steps = list(written)
        self.ranges = {field.name: ValueRange() for field in self.fields}
        with collective_errors(comm):
            if comm.rank == 0:
                with atomic.writing(self._folder):
                    self._folder.mkdir(parents=True, exist_ok=True)
                    _remove_others(self._folder, self.steps)

    def write(self, step: int, time: float, state: Mapping[str, Floats]) -> Path:
        """Write the fields after some steps, at a time in s; the file's path.

        state: blocked arrays (nb, X, Y[, nz]) by name: temperature, salinity and other tracers, u, v and eta, as far as
        the fields need them, and w (m/s, upward, at the upper interfaces of levels). Halos do not count.
        """
        grid = self._grid
        dataset = dataset_of(grid, self.fields, time, self._attributes)
        path = self._folder / file_name(step)
        with (
            ledger.file(KIND, "write"),
            DatasetWriter(path, dataset, self._comm, self._strategy) as writer,
        ):
            for field in self.fields:
                if field.kind == "streamfunction":
                    writer.write(field.name, self._streamfunction(state))
                else:
                    writer.write(field.name, self._boxes(field, state[field.array]))
        self.steps = sorted({*self.steps, step})
        return path

    def paths(self) -> list[Path]:
        """All files that there are, in the order of steps."""
        return [self._folder / file_name(step) for step in self.steps]

    def _boxes(self, field: Field, values: Floats) -> list[Box]:
        """This rank's boxes of a field, as they lie in the file: (time, [depth,] y, x)."""
        grid, found = self._grid, []
        levels = grid.levels_u if field.corner else grid.levels
        for number, block in enumerate(self._layout.own):
            own = levels[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]]
            part = self._layout.owned(values, number)
            water = np.arange(grid.shape[2]) < own[..., None] if part.ndim == 3 else own > 0
            known = np.broadcast_to(water, part.shape) & ~np.isnan(part)
            self.ranges[field.name].add(part[known])
            filled = np.where(known, part, FILL_VALUE).astype(np.float32)
            found.append(self._box(block.lo, filled))
        if self._comm.rank == 0:
            for lo, hi in self._layout.left_out:
                shape = (hi[0] - lo[0], hi[1] - lo[1], *values.shape[3:])
                found.append(self._box(lo, np.full(shape, FILL_VALUE, np.float32)))
        return found

    def _box(self, lo: Sequence[int], values: npt.NDArray[np.float32]) -> Box:
        """Values (x, y[, z]) from a column on, turned to the file's axes."""
        return (0, *(0,) * (values.ndim - 2), lo[1], lo[0]), values.T[None]

    def _streamfunction(self, state: Mapping[str, Floats]) -> list[Box]:
        values = gathered(self._grid, self._layout, state, self._comm)
        if values is None:
            return []
        self.ranges["streamfunction"].add(values[near_water(self._grid)])
        return [self._box((0, 0), np.where(near_water(self._grid), values, FILL_VALUE).astype(np.float32))]


def require(file: OceanFile, steps: Sequence[int]) -> None:
    """Raises FathometerError where the fields after one of the steps are not there, or cut short."""
    for step in steps:
        path = file.output_directory / FOLDER / file_name(step)
        if not path.exists():
            raise FathometerError(f"{path}: is missing, which the run had written")
        DatasetFile(path).close()


def _remove_others(folder: Path, steps: Sequence[int]) -> None:
    """Remove the files of other steps than these, and what runs that were killed have left unfinished."""
    atomic.remove_parts(folder, NAME)
    for path in folder.iterdir():
        if (match := NAME.fullmatch(path.name)) is not None and int(match[1]) not in steps:
            remove_file(path)
