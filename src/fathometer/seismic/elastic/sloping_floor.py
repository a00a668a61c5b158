"""A sea floor that is no plane of the grid: where water ends and rock begins in each column, to a part of a cell.

A cell that the floor cuts tells its depth as a mean of both media (contact.py). Cells that are one or the other leave a
whole cell for it: of all floors that pass between the cells, the one that bends least is taken. Next to it derivatives
are those of floor_strip.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import allreduce, synchronised
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.closure import ROWS as SURFACE_ROWS
from fathometer.seismic.elastic.contact import NEAREST, ON_FLOOR, SeaFloor, find_floor, share_of_rock
from fathometer.seismic.elastic.contact_closure import ROCK, WATER
from fathometer.seismic.elastic.fields import BY_NAME, STRESS
from fathometer.seismic.elastic.floor_strip import LANES, PARTS, ROWS, columns, places
from fathometer.seismic.elastic.smooth_floor import least_bent

STEEPEST = 30.0  # degrees between neighbouring columns
STEEPEST_CELLS = 1.0  # cells a cell
IN_FLOOR = "vz in the floor"  # of the water: a field of its own, a value a column
MARGIN = 3  # columns around a block whose depths its own derivatives ask for
REACH = LANES + 4  # nodes of a column below it that they take
_ON_TOLD, _ON_FOUND = 0.05, 0.25  # of a cell, from floors of means, of cells that are one or the other
_EXACT, _NEARLY = 0.03, 0.07  # of a cell: how well means tell depths where all do, and where some do not
_FEW = 0.1  # share of columns with means from which on the others' cells are means, too
_PARTS = 4096  # of a cell
_CORNER = 3  # the cell above the first one of rock that is of water alone


@dataclass(frozen=True, eq=False)
class SlopingFloor:
    """A floor of the padded grid.

    Attributes:
        depths: (nx, ny) float64, in cells from the first node on, at the columns of nodes.
        water, rock: (nx, ny) int64: of each column the last node that is of water alone, the first of rock alone.
        steepest, fall: most from a column to the next, in degrees and in cells.
        from_means: whether means in the cells that it cuts tell its depths.
        tolerance: cells from it within which points are on it.
    """

    depths: np.ndarray
    water: np.ndarray
    rock: np.ndarray
    steepest: float
    fall: float
    from_means: bool
    tolerance: float

    def at(self, offset: tuple[float, float], i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Depth of columns i, j of a field; offset: 0 or half a cell along x and y. Beyond the grid it is level."""
        steps = [(0, 1) if half else (0,) for half in offset]
        nx, ny = self.depths.shape
        some = [
            self.depths[np.clip(i + di, 0, nx - 1), np.clip(j + dj, 0, ny - 1)] for di in steps[0] for dj in steps[1]
        ]
        return np.asarray(sum(some) / len(some))

    def columns_of(self, offset: tuple[float, float], i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The last row above the floor, and the part of a cell from it to the floor in 1 / PARTS, of these columns."""
        place = np.rint(self.at(offset, i, j) * PARTS).astype(np.int64)
        return place // PARTS, place % PARTS

    def below(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Depth at places in cells, linear between columns."""
        i, j = np.floor(x).astype(int), np.floor(y).astype(int)
        a, b = x - i, y - j
        shares = ((0, 0, (1 - a) * (1 - b)), (1, 0, a * (1 - b)), (0, 1, (1 - a) * b), (1, 1, a * b))
        return np.asarray(sum(share * self.at((0.0, 0.0), i + di, j + dj) for di, dj, share in shares))

    def side_of(self, cells: np.ndarray, wet: np.ndarray | bool) -> np.ndarray:
        """(n,) WATER or ROCK at places (n, 3) in cells; wet: (n,) whether on the floor it is the water's."""
        above = self.below(cells[:, 0], cells[:, 1]) - cells[:, 2]
        return np.where(above > np.where(wet, -self.tolerance, self.tolerance), WATER, ROCK)

    def first_rock(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The first row of rock alone of columns of nodes."""
        return np.asarray(self.rock[i, j])

    def inertia(self, name: str, first: np.ndarray, count: int) -> np.ndarray:
        """(n, count) float64: what points of a field stand for, in cells, from points first (n, 3) on along z."""
        if name == IN_FLOOR:
            part = self.columns_of((0.0, 0.0), first[:, 0], first[:, 1])[1]
            return np.repeat(columns(WATER, True, True).inertia[part, :1], count, axis=1)
        x, y, z = BY_NAME[name].offset
        row, part = self.columns_of((x, y), first[:, 0], first[:, 1])
        planes = first[:, 2][:, None] + np.arange(count)
        out = np.ones(planes.shape)
        for side in (WATER, ROCK):
            weighted = (BY_NAME[name].stage == STRESS) == (side == ROCK)
            lane = row[:, None] - planes if side == WATER else planes - row[:, None] - (0 if z else 1)
            mine = (lane >= 0) & (lane < LANES)
            if side == WATER and z:  # what lies in the floor is the rock's
                mine &= lane > 0
            known = columns(side, bool(z), weighted).inertia[part[:, None], np.clip(lane, 0, LANES - 1)]
            out = np.where(mine, known, out)
        return out

    def row_of(self, name: str, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The last row above the floor of a field's points in columns i, j."""
        return self.columns_of(BY_NAME[name].offset[:2], i, j)[0]

    def points_of(
        self, name: str, side: int, i: np.ndarray, j: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of a field's points in columns i, j (n,) on a side: row of the one next to the floor (n,), and of `count`
        from there on how far they lie from the floor (n, count), in cells."""
        x, y, z = BY_NAME[name].offset
        row, part = self.columns_of((x, y), i, j)
        return row + (side == ROCK and not z), places(side, bool(z), part / PARTS, count)


def depths_around(floor: SlopingFloor, block: Decomposition, two_dimensional: bool) -> np.ndarray:
    """Depths of a block's columns and MARGIN more on each side (in two dimensions not along y)."""
    margins = (MARGIN, 0 if two_dimensional else MARGIN)
    i, j = np.meshgrid(
        *(np.arange(lo - m, hi + m) for lo, hi, m in zip(block.lo, block.hi, margins, strict=False)), indexing="ij"
    )
    return floor.at((0.0, 0.0), i, j)


def sea_floor(
    vp: np.ndarray, vs: np.ndarray, density: np.ndarray, grid: Grid, block: Decomposition, comm: MPI.Intracomm
) -> tuple[SeaFloor | SlopingFloor | None, str]:
    """Collective. The floor of a model with water on top; else None and why, "" where no water is on top.

    vp, vs, density: on the block's cells and one more on each side (in two dimensions not along y).
    """
    plane, why = find_floor(vp, vs, density, grid, block, comm)
    if plane is not None:
        near = not NEAREST <= plane.part <= 1 - NEAREST
        return (_of_plane(plane, grid) if near and _fits(plane.last, plane.last, grid) else plane), ""
    if not why:
        return None, why
    return _find_sloping(vp, vs, density, grid, block, comm)


def _of_plane(plane: SeaFloor, grid: Grid) -> SlopingFloor:
    """A level floor close to a node, from which columns that move to it stay away."""
    columns_of_nodes = grid.full_shape[:2]
    water, rock = (np.full(columns_of_nodes, row) for row in (plane.water, plane.rock))
    return SlopingFloor(np.full(columns_of_nodes, plane.depth), water, rock, 0.0, 0.0, True, ON_FLOOR)


def _fits(highest: int, lowest: int, grid: Grid) -> bool:
    """Whether columns have the points that derivatives take, over floors below these rows."""
    return highest >= SURFACE_ROWS + ROWS + 2 and grid.full_shape[2] - 3 - lowest >= REACH


def _find_sloping(
    vp: np.ndarray, vs: np.ndarray, density: np.ndarray, grid: Grid, block: Decomposition, comm: MPI.Intracomm
) -> tuple[SlopingFloor | None, str]:
    nx, ny, depth = grid.full_shape
    own = (slice(1, -1), slice(None) if grid.two_dimensional else slice(1, -1))
    part = tuple(slice(lo, hi) for lo, hi in zip(block.lo[:2], block.hi[:2], strict=True))
    solid = vs[own][:, :, 1:-1] > 0
    local = np.where(solid.any(axis=2), block.lo[2] + np.argmax(solid, axis=2), depth)
    rock = np.full((nx, ny), depth, np.int64)
    rock[part] = local
    rock = _of_all(comm, rock, MPI.MIN)
    if (rock == depth).any():
        return None, "it does not go through the whole model"
    if rock.min() <= SURFACE_ROWS + ROWS:
        return None, f"it has {rock.min()} cells above it"
    # No fluid in the rock that derivatives ask for.
    rows = block.lo[2] + np.arange(solid.shape[2])
    near = (rows >= rock[part][..., None]) & (rows < rock[part][..., None] + REACH)
    if allreduce(comm, int((near & ~solid).any()), "MAX"):
        return None, "there is fluid in the rock next to it"
    above = [_above(some[own], rock, _CORNER, block, comm) for some in (vp, density)]
    # The floor may leave a cell through its top: then it cuts two of the column.
    upper, lower = (share_of_rock(*(some[[0, cell, -1]] for some in above)) for cell in range(1, _CORNER))
    share = np.where(lower > 0, lower + upper, 0.0)
    inside = tuple(slice(before, n - after) for n, (before, after) in zip((nx, ny), grid.pad[:2], strict=True))
    found, told = _between(rock[inside], share[inside], comm)
    depths = np.pad(found, [tuple(pair) for pair in grid.pad[:2]], mode="edge")  # level in the layers
    fall, steepest, why = _steepness(depths, grid)
    if why:
        return None, why
    above, below = math.floor(depths.min()), depth - 2 - math.floor(depths.max())
    if not _fits(above, math.floor(depths.max()), grid):
        return None, f"it has {above + 1} cells above it and {below + 1} below"
    water = rock - (_CORNER if told else 1)
    return SlopingFloor(depths, water, rock, steepest, fall, told, _ON_TOLD if told else _ON_FOUND), ""


def _steepness(depths: np.ndarray, grid: Grid) -> tuple[float, float, str]:
    """How much a floor falls at most from a column to the next, in cells and in degrees, and why that is too much, or
    ""."""
    falls = [np.abs(np.diff(depths, axis=axis, append=depths.take([-1], axis))) for axis in range(2)]
    cells = np.hypot(*falls)
    slopes = np.hypot(*(falls[axis] * grid.spacing[2] / grid.spacing[axis] for axis in range(2)))
    fall, steepest = float(cells.max()), math.degrees(math.atan(float(slopes.max())))
    why = ""
    if fall > STEEPEST_CELLS or steepest > STEEPEST:
        worst = slopes if steepest > STEEPEST else cells
        column = np.unravel_index(np.argmax(worst), worst.shape)
        x, y = (grid.origin[axis] + grid.spacing[axis] * (column[axis] - grid.pad[axis][0]) for axis in range(2))
        where = f"x {x:g} m" if grid.two_dimensional else f"x {x:g}, y {y:g} m"
        why = (
            f"it falls by {steepest:.0f} degrees, {fall:.1f} cells from a column to the next, at {where} (up to "
            f"{STEEPEST:g} degrees and {STEEPEST_CELLS:g} cell there are derivatives that follow it)"
        )
    return fall, steepest, why


def _between(rock: np.ndarray, share: np.ndarray, comm: MPI.Intracomm) -> tuple[np.ndarray, bool]:
    """Collective. Depths (nx, ny) of the floor that bends least of those that the model's cells allow, and whether
    means tell them.

    rock: of each column the first cell of rock alone. share: of rock in the cells above it, 0 where they are no means
    of the media above and below them.
    """
    known = share > 0
    told = bool(known.mean() > _FEW)
    depth = rock - 0.5 - share
    if not told:  # water or rock, by the node: half way, or anywhere between
        low, high, start = rock - 1.0, rock + 0.0, rock - 0.5
    else:  # an unknown mean, such as of three media: anywhere in the cell above
        off = _EXACT if known.all() else _NEARLY
        low = np.where(known, depth - off, rock - 1.5 - off)
        high = np.where(known, depth + off, rock - 0.5 + off)
        start = np.where(known, depth, rock - 1.0)
    found = np.ascontiguousarray(start, float)
    if comm.rank == 0:
        # In parts of a cell, so that no rounding of another processor's arithmetic is seen.
        found = np.ascontiguousarray(np.rint(least_bent(low, high, found) * _PARTS) / _PARTS)
    with synchronised(comm), ledger.communication():
        comm.Bcast(found)
    return found, told


def _above(values: np.ndarray, rock: np.ndarray, count: int, block: Decomposition, comm: MPI.Intracomm) -> np.ndarray:
    """(count + 1, NX, NY) float64: of the whole grid's columns the cells above the first one of rock, and that one.
    values: of the block's columns, with a cell more along z at both ends."""
    out = np.zeros((count + 1, *rock.shape))
    part = tuple(slice(lo, hi) for lo, hi in zip(block.lo[:2], block.hi[:2], strict=True))
    for n in range(count + 1):
        row = rock[part] - count + n
        mine = (row >= block.lo[2]) & (row < block.hi[2])
        local = np.clip(row - block.lo[2], 0, block.local_shape[2] - 1) + 1
        out[n][part] = np.where(mine, np.take_along_axis(values, local[..., None], 2)[..., 0], 0.0)
    return _of_all(comm, out, MPI.SUM)


def _of_all(comm: MPI.Intracomm, values: np.ndarray, op: MPI.Op) -> np.ndarray:
    """Collective. The values with those of all ranks, in place."""
    with synchronised(comm), ledger.communication():
        comm.Allreduce(MPI.IN_PLACE, values, op)
    return values
