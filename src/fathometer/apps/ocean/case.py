"""An ocean file made ready: grid, forcing and initial state as arrays; what is wrong with them, before the run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.bathymetry import levels_of, thickness_of
from fathometer.apps.ocean.forcing import surface, wind
from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.grid_keys import FileDepth
from fathometer.apps.ocean.initial import InitialTracer, surface_height
from fathometer.apps.ocean.keys import FileHeight, FileWind, numbers_of
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.ocean.solver import memory
from fathometer.apps.ocean.solver.physics import Drag, Physics, StateEquation
from fathometer.apps.ocean.solver.problem import TRACERS, Problem
from fathometer.apps.ocean.stability import check_step
from fathometer.base.errors import naming
from fathometer.runs.fingerprint import values_hash
from fathometer.storage.reading import readable
from fathometer.storage.volumes.volume import open_volume

ROTATION_RATE = 7.292115e-5  # of the earth, 1/s
WRIGHT = (-2.0, 30.0), (28.0, 38.0)  # °C, and salinities: of the coefficients (equation_of_state.hpp)
FRESH = 0.1  # salinity; water with less of it is fresh, or has another unit


@dataclass(frozen=True, eq=False)
class OceanCase:
    """An ocean made ready; the same on all ranks.

    Attributes:
        notes: what is allowed but may not be meant, a line each.
    """

    file: OceanFile
    problem: Problem
    notes: tuple[str, ...]

    @property
    def steps(self) -> int:
        """Of the simulation."""
        return self.file.time.count

    @property
    def field_steps(self) -> int:
        """Steps between fields."""
        return self.file.field_steps

    def facts(self) -> dict[str, Any]:
        """The grid, as records have it."""
        grid, keys = self.problem.grid, self.file.grid
        return {
            "grid": {
                "shape": list(grid.shape),
                "spacing": list(keys.spacing),
                "origin": list(keys.origin),
                "spherical": grid.spherical,
                "periodic": grid.periodic,
                "thickness_metres": grid.thickness.tolist(),
                "wet_cells": int(grid.levels.sum()),
                "wet_columns": int((grid.levels > 0).sum()),
            }
        }

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on: all but times, where results go, and how the grid is cut."""
        values = self.file.resolved()
        kept = ("grid", "bathymetry", "rotation", "water", "mixing", "initial", "forcing")
        fields = {"output": {"fields": list(self.file.output.fields)}, "step": self.problem.step}
        found = {name: values.get(name) for name in kept} | fields | {"implicitness": self.problem.implicitness}
        return found | {"values of": file_hashes(self)}


def case_of(file: OceanFile) -> OceanCase:
    """An ocean file made ready.

    Raises InputError for what is wrong with depths, forcing, the initial state and their files, and for a time step
    that is too long for them (stability.py).
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what is infinite is refused by the checks
        grid, notes = grid_of(file)
        problem = Problem(
            grid=grid,
            physics=physics_of(file),
            step=file.time.step,
            implicitness=file.barotropic.implicitness,
            tracers=tuple(InitialTracer(file, grid, name) for name in TRACERS),
            surface=tuple(surface(file, grid, name) for name in TRACERS),
            height=surface_height(file, grid),
            wind=wind(file, grid),
        )
        notes += check_step(problem, f"{file.path}: [time] step")
        notes += water_notes(file)
    return OceanCase(file, problem, tuple(notes))


def water_notes(file: OceanFile) -> list[str]:
    """Notes on water that is none of the sea's: beyond the equation of state, or of another unit."""
    notes, wright = [], file.water.equation_of_state == "wright"
    for name, (low, high), unit in (("temperature", WRIGHT[0], " °C"), ("salinity", WRIGHT[1], "")):
        values = numbers_of(getattr(file.initial, name))
        if name == "salinity" and values and 0 < max(values) < FRESH:
            notes.append(f"[initial] salinity: found up to {max(values):g}; salinity is in g/kg, 35 in the sea")
        elif wright and values and not low <= min(values) <= max(values) <= high:
            notes.append(
                f"[initial] {name}: found {min(values):g} to {max(values):g}{unit}; the equation of Wright (1997) was "
                f"fitted from {low:g} to {high:g}{unit}"
            )
    return notes


