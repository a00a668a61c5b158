"""Mountains: a hill by a formula, and heights of a NetCDF file on the Gaussian grid of the run."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.atmosphere.solver.transform import Grid
from fathometer.base.errors import InputError
from fathometer.storage.datasets.reader import DatasetFile

Floats = npt.NDArray[np.float64]
SAME = 0.01  # of the distance of two latitudes, by which those of a file may be others


def heights_of(file: AtmosphereFile, grid: Grid) -> Floats:
    """[latitude, longitude] from south to north, m; 0 without a table [ground].

    Raises InputError where a file cannot be read, or is on another grid.
    """
    keys, found = file.ground, np.zeros((grid.latitudes, grid.longitudes))
    if keys.file is not None:
        found += read_heights(file.directory / keys.file, keys.variable, grid)
    if keys.height is None:
        return found
    assert keys.radius is not None
    latitude, longitude = grid.latitudes_northward[:, None], grid.longitude
    distance = degrees_from(keys.latitude, keys.longitude, latitude, longitude) / keys.radius
    hill = np.exp(-(distance**2)) if keys.shape == "bell" else np.maximum(0.0, 1 - distance)
    return np.asarray(found + keys.height * hill)


def degrees_from(lat: float, lon: float, latitude: Floats, longitude: Floats) -> Floats:
    """Distances of places, radians, that are broadcast together, from one in degrees, in degrees of a great circle."""
    lat, lon = math.radians(lat), math.radians(lon)
    cosine = math.sin(lat) * np.sin(latitude) + math.cos(lat) * np.cos(latitude) * np.cos(longitude - lon)
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def read_heights(path: Path, name: str, grid: Grid) -> Floats:
    with DatasetFile(path) as file:
        stored = file.variable(name)
        shape = (grid.latitudes, grid.longitudes)
        if tuple(stored.shape) != shape:
            raise InputError(
                f"{path}:{name}: found the shape {tuple(stored.shape)}; needed: {shape}, the latitudes and longitudes "
                "of the run's Gaussian grid"
            )
        heights = np.asarray(file.read(name), np.float64)
        latitudes = np.asarray(file.read("latitude"), np.float64) if "latitude" in file.header.variables else None
    own = np.degrees(grid.latitudes_northward)
    if latitudes is not None and latitudes.shape == own.shape and latitudes[0] > latitudes[-1]:
        latitudes, heights = latitudes[::-1], heights[::-1]
    if latitudes is None or latitudes.shape != own.shape:
        raise InputError(f"{path}: latitude: missing, or of another length; needed: {grid.latitudes} of {name}")
    away = np.nan_to_num(np.abs(latitudes - own), nan=np.inf)
    if away.max() > SAME * 180 / grid.latitudes:
        worst = int(away.argmax())
        raise InputError(
            f"{path}: latitude {worst}: found {latitudes[worst]:.4f}°; needed: {own[worst]:.4f}°, as of a Gaussian "
            f"grid of {grid.latitudes} latitudes"
        )
    if not np.isfinite(heights).all() or np.abs(heights).max() > 1e5:
        raise InputError(f"{path}:{name}: found a height that is no number, or beyond 100 km; allowed: heights in m")
    return heights
