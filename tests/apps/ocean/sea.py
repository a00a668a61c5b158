"""A small sea with an island, land on its sides and a shallow bank, and states in which each value tells its place."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from fathometer.apps.ocean.barotropic.block_layout import cut
from fathometer.apps.ocean.grid import OceanGrid

THICKNESS = np.array([10.0, 20.0, 40.0, 80.0])
DY = 2000.0


def sea(nx=24, ny=20, periodic=False, spherical=False, land=8):
    """A grid whose west is land (`land` columns), with an island and a bank of two levels."""
    levels = np.full((nx, ny), len(THICKNESS), np.int32)
    levels[:land] = 0
    levels[nx // 2 : nx // 2 + 2, ny // 2 : ny // 2 + 3] = 0
    levels[-5:-2, 2:6] = 2
    if spherical:
        x, y = 5.0 + np.arange(nx) / 2, -10.0 + np.arange(ny) / 2
    else:
        x, y = 500.0 + 1000.0 * np.arange(nx), 0.5 * DY + DY * np.arange(ny)
    ones = np.ones(ny)
    return OceanGrid(x, y, 1000 * ones, 1000 * ones, DY, 0 * ones, 0 * ones, THICKNESS, levels, periodic, spherical)


def layouts(grid, size, **options):
    """The layouts of all ranks."""
    options = {"tile": 4, "blocks": (4, 4), "periodic": grid.periodic} | options
    return [cut(grid.shape[:2], size, rank, grid.levels, **options) for rank in range(size)]


def whole_state(grid, time=0.0):
    """Global arrays by name, 0 where there is no water; u and v turn around the island without divergence."""
    nx, ny, nz = grid.shape
    x, y, z = np.arange(nx)[:, None, None] / nx, np.arange(ny)[:, None] / ny, np.arange(nz) / nz
    water = np.arange(nz) < grid.levels[..., None]
    corner = np.arange(nz) < grid.levels_u[..., None]
    return {
        "temperature": np.where(water, 25.0 - 20.0 * z + 3.0 * y + np.sin(6.0 * x) + time / 86400.0, 0.0),
        "salinity": np.where(water, 35.0 + x - 0.5 * z, 0.0),
        "u": np.where(corner, -0.2 * np.sin(2.0 * np.pi * y) * (1.0 - z), 0.0),
        "v": np.where(corner, 0.1 * np.cos(np.pi * x) * (1.0 - z), 0.0),
        "w": np.where(water, 1e-5 * (x - y), 0.0),
        "eta": np.where(grid.levels > 0, (0.3 * np.cos(6.0 * x) * np.sin(3.0 * y) + 0.05)[..., 0], 0.0),
    }


def blocked(layout, state, halo=np.nan):
    """Its blocked arrays, with something in their halos that must not count."""
    out = {}
    for name, values in state.items():
        out[name] = np.full(layout.shaped(*values.shape[2:]), halo)
        for number, block in enumerate(layout.own):
            box = tuple(slice(a, b) for a, b in zip(block.lo, block.hi, strict=True))
            layout.owned(out[name], number)[...] = values[box]
    return out


def input_of(folder, fields):
    """What OceanFields takes of an ocean file."""
    return SimpleNamespace(
        path=Path("sea.toml"),
        output_directory=folder,
        storage=SimpleNamespace(write="auto"),
        output=SimpleNamespace(fields=fields),
    )
