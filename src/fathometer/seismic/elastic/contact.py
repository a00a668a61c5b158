"""A sea floor that is a plane of z: where water ends and rock begins, to a part of a cell.

Between a node of water and the next one of rock the floor lies half way, unless the upper one is a mean of both media
as a cell that the floor cuts has it, of density arithmetic, of lambda + 2 mu harmonic, with vs = 0: then it lies where
these means say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.closure import ROWS as SURFACE_ROWS
from fathometer.seismic.elastic.contact_closure import HALVES, PARTS, ROCK, ROWS, WATER, closure
from fathometer.seismic.elastic.fields import BY_NAME

BESIDE = max(ROWS + 3, HALVES)  # nodes on each side that derivatives next to a floor ask for
NEAREST = 0.2  # of a cell, from nodes to floors next to which all is well
ON_FLOOR = 1e-3  # of a cell: what is closer is on it
_MEAN = 0.02  # relative: how far a cut cell's lambda + 2 mu may be from the mean, where rock changes with depth


@dataclass(frozen=True)
class SeaFloor:
    """A floor that is a plane of the padded grid.

    Attributes:
        last: the last node above it; the half point below that node is moved to the floor. part: of a cell, how far
            below that node it lies, a multiple of 1 / PARTS.
        water, rock: the last node that is of water alone, the first of rock alone.
    """

    last: int
    part: float
    water: int
    rock: int

    @property
    def depth(self) -> float:
        """In cells from the first node on."""
        return self.last + self.part

    def side_of(self, cells: np.ndarray, wet: np.ndarray | bool) -> np.ndarray:
        """(n,) WATER or ROCK at places (n, 3) in cells; wet: (n,) whether on the floor it is water."""
        return np.where(self.depth - cells[:, 2] > np.where(wet, -ON_FLOOR, ON_FLOOR), WATER, ROCK)

    def first_rock(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The first row of rock alone of columns of nodes."""
        return np.full(np.shape(i), self.rock)

    def inertia(self, name: str, first: np.ndarray, count: int) -> np.ndarray:
        """(n, count) float64: what points of a field stand for, in cells, from points first (n, 3) on along z; the
        medium has that of the half point in the floor (contact_media.py)."""
        planes = first[:, 2][:, None] + np.arange(count)
        norms = self.norms(BY_NAME[name].offset[2] > 0, max(self.last + HALVES, int(planes.max(initial=0))) + 1)
        return np.asarray(np.where(planes >= 0, norms[np.maximum(planes, 0)], 1.0))

    def norms(self, half: bool, cells: int) -> np.ndarray:
        """(cells,) float64: what nodes (half: half points) stand for, in cells."""
        out = np.ones(cells)
        water, rock = closure(WATER, self.part), closure(ROCK, 1 - self.part)
        if half:
            numbers = np.arange(1, HALVES)
            out[self.last - numbers], out[self.last + numbers] = water.half_points[1:], rock.half_points[1:]
        else:
            numbers = np.arange(ROWS)
            out[self.last - numbers], out[self.last + 1 + numbers] = water.nodes, rock.nodes
        return out


def find_floor(
    vp: np.ndarray, vs: np.ndarray, density: np.ndarray, grid: Grid, block: Decomposition, comm: MPI.Intracomm
) -> tuple[SeaFloor | None, str]:
    """Collective. The floor of a model with water on top, where it is a plane; else None and why, "" where no water is
    on top.

    vp, vs, density: on the block's cells and one more on each side (in two dimensions not along y).
    """
    own = (slice(1, -1), slice(None) if grid.two_dimensional else slice(1, -1))
    columns, depth = grid.full_shape[0] * grid.full_shape[1], grid.full_shape[2]
    solid = np.zeros(depth, np.int64)
    solid[block.lo[2] : block.hi[2]] = (vs[own][:, :, 1:-1] > 0).sum(axis=(0, 1))
    solid = allreduce(comm, solid, "SUM")
    rock = int(np.argmax(solid == columns)) if (solid == columns).any() else depth
    if 2 * solid[0] > columns or rock == 0 or not solid.any():
        return None, ""
    if rock == depth:
        return None, "it does not go through the whole model"
    if solid[:rock].any():
        return None, "it is no plane of the grid"
    if (solid[rock : rock + 2 * BESIDE] < columns).any():
        return None, "there is fluid in the rock next to it"
    share = shares_of_rock(vp[own], density[own], np.full(block.local_shape[:2], rock), block)
    low = allreduce(comm, float(np.where(np.isnan(share), np.inf, share).min(initial=np.inf)), "MIN")
    high = allreduce(comm, float(np.where(np.isnan(share), -np.inf, share).max(initial=-np.inf)), "MAX")
    if high - low > 1.5 / PARTS:
        return None, "the means in its cells do not give one depth"
    whole = int(np.rint((rock - 0.5 - max(low, 0.0)) * PARTS))
    floor = SeaFloor(whole // PARTS, whole % PARTS / PARTS, rock - 1 - (low > 0), rock)
    above, below = floor.last, depth - 1 - rock
    if above < SURFACE_ROWS + BESIDE or below < BESIDE:
        return None, f"it has {above + 1} cells above it and {below + 1} below"
    return floor, ""


def shares_of_rock(vp: np.ndarray, density: np.ndarray, rock: np.ndarray, block: Decomposition) -> np.ndarray:
    """(nx, ny) share of rock in the cells above the first one of rock alone, 0 where they are no mean of both media;
    NaN where another rank owns them.

    vp, density: of the block's columns, with a cell more along z at both ends. rock: (nx, ny), that first one's row.
    """
    k = rock - block.lo[2]  # of the cell above, in these arrays
    mine = (k >= 1) & (k <= block.local_shape[2])
    three = np.clip(k, 1, block.local_shape[2])[..., None] + np.arange(-1, 2)
    values = (np.take_along_axis(some, three, 2).astype(np.float64) for some in (vp, density))
    return np.where(mine, share_of_rock(*(np.moveaxis(some, 2, 0) for some in values)), np.nan)


def share_of_rock(vp: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Share of rock in cells between water and rock, 0 where they are no mean of both; vp, density: (3, ...) of water,
    the cells and rock."""
    water, cut, rock = density
    with np.errstate(divide="ignore", invalid="ignore"):
        compliance = 1 / (density * vp**2)
        share = (cut - water) / (rock - water)
    mean = (1 - share) * compliance[0] + share * compliance[2]
    good = (share > 1 / PARTS) & (share < 1 + 1e-3) & (np.abs(mean / compliance[1] - 1) < _MEAN)
    return np.where(good, np.minimum(share, 1.0), 0.0)
