"""What acts at the surface, as arrays: wind at the corners, restoring and fluxes of tracers at the cells."""

from __future__ import annotations

import numpy as np

from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.keys import (
    SALINITIES,
    TEMPERATURES,
    ConstantWind,
    FileWind,
    GyreWind,
    RestoringTable,
    SurfaceTable,
    ZonalTable,
    ZonalWind,
)
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.ocean.solver.problem import Surface
from fathometer.apps.ocean.volume_files import check_values, plane, spacing_of

MOST_STRESS = 100.0  # N/m²
MOST_HEAT = 1e5  # W/m²
MOST_OF = {"temperature": ("temperatures in °C", TEMPERATURES[1]), "salinity": ("salinities", SALINITIES[1])}


def by_latitude(file: OceanFile, table: ZonalTable, y: Floats) -> Floats:
    """Values of a table at the places y, m or degrees; shaped as y."""
    south, extent = file.grid.origin[1], file.grid.cells[1] * file.grid.spacing[1]
    if table.south is not None and table.north is not None:
        return np.asarray(table.south + (table.north - table.south) * (y - south) / extent)
    assert table.equator is not None
    assert table.pole is not None
    return np.asarray(table.pole + (table.equator - table.pole) * np.cos(np.radians(y)) ** 2)


def wind(file: OceanFile, grid: OceanGrid) -> tuple[Floats, Floats] | None:
    """Stress along x and y at the corners (nx, ny), N/m², 0 where there is no water; None: no wind.

    Raises InputError for a file that is wrong.
    """
    keys, (nx, ny, _) = file.forcing.wind, grid.shape
    wet = grid.levels_u > 0
    t = np.arange(1, ny + 1) / ny  # the corners are at the northern borders of the cells
    tau_x, tau_y = np.zeros((nx, ny)), np.zeros((nx, ny))
    if isinstance(keys, GyreWind):
        shape = {
            "single-gyre": -np.cos(np.pi * t),
            "double-gyre": -np.cos(2 * np.pi * t),
            "channel": np.sin(np.pi * t),
        }
        tau_x[:] = keys.amplitude * shape[keys.kind]
    elif isinstance(keys, ZonalWind):
        latitude = np.radians(file.grid.origin[1] + t * ny * file.grid.spacing[1])
        tau_x[:] = -keys.amplitude * np.cos(latitude) * np.sin(6 * np.abs(latitude))
    elif isinstance(keys, ConstantWind):
        tau_x[:], tau_y[:] = keys.stress
    elif isinstance(keys, FileWind):
        for name, values in (("tau_x", tau_x), ("tau_y", tau_y)):
            reference = getattr(keys, name)
            if reference is not None:
                place = f"{file.path}: [forcing] wind.{name}"
                found = plane(place, reference, file.directory, keys.axes, (nx, ny), spacing_of(grid), "stress")
                values[:] = check_values(place, found, wet, "stress in N/m²", MOST_STRESS)
    else:
        return None
    return np.where(wet, tau_x, 0.0), np.where(wet, tau_y, 0.0)


def surface(file: OceanFile, grid: OceanGrid, tracer: str) -> Surface:
    """What a tracer is given. Raises InputError for a file that is wrong."""
    keys: RestoringTable | None = getattr(file.forcing, tracer)
    rate, target, flux = 0.0, None, None
    if keys is not None:
        rate = 1 / keys.timescale
        target = _at_surface(file, grid, f"{tracer}.target", keys.target, *MOST_OF[tracer])
    if tracer == "temperature" and file.forcing.heat_flux is not None:
        heat = _at_surface(file, grid, "heat_flux", file.forcing.heat_flux, "fluxes in W/m²", MOST_HEAT)
        flux = heat / (file.water.density * file.forcing.specific_heat)
    return Surface(rate, target, flux)


def _at_surface(
    file: OceanFile, grid: OceanGrid, name: str, value: float | SurfaceTable, unit: str, most: float
) -> Floats:
    """Values (nx, ny), 0 on land."""
    (nx, ny, _), wet = grid.shape, grid.levels > 0
    place, quantity = f"{file.path}: [forcing] {name}", name.removesuffix(".target")
    quantity = "flux" if quantity == "heat_flux" else quantity
    if isinstance(value, SurfaceTable) and value.file is not None:
        found = plane(place, value.file, file.directory, value.axes, (nx, ny), spacing_of(grid), quantity)
    elif isinstance(value, SurfaceTable):
        found = np.broadcast_to(by_latitude(file, value, grid.y), (nx, ny))
    else:
        found = np.full((nx, ny), value)
    return check_values(place, found, wet, unit, most)
