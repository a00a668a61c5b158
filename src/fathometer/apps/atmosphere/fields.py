"""The fields of an atmosphere at output times, as NetCDF on the Gaussian grid, names after the CF conventions 1.8
(runs/field_series.py).

out/fields/atmosphere-00000120.nc    after 120 steps: wind, temperature, surface pressure, vorticity
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.atmosphere.case import AtmosphereCase
from fathometer.apps.atmosphere.solver.equations import PRESSURE, Primitive
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.runs.field_series import NetcdfSeries
from fathometer.storage.datasets.dataset import Attribute, Dataset, Variable
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
SOURCE = "Fathometer"
# By kind of field: names, standard names, units; of shallow water alike.
AIR = {
    "wind": (("u", "eastward_wind", "m s-1"), ("v", "northward_wind", "m s-1")),
    "temperature": (("temperature", "air_temperature", "K"),),
    "pressure": (("surface_pressure", "surface_air_pressure", "Pa"),),
    "vorticity": (("vorticity", "atmosphere_relative_vorticity", "s-1"),),
}
WATER = AIR | {"temperature": (), "pressure": (("depth", "", "m"),)}


class AtmosphereFields(NetcdfSeries):
    """The field files of a run."""

    def __init__(self, case: AtmosphereCase, transform: Transform, comm: MPI.Intracomm) -> None:
        self._case, self._transform = case, transform
        kinds = WATER if case.equations.SHALLOW else AIR
        self._fields = [field for kind in case.file.output.fields for field in kinds[kind]]
        self._fields += [(tracer.name, "", "1") for tracer in case.file.tracers]
        super().__init__(
            case.file.output_directory, "atmosphere", [name for name, *_ in self._fields], comm, Strategy()
        )

    def write_fields(self, step: int, time: float, weather: Floats, tracers: Floats | None = None) -> None:
        """Collective. Write the fields after some steps, at a time in s.

        weather: winds, temperature, vorticity of all levels and surface pressure, [pair, hemisphere, longitude, ...] of
        this rank's pairs. tracers: alike, [.., tracer x level].
        """
        levels, equations = self._case.equations.levels, self._case.equations
        parts = {name: weather[..., n * levels : (n + 1) * levels] for n, name in enumerate(("u", "v", "t", "vo"))}
        values = {
            "u": parts["u"],
            "v": parts["v"],
            "temperature": parts["t"],
            "vorticity": parts["vo"],
            "surface_pressure": weather[..., -1:],
            "depth": parts["t"] / equations.planet.gravity,
        }
        for number, tracer in enumerate(self._case.file.tracers):
            assert tracers is not None
            values[tracer.name] = tracers[..., number * levels : (number + 1) * levels]
        dimensions = {name: self._dimensions(name) for name, *_ in self._fields}
        boxes = []
        for name, *_ in self._fields:
            self.ranges[name].add(values[name])
            boxes.append((name, self._boxes(values[name], len(dimensions[name]) == 4)))
        variables = [*self._coordinates(time)]
        for name, standard, unit in self._fields:
            attributes: dict[str, Attribute] = {"standard_name": standard} if standard else {}
            attributes |= {"long_name": (standard or name).replace("_", " "), "units": unit}
            attributes["cell_methods"] = "time: point"
            variables.append(Variable(name, dimensions[name], "f4", attributes))
        sizes = {"time": 1, "latitude": self._case.grid.latitudes, "longitude": self._case.grid.longitudes}
        if isinstance(equations, Primitive):
            sizes |= {"level": levels, "interface": levels + 1}
        attributes = {"title": self._case.file.path.stem, "source": SOURCE, "Conventions": "CF-1.8"}
        self.write(step, Dataset(sizes, variables, attributes), boxes)

    def _dimensions(self, name: str) -> tuple[str, ...]:
        flat = self._case.equations.SHALLOW or name == "surface_pressure"
        return ("time", "latitude", "longitude") if flat else ("time", "level", "latitude", "longitude")

    def _boxes(self, values: Floats, with_levels: bool) -> list[tuple[tuple[int, ...], Any]]:
        """This rank's southern and northern latitudes, from south to north."""
        pairs, last = self._transform.pairs, self._case.grid.latitudes
        found: list[tuple[tuple[int, ...], Any]] = []
        for half, first in ((1, pairs.start), (0, last - pairs.stop)):
            part = values[:, half] if half else values[::-1, half]
            box = np.ascontiguousarray(part.transpose(2, 0, 1), np.float32)  # level, latitude, longitude
            found.append(((0, 0, first, 0), box[None]) if with_levels else ((0, first, 0), box))
        return found

    def _coordinates(self, time: float) -> list[Variable]:
        grid, equations = self._case.grid, self._case.equations
        latitudes = np.degrees(grid.latitudes_northward)
        found = [
            Variable(
                "time",
                ("time",),
                "f8",
                {"standard_name": "time", "units": "seconds since 0001-01-01 00:00:00", "calendar": "365_day"},
                np.array([time]),
            ),
            Variable(
                "latitude", ("latitude",), "f8", {"standard_name": "latitude", "units": "degrees_north"}, latitudes
            ),
            Variable(
                "longitude",
                ("longitude",),
                "f8",
                {"standard_name": "longitude", "units": "degrees_east"},
                np.degrees(grid.longitude),
            ),
        ]
        if isinstance(equations, Primitive):
            hybrid = "atmosphere_hybrid_sigma_pressure_coordinate"
            a, b = equations.a, equations.b
            for name, ends, of_a, of_b in (
                ("level", "", 0.5 * (a[1:] + a[:-1]), 0.5 * (b[1:] + b[:-1])),
                ("interface", "_interface", a, b),
            ):
                words: dict[str, Attribute] = {"standard_name": hybrid, "positive": "down", "units": "1"}
                words["long_name"] = f"{name}, pressure over 1000 hPa where that is at the ground"
                words["formula_terms"] = f"ap: a{ends} b: b{ends} ps: surface_pressure"
                found.append(Variable(name, (name,), "f8", words, of_a / PRESSURE + of_b))
                found.append(Variable(f"a{ends}", (name,), "f8", {"long_name": "a", "units": "Pa"}, of_a))
                found.append(Variable(f"b{ends}", (name,), "f8", {"long_name": "b", "units": "1"}, of_b))
        return found
