"""The potentials of a plasma at output times, as NetCDF (runs/field_series.py).

out/fields/plasma-00000120.nc    after 120 steps: phi (and A) [part, ky, theta, kx], real and imaginary parts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.apps.plasma.case import PlasmaCase
from fathometer.runs.field_series import NetcdfSeries
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

NAMES = {"phi": "electrostatic potential, e phi / T_i over rho_i/R", "a": "vector potential along the field"}
DIMENSIONS = ("part", "ky", "theta", "kx")


class PlasmaFields(NetcdfSeries):
    """The field files of a run."""

    def __init__(self, case: PlasmaCase, comm: MPI.Intracomm) -> None:
        self._case = case
        self._names = list(NAMES)[: case.plasma.fields]
        super().__init__(case.file.output_directory, "plasma", self._names, comm, Strategy())

    def write_fields(self, step: int, time: float, fields: npt.NDArray[np.complex128]) -> None:
        """Collective. Write the fields [fields, ky, theta, kx] after some steps; all ranks have the same."""
        tube = self._case.plasma.tube
        parts = np.stack([fields.real, fields.imag], axis=1)
        modes = tube.modes
        variables = [
            Variable("time", (), "f8", {"long_name": "time", "units": "R/v_i"}, np.array(time)),
            Variable("ky", ("ky",), "f8", {"long_name": "wave number", "units": "1/rho_i"}, modes.ky),
            Variable(
                "kx_at", ("ky", "kx"), "f8", {"long_name": "wave number at theta = 0", "units": "1/rho_i"}, modes.kx
            ),
            Variable(
                "theta", ("theta",), "f8", {"long_name": "angle along the field line", "units": "rad"}, tube.theta
            ),
            *(Variable(name, DIMENSIONS, "f8", {"long_name": NAMES[name], "units": "1"}) for name in self._names),
        ]
        sizes = dict(zip(DIMENSIONS, parts.shape[1:], strict=True))
        boxes = []
        for name, values in zip(self._names, parts, strict=True):
            self.ranges[name].add(values)
            boxes.append((name, [((0, 0, 0, 0), np.ascontiguousarray(values))] if self.comm.rank == 0 else []))
        self.write(step, Dataset(sizes, variables, {"title": self._case.file.path.stem}), boxes)
