"""The fields of an ocean at output times: CF names, values in float32 (field_kinds.py, runs/field_series.py).

    out/fields/ocean-00000120.nc    after 120 steps

What is no water is the fill value: cells of land, and those below the bottom. `xarray.open_mfdataset` joins the files
along time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.field_kinds import Field, dataset_of, fields_of
from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.solver.problem import TRACERS
from fathometer.apps.ocean.streamfunction import gathered, near_water
from fathometer.runs.field_series import NetcdfSeries
from fathometer.storage.datasets.dataset import FILL_VALUE
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.ocean.barotropic.block_layout import Layout
    from fathometer.apps.ocean.ocean_file import OceanFile

SOURCE = "Fathometer"

Box = tuple[tuple[int, ...], npt.NDArray[np.float32]]


class OceanFields(NetcdfSeries):
    """The field files of a run.

    Args:
        file: the input, of which folder, fields and strategy are taken.
    """

    def __init__(self, file: OceanFile, grid: OceanGrid, layout: Layout, comm: MPI.Intracomm) -> None:
        self._grid, self._layout = grid, layout
        self._fields = fields_of(file.output.fields, TRACERS[2:], grid.spherical)
        self._attributes = {"title": file.path.stem, "source": SOURCE, "history": f"written by {SOURCE}"}
        names = [field.name for field in self._fields]
        super().__init__(file.output_directory, "ocean", names, comm, Strategy.of(file.storage.write))

    def write_state(self, step: int, time: float, state: Mapping[str, Floats]) -> None:
        """Collective. Write the fields after some steps, at a time in s.

        state: blocked arrays (nb, X, Y[, nz]) by name: temperature, salinity and other tracers, u, v and eta, as far as
        the fields need them, and w (m/s, upward, at the upper interfaces of levels). Halos do not count.
        """
        dataset = dataset_of(self._grid, self._fields, time, self._attributes)
        self.write(step, dataset, ((field.name, self._boxes(field, state)) for field in self._fields))

    def _boxes(self, field: Field, state: Mapping[str, Floats]) -> list[Box]:
        """This rank's boxes of a field, as they lie in the file: (time, [depth,] y, x)."""
        if field.kind == "streamfunction":
            return self._streamfunction(state)
        grid, values = self._grid, state[field.array]
        found = []
        levels = grid.levels_u if field.corner else grid.levels
        for number, block in enumerate(self._layout.own):
            own = levels[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]]
            part = self._layout.owned(values, number)
            water = np.arange(grid.shape[2]) < own[..., None] if part.ndim == 3 else own > 0
            known = np.broadcast_to(water, part.shape) & ~np.isnan(part)
            self.ranges[field.name].add(part[known])
            filled = np.where(known, part, FILL_VALUE).astype(np.float32)
            found.append(self._box(block.lo, filled))
        if self.comm.rank == 0:
            for lo, hi in self._layout.left_out:
                shape = (hi[0] - lo[0], hi[1] - lo[1], *values.shape[3:])
                found.append(self._box(lo, np.full(shape, FILL_VALUE, np.float32)))
        return found

    def _box(self, lo: Sequence[int], values: npt.NDArray[np.float32]) -> Box:
        """Values (x, y[, z]) from a column on, turned to the file's axes."""
        return (0, *(0,) * (values.ndim - 2), lo[1], lo[0]), values.T[None]

    def _streamfunction(self, state: Mapping[str, Floats]) -> list[Box]:
        values = gathered(self._grid, self._layout, state, self.comm)
        if values is None:
            return []
        self.ranges["streamfunction"].add(values[near_water(self._grid)])
        return [self._box((0, 0), np.where(near_water(self._grid), values, FILL_VALUE).astype(np.float32))]