def grid_of(file: OceanFile) -> tuple[OceanGrid, list[str]]:
    """The grid with its land, and notes. Raises InputError for depths that are wrong."""
    keys, rotation = file.grid, file.rotation
    (nx, ny), (dx, dy), (west, south) = keys.cells, keys.spacing, keys.origin
    x, y = west + (np.arange(nx) + 0.5) * dx, south + (np.arange(ny) + 0.5) * dy
    corners = south + np.arange(1, ny + 1) * dy
    if keys.kind == "sphere":
        radius, latitude = keys.sphere_radius, np.radians(corners)
        east = radius * np.radians(dx)
        widths, widths_u = east * np.cos(np.radians(y)), east * np.cos(latitude)
        north = radius * np.radians(dy)
        rate = ROTATION_RATE if rotation.rate is None else rotation.rate
        f, metric = 2 * rate * np.sin(latitude), np.tan(latitude) / radius
    else:
        widths, widths_u, north = np.full(ny, dx), np.full(ny, dx), dy
        y0 = south + ny * dy / 2 if rotation.y0 is None else rotation.y0
        f, metric = (rotation.f or 0.0) + (rotation.beta or 0.0) * (corners - y0), np.zeros(ny)
    thickness = thickness_of(file)
    levels, notes = levels_of(file, thickness)
    grid = OceanGrid(
        x=np.asarray(x, np.float64),
        y=np.asarray(y, np.float64),
        dx=widths,
        dx_u=widths_u,
        dy=float(north),
        f=f,
        tan_over_radius=metric,
        thickness=thickness,
        levels=levels,
        periodic=keys.periodic,
        spherical=keys.kind == "sphere",
    )
    return grid, notes


def physics_of(file: OceanFile) -> Physics:
    """The numbers of the equations."""
    water, mixing = file.water, file.mixing
    return Physics(
        gravity=water.gravity,
        density=water.density,
        viscosity=mixing.viscosity,
        diffusivity=mixing.diffusivity,
        vertical_viscosity=mixing.vertical_viscosity,
        vertical_diffusivity=mixing.vertical_diffusivity,
        convective_diffusivity=mixing.convective_diffusivity,
        drag=Drag[mixing.bottom_drag.upper()],
        drag_coefficient=mixing.drag_coefficient or 0.0,
        state_equation=StateEquation[water.equation_of_state.upper()],
        expansion=water.expansion,
        contraction=water.contraction,
        reference_temperature=water.reference_temperature,
        reference_salinity=water.reference_salinity,
        advect_momentum=mixing.advect_momentum,
    )


def case_bytes(file: OceanFile) -> int:
    """Memory that `case_of` takes."""
    return memory.case_bytes(math.prod(file.grid.cells))


def input_files(file: OceanFile) -> list[Path]:
    """The ocean file and those that it names. Raises InputError where one of them cannot be opened."""
    paths = [readable(file.path)]
    for place, reference in _references(file):
        with naming(f"{file.path}: {place}"), open_volume(reference, file.directory) as volume:
            paths += [path for path in volume.files() if path not in paths]
    return paths


def file_hashes(case: OceanCase) -> dict[str, str]:
    """Hashes of the values that each step takes from files, by their key in the ocean file. What only the beginning
    takes from them is in every later state."""
    file, problem = case.file, case.problem
    temperature = problem.surface[TRACERS.index("temperature")]
    found: dict[str, tuple[npt.NDArray[Any] | None, ...]] = {}
    if isinstance(file.bathymetry, FileDepth):
        found["[bathymetry] file"] = (problem.grid.levels,)
    if isinstance(file.forcing.wind, FileWind):
        found["[forcing] wind"] = problem.wind or ()
    for name, given in zip(TRACERS, problem.surface, strict=True):
        if getattr(getattr(getattr(file.forcing, name), "target", None), "file", None) is not None:
            found[f"[forcing] {name}.target"] = (given.target,)
    if getattr(file.forcing.heat_flux, "file", None) is not None:
        found["[forcing] heat_flux"] = (temperature.flux,)
    return {place: values_hash(parts) for place, parts in found.items()}


def _references(file: OceanFile) -> Iterator[tuple[str, str]]:
    """The volumes that it names, with the places of their keys."""
    depth, wind, height = file.bathymetry, file.forcing.wind, file.initial.surface_height
    found: list[tuple[str, str | None]] = []
    if isinstance(depth, FileDepth):
        found += [("[bathymetry] file", depth.file), ("[bathymetry] mask", depth.mask)]
    if isinstance(wind, FileWind):
        found += [("[forcing] wind.tau_x", wind.tau_x), ("[forcing] wind.tau_y", wind.tau_y)]
    if isinstance(height, FileHeight):
        found.append(("[initial] surface_height.file", height.file))
    for name in TRACERS:
        found.append((f"[initial] {name}.file", getattr(getattr(file.initial, name), "file", None)))
        target = getattr(getattr(file.forcing, name), "target", None)
        found.append((f"[forcing] {name}.target.file", getattr(target, "file", None)))
    found.append(("[forcing] heat_flux.file", getattr(file.forcing.heat_flux, "file", None)))
    yield from ((place, reference) for place, reference in found if reference is not None)
