"""The depth of the water by cell, from [bathymetry], and its levels.

Full cells: a depth becomes the number of levels whose bottom is nearest, water at least `least_levels`; 0 is land.
"""

from __future__ import annotations

import numpy as np

from fathometer.apps.ocean.basins import Mask, basins, isolated, largest
from fathometer.apps.ocean.continents import relative_depth
from fathometer.apps.ocean.grid import Floats, Levels
from fathometer.apps.ocean.grid_keys import BowlDepth, ContinentsDepth, FileDepth, LevelsTable, RidgeDepth, SlopeDepth
from fathometer.apps.ocean.keys import UNSEEN
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.ocean.volume_files import plane
from fathometer.base.errors import InputError

NAMED_BASINS = 5  # in a note
ROUNDING = 1e-9  # of depths
TOLD = 0.1  # part of the water by which whole levels hold more or less of it than the depths say


def thickness_of(file: OceanFile) -> Floats:
    """Thickness of the levels (nz,), m."""
    keys = file.grid.levels
    if not isinstance(keys, LevelsTable):
        return np.array(keys)
    if keys.top is None or keys.count == 1:
        return np.full(keys.count, keys.depth / keys.count)
    wave = np.sin(np.pi / 2 * np.arange(keys.count) / (keys.count - 1)) ** 2
    return np.asarray(keys.top + (keys.depth - keys.count * keys.top) / wave.sum() * wave)


def levels_of(file: OceanFile, thickness: Floats) -> tuple[Levels, list[str]]:
    """Levels of water in each cell (nx, ny), 0 on land; notes on basins that are not connected.

    Raises InputError for depths that the grid does not have, for isolated cells and where there is no water.
    """
    keys, where = file.bathymetry, f"{file.path}: [bathymetry]"
    bottoms = np.concatenate([[0.0], np.cumsum(thickness)])
    if keys.depth is not None and keys.depth > bottoms[-1] * (1 + ROUNDING):
        raise InputError(
            f"{where} depth: found {keys.depth:g} m; allowed: up to {bottoms[-1]:g} m, the depth of all levels"
        )
    if keys.least_levels > len(thickness):
        raise InputError(
            f"{where} least_levels: found {keys.least_levels}; allowed: up to {len(thickness)}, those of the grid"
        )
    depth = _depth(file, float(bottoms[-1]))
    levels = np.searchsorted((bottoms[:-1] + bottoms[1:]) / 2, depth).astype(np.int32)
    levels = np.where(depth > 0, np.maximum(levels, keys.least_levels), 0).astype(np.int32)
    notes = _rounding_notes(levels, depth, bottoms)
    periodic = file.grid.periodic
    if isinstance(keys, ContinentsDepth):
        levels = largest(levels, periodic)
    levels = _without_isolated(where, levels, periodic, keys.fill_isolated)
    _, sizes = basins(levels > 0, periodic)
    if not sizes:
        raise InputError(
            f"{where} kind: found no water, of {levels.size} cells; needed: at least four in a square, around a corner"
        )
    if len(sizes) == 1:
        return levels, notes
    sizes = sorted(sizes, reverse=True)
    words = ", ".join(str(size) for size in sizes[:NAMED_BASINS]) + (", ..." if len(sizes) > NAMED_BASINS else "")
    return levels, [*notes, f"{len(sizes)} basins are not connected: of {words} cells"]


def _rounding_notes(levels: Levels, depth: Floats, bottoms: Floats) -> list[str]:
    """A note where depths as whole levels are another amount of water, as of a grid whose first level is too thick."""
    made = bottoms[levels]
    given, found = float(depth.sum()), float(made.sum())
    if abs(found - given) <= TOLD * given:
        return []
    i, j = (int(n) for n in np.unravel_index(np.abs(made - depth).argmax(), made.shape))
    return [
        f"whole levels hold {found / given:.3g} times the water of the depths in [bathymetry]: in the cell {i}, {j} "
        f"(x, y) {depth[i, j]:g} m become {made[i, j]:g} m"
    ]


