"""Which cells of water exchange water with others.

Water moves between cells by the velocities at corners with water on all four sides (grid.py). A cell without such a
corner is isolated. Two corners belong to one basin where a cell has both of them: where they are neighbours, also
across.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from fathometer.apps.ocean.grid import Levels

Mask = npt.NDArray[np.bool_]


def wet_corners(wet: Mask, periodic: bool) -> Mask:
    """Corners with water on all four sides (nx, ny); as OceanGrid.levels_u > 0."""
    east = np.roll(wet, -1, 0)
    if not periodic:
        east[-1] = False
    both = wet & east
    north = np.zeros_like(both)
    north[:, :-1] = both[:, 1:]
    return both & north


def cells_of(corners: npt.NDArray[np.int32], periodic: bool) -> npt.NDArray[np.int32]:
    """For each cell the largest number at its four corners (nx, ny); 0 where there is none."""
    west = np.roll(corners, 1, 0)
    if not periodic:
        west[0] = 0
    both = np.maximum(corners, west)
    south = np.zeros_like(both)
    south[:, 1:] = both[:, :-1]
    return np.maximum(both, south)


def basins(wet: Mask, periodic: bool) -> tuple[npt.NDArray[np.int32], list[int]]:
    """The basin of each cell (nx, ny), from 1; 0: land and isolated cells. And how many cells each basin has."""
    corners = wet_corners(wet, periodic)
    labels, count = ndimage.label(corners, np.ones((3, 3)))
    labels = labels.astype(np.int32)
    if periodic and count:
        labels = _joined(labels, count)
    cells = cells_of(labels, periodic)
    return cells, np.bincount(cells.ravel(), minlength=1)[1:].tolist()


def isolated(wet: Mask, periodic: bool) -> Mask:
    """Cells of water that exchange none (nx, ny)."""
    found: Mask = wet & (cells_of(wet_corners(wet, periodic).astype(np.int32), periodic) == 0)
    return found


def largest(levels: Levels, periodic: bool) -> Levels:
    """The levels of the largest basin; all else is land."""
    cells, sizes = basins(levels > 0, periodic)
    if not sizes:
        return np.zeros_like(levels)
    return np.where(cells == 1 + int(np.argmax(sizes)), levels, 0).astype(levels.dtype)


def _joined(labels: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int32]:
    """Labels whose corners touch across the border of x become one; all are numbered anew, from 1."""
    parent = list(range(count + 1))

    def root(label: int) -> int:
        while parent[label] != label:
            parent[label] = parent[parent[label]]
            label = parent[label]
        return label

    last, first = labels[-1], labels[0]
    ny = labels.shape[1]
    for shift in (-1, 0, 1):
        lo, hi = max(0, -shift), min(ny, ny - shift)
        for one, other in zip(last[lo:hi].tolist(), first[lo + shift : hi + shift].tolist(), strict=True):
            if one and other:
                low, high = sorted((root(one), root(other)))
                parent[high] = low
    roots = np.array([root(label) for label in range(count + 1)])
    _, numbered = np.unique(roots, return_inverse=True)
    return numbered.astype(np.int32)[labels]
