"""The water at the beginning: temperature and salinity by box of columns, so that no rank needs all; surface height."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fathometer.apps.ocean.forcing import MOST_OF, by_latitude
from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.keys import UNSEEN, CosineHeight, FileHeight, GaussianHeight, ProfileTable
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.ocean.random_numbers import uniform
from fathometer.apps.ocean.solver.problem import Box
from fathometer.apps.ocean.volume_files import GridVolume, check_values, plane, spacing_of
from fathometer.base.errors import InputError


class InitialTracer:
    """A tracer at the beginning: called with (lo, hi) in x and y it gives the values (hi - lo, nz) of these columns, 0
    where there is no water.

    Raises InputError: a file that is wrong, when it is made; a value that is none, when it is read.
    """

    def __init__(self, file: OceanFile, grid: OceanGrid, name: str) -> None:
        self._file, self._grid, self._name = file, grid, name
        self._keys: float | ProfileTable = getattr(file.initial, name)
        self._place = f"{file.path}: [initial] {name}"
        self._volume: GridVolume | None = None
        if isinstance(self._keys, ProfileTable) and self._keys.file is not None:
            self._volume = GridVolume(
                self._place, self._keys.file, file.directory, self._keys.axes, grid.shape, spacing_of(grid), name
            )

    def __call__(self, lo: Box, hi: Box) -> Floats:
        """The values in a box of cells, half-open."""
        grid, keys = self._grid, self._keys
        nz = grid.shape[2]
        shape = (hi[0] - lo[0], hi[1] - lo[1], nz)
        if self._volume is not None:
            values = self._volume.read((*lo, 0), (*hi, nz))
        elif isinstance(keys, ProfileTable):
            values = np.broadcast_to(self._profile(keys, grid.y[lo[1] : hi[1]]), shape).copy()
        else:
            values = np.full(shape, keys)
        noise = self._file.initial.noise
        if self._name == "temperature" and noise is not None:
            columns = np.arange(lo[0], hi[0])[:, None] * grid.shape[1] + np.arange(lo[1], hi[1])
            values += noise.amplitude * uniform(noise.seed, columns[..., None] * nz + np.arange(nz))
        wet = np.arange(nz) < grid.levels[lo[0] : hi[0], lo[1] : hi[1], None]
        return check_values(self._place, values, wet, *MOST_OF[self._name], lo)

    def _profile(self, keys: ProfileTable, y: Floats) -> Floats:
        """Values (y, nz)."""
        table = keys.surface
        assert table is not None
        surface = np.full(len(y), table) if isinstance(table, float | int) else by_latitude(self._file, table, y)
        bottoms = self._grid.bottoms
        with np.errstate(over="ignore"):
            fading = 1.0 if keys.scale is None else np.exp(-(bottoms[:-1] + bottoms[1:]) / 2 / keys.scale)
        deep = 0.0 if keys.deep is None else keys.deep
        return np.asarray(deep + (surface[:, None] - deep) * np.broadcast_to(fading, len(bottoms) - 1))

    def files(self) -> list[Path]:
        """The files that it reads."""
        return [] if self._volume is None else self._volume.files()


def surface_height(file: OceanFile, grid: OceanGrid) -> Floats | None:
    """Height of the surface (nx, ny), m; None: 0. Raises InputError for a file that is wrong, and where it is not above
    the bottom of the first level."""
    keys, (nx, ny, _) = file.initial.surface_height, grid.shape
    place = f"{file.path}: [initial] surface_height"
    if isinstance(keys, float | int):
        if keys == 0:
            return None
        height = np.full((nx, ny), float(keys))
    elif isinstance(keys, CosineHeight):
        m, n = keys.modes
        s, t = (np.arange(nx) + 0.5) / nx, (np.arange(ny) + 0.5) / ny
        along = np.cos((2 if grid.periodic else 1) * m * np.pi * s)
        height = keys.amplitude * along[:, None] * np.cos(n * np.pi * t)
    elif isinstance(keys, GaussianHeight):
        height = keys.amplitude * np.exp(-((_distance(file, grid, keys.centre) / keys.radius) ** 2))
        highest = float(np.abs(height[grid.levels > 0]).max())
        if highest < UNSEEN * abs(keys.amplitude):
            raise InputError(
                f"{place}: found a hill of {keys.amplitude:g} m of which cells of water have {highest:.3g} m at most; "
                "needed: a centre in the water, and a radius of a cell or more"
            )
    else:
        assert isinstance(keys, FileHeight)
        height = plane(place, keys.file, file.directory, keys.axes, (nx, ny), spacing_of(grid), "length")
    height = check_values(place, height, grid.levels > 0, "heights in m")
    most = float(grid.thickness[0]) / 2
    if np.abs(height).max() > most:
        i, j = (int(n) for n in np.unravel_index(np.abs(height).argmax(), height.shape))
        raise InputError(
            f"{place}: found {height[i, j]:g} m in the cell {i}, {j} (x, y); allowed: up to {most:g} m, half the "
            "thickness of the first level"
        )
    return height


def _distance(file: OceanFile, grid: OceanGrid, centre: tuple[float, float]) -> Floats:
    """Distance of the cells (nx, ny) from a place, m; on a sphere along a great circle."""
    dx, dy = grid.x[:, None] - centre[0], grid.y[None, :] - centre[1]
    if grid.spherical:
        dx, dy = np.radians(dx), np.radians(dy)
        latitudes = np.cos(np.radians(grid.y[None, :])) * np.cos(np.radians(centre[1]))
        chord = np.sin(dy / 2) ** 2 + latitudes * np.sin(dx / 2) ** 2
        return np.asarray(2 * file.grid.sphere_radius * np.arcsin(np.sqrt(np.minimum(chord, 1.0))))
    if grid.periodic:
        around = grid.shape[0] * file.grid.spacing[0]
        dx = (dx + around / 2) % around - around / 2
    return np.hypot(dx, dy)