def _depth(file: OceanFile, deepest: float) -> Floats:
    """Depths (nx, ny), m; 0 on land."""
    keys, (nx, ny) = file.bathymetry, file.grid.cells
    depth = keys.depth or deepest
    s, t = ((np.arange(cells) + 0.5) / cells for cells in (nx, ny))
    if isinstance(keys, FileDepth):
        return _from_file(file, keys, deepest)
    if isinstance(keys, ContinentsDepth):
        return depth * relative_depth(s, t, keys.seed)
    if isinstance(keys, BowlDepth):
        across = np.zeros(nx) if file.grid.periodic else 2 * s - 1
        return np.maximum(depth * (1 - across[:, None] ** 2 - (2 * t - 1)[None, :] ** 2), 0.0)
    if isinstance(keys, SlopeDepth):
        if keys.shallow > depth:
            raise InputError(
                f"{file.path}: [bathymetry] shallow: found {keys.shallow:g} m; allowed: up to the depth, {depth:g} m"
            )
        part = s[:, None] if keys.along == "x" else t[None, :]
        return np.broadcast_to(keys.shallow + (depth - keys.shallow) * part, (nx, ny)).copy()
    if isinstance(keys, RidgeDepth):
        across = s[:, None] if keys.along == "y" else t[None, :]
        crest = keys.height * np.exp(-(((across - keys.position) / keys.width) ** 2))
        if crest.max() < UNSEEN * keys.height:
            raise InputError(
                f"{file.path}: [bathymetry] width: found {keys.width:g}, a ridge between the middles of cells, which "
                f"are {1 / across.size:g} apart; needed: a ridge as wide"
            )
        return np.broadcast_to(np.maximum(depth - crest, 0.0), (nx, ny)).copy()
    return np.full((nx, ny), depth)


def _from_file(file: OceanFile, keys: FileDepth, deepest: float) -> Floats:
    place, cells = f"{file.path}: [bathymetry]", file.grid.cells
    spacing = file.grid.spacing if file.grid.kind == "plane" else ()
    depth = plane(f"{place} file", keys.file, file.directory, keys.axes, cells, spacing, "length")
    if keys.positive == "up":
        depth = np.where(depth < 0, -depth, np.where(np.isnan(depth), depth, 0.0))
    if keys.mask is None:
        water = np.ones(cells, bool)
    else:
        mask = plane(f"{place} mask", keys.mask, file.directory, keys.axes, cells, spacing, "mask")
        _refuse(f"{place} mask", ~np.isin(mask, (0.0, 1.0)), mask, "1 (water) or 0 (land)")
        water = mask == 1
        _refuse(f"{place} mask", water & (depth == 0), mask, "0 where the depth is 0")
        _refuse(f"{place} mask", ~water & (depth > 0), mask, "1 where the depth is above 0")
    hint = ' (positive = "up" takes heights)' if keys.positive == "down" else ""
    _refuse(f"{place} file", water & ~np.isfinite(depth), depth, "finite depths, 0 on land")
    _refuse(f"{place} file", water & (depth < 0), depth, f"depths from 0 on, positive down{hint}")
    if keys.depth is not None:
        depth = np.minimum(depth, keys.depth)
    most = f"depths up to {deepest:g} m, that of all levels; [bathymetry] depth cuts them"
    _refuse(f"{place} file", water & (depth > deepest * (1 + ROUNDING)), depth, most)
    return np.where(water, depth, 0.0)


def _refuse(place: str, bad: Mask, values: Floats, allowed: str) -> None:
    """Raise InputError where something is bad, with the first cell and how many there are."""
    if bad.any():
        i, j = (int(n) for n in np.argwhere(bad)[0])
        count = int(bad.sum())
        cells = "1 cell" if count == 1 else f"{count} cells, the first of them"
        raise InputError(f"{place}: found {values[i, j]:g} in {cells} {i}, {j} (x, y); allowed: {allowed}")


def _without_isolated(where: str, levels: Levels, periodic: bool, fill: bool) -> Levels:
    found = isolated(levels > 0, periodic)
    if not found.any():
        return levels
    if fill:
        return np.where(found, 0, levels).astype(np.int32)
    i, j = (int(n) for n in np.argwhere(found)[0])
    count = int(found.sum())
    raise InputError(
        f"{where} kind: found {count} isolated {'cell' if count == 1 else 'cells'} of water, the first one {i}, {j} "
        "(x, y), without a corner that has water on all four sides, so that they exchange none; allowed: "
        "fill_isolated = true makes them land"
    )
