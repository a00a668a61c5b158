"""Which rows of cells can matter when: from the first arrivals of waves, as lower bounds, on a coarse grid.

A row is all cells at one (x, y). Which are computed in which step follows from the padded grid, the model and the
points alone, never from ranks, tiles or threads: neither do the results depend on these.

A bound on a wave's arrival: each block of cells has the highest phase velocity in it, and the eikonal equation is
solved between the blocks' corners (native/core/eikonal.hpp). The scheme is of first order: in a medium of one speed a
difference quotient against a spherical wave is too small, by half its curvature times the spacing, and the wave late.
Around points the speeds are therefore raised by as much (`Speeds._raised`). That it is enough, the tests say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base import ledger
from fathometer.grid.grid import Grid, Vector
from fathometer.parallel.collectives import synchronised
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.waves.points import SincPoints

BLOCK = 4  # cells of the widest axis in a block
MOST_BLOCKS = 200_000  # for which the arrivals take some tenths of a second
MARGIN_ROWS = 8  # in front of a rank's own: native/core/active.hpp
AGAIN = 0.5  # blocks by which waves that spread anew may be late
NEAR = 3.0  # blocks around points where a wave's time is the distance over the highest speed


@dataclass(frozen=True, eq=False)
class ActiveRows:
    """By row of the padded grid the steps first <= n < last of a loop in which it is computed; (nx, ny) int32."""

    first: np.ndarray
    last: np.ndarray

    def on(self, block: Decomposition) -> np.ndarray:
        """Of a block's rows, with the margin before them, (2, MARGIN_ROWS + nx, MARGIN_ROWS + ny); the outermost rows
        stand for those outside the grid."""
        x, y = (np.maximum(np.arange(block.lo[a] - MARGIN_ROWS, block.hi[a]), 0) for a in (0, 1))
        return np.ascontiguousarray(np.stack([self.first, self.last])[:, x[:, None], y], np.int32)

    def computed(self, block: Decomposition | None = None) -> np.ndarray:
        """Rows (of a block) computed in all steps before n, for n from 0 until none is any more; int64."""
        x, y = (slice(None),) * 2 if block is None else (slice(block.lo[a], block.hi[a]) for a in (0, 1))
        first, last = self.first[x, y].ravel(), np.maximum(self.first, self.last)[x, y].ravel()
        length = int(last.max(initial=0)) + 1
        change = np.bincount(first, minlength=length) - np.bincount(last, minlength=length)
        return np.concatenate([[0], np.cumsum(np.cumsum(change))])


@dataclass(frozen=True, eq=False)
class Speeds:
    """The highest phase velocity in each block of cells of a padded grid.

    Attributes:
        cells: of a block along x, y, z. fastest: m/s, float64, of each block.
    """

    grid: Grid
    cells: Index3
    fastest: np.ndarray

    @classmethod
    def of_model(
        cls, grid: Grid, block: Decomposition, model: Sequence[np.ndarray], dt: float, comm: MPI.Intracomm
    ) -> Speeds:
        """Collective. Of dt^2 M (model/medium.py), of which each rank has its block: the square of a phase velocity is
        at most the larger one of m11 and m22, since the determinant of M is not negative."""
        cells = block_cells(grid)
        squares = np.zeros([-(-n // c) for n, c in zip(grid.full_shape, cells, strict=True)])
        first_y, first_z = (np.arange(block.lo[a], block.hi[a]) // cells[a] for a in (1, 2))
        starts = [np.flatnonzero(np.diff(places, prepend=-1)) for places in (first_y, first_z)]
        for x in range(block.local_shape[0]):
            plane = np.maximum(model[0][x], model[-1][x])[:, : block.local_shape[2]]
            plane = np.maximum.reduceat(np.maximum.reduceat(plane, starts[0], axis=0), starts[1], axis=1)
            here = squares[(block.lo[0] + x) // cells[0], first_y[0] : first_y[-1] + 1, first_z[0] : first_z[-1] + 1]
            np.maximum(here, plane, out=here)
        if comm.size > 1:
            with synchronised(comm), ledger.communication(bytes=squares.nbytes):
                comm.Allreduce(MPI.IN_PLACE, squares, MPI.MAX)
        return cls(grid, cells, np.sqrt(squares) / dt)

    @classmethod
    def of_depths(cls, grid: Grid, speeds: np.ndarray) -> Speeds:
        """Of the highest phase velocity at each depth of the model, (nz,) m/s, wherever that is."""
        cells = block_cells(grid)
        depths = np.pad(speeds.astype(np.float64), grid.pad[2], mode="edge")
        fastest = np.maximum.reduceat(depths, np.arange(0, grid.full_shape[2], cells[2]))
        blocks = (-(-n // c) for n, c in zip(grid.full_shape, cells, strict=True))
        return cls(grid, cells, np.ascontiguousarray(np.broadcast_to(fastest, tuple(blocks))))

    @cached_property
    def spacing(self) -> Vector:
        """Between the nodes at the blocks' corners, m; infinite along an axis without waves."""
        x, y, z = (n * h for n, h in zip(self.cells, self.grid.stencil_spacing, strict=True))
        return x, y, z

    def first_arrivals(self, points: SincPoints) -> np.ndarray:
        """The earliest that a wave from any of the points can be anywhere in a row, s: (nx, ny) float64 of the padded
        grid, 0 in the rows that the points spread over."""
        apart = self._distances(points)
        size = max(h for h in self.spacing if math.isfinite(h))
        times = np.where(apart <= NEAR * size, apart / self._fastest_near(), np.inf)
        _native.first_arrivals(self._raised(apart, size), self.spacing, times)
        earliest = times.min(axis=2)
        for axis in (0, 1):  # of the corners of each block
            earliest = np.minimum(*_neighbours(earliest, axis))
        # A wave from one place meets a face of a block before its corners; and where a fast body ends waves spread
        # anew, which the scheme has late.
        slowest = self.fastest.min(axis=2)
        earliest = np.sqrt(np.maximum(earliest**2 - (size / slowest) ** 2 / 2, 0))
        earliest = np.maximum(earliest - AGAIN * size / slowest, 0)
        rows = np.repeat(np.repeat(earliest, self.cells[0], axis=0), self.cells[1], axis=1)
        rows = np.ascontiguousarray(rows[: self.grid.full_shape[0], : self.grid.full_shape[1]])
        for (i, j, _), (m, n, _) in zip(np.maximum(points.first, 0), points.first + points.count, strict=True):
            rows[i:m, j:n] = 0
        return rows

    def _distances(self, points: SincPoints) -> np.ndarray:
        """Of each node from the points, m: from one point's cell, or from the blocks that many lie in."""
        nodes = [n + 1 for n in self.fastest.shape]
        if len(points.nearest) == 1:
            squares = np.zeros(nodes)
            for axis, h in enumerate(self.spacing):
                if math.isfinite(h):
                    cells = np.arange(nodes[axis]) * self.cells[axis] - 0.5 - points.nearest[0, axis]
                    along = np.maximum(np.abs(cells) - 0.5, 0) * self.grid.spacing[axis]
                    squares += along_axis(along**2, axis)
            return np.asarray(np.sqrt(squares))
        squares = np.full(nodes, np.inf)
        for i, j, k in np.unique(points.nearest // self.cells, axis=0):
            squares[i : i + 2, j : j + 2, k : k + 2] = 0
        for axis, h in enumerate(self.spacing):  # axis by axis
            if math.isfinite(h):
                places, nearest = np.arange(nodes[axis]) * h, np.full(nodes, np.inf)
                for n, place in enumerate(places):
                    one = np.take(squares, [n], axis) + along_axis((places - place) ** 2, axis)
                    np.minimum(nearest, one, out=nearest)
                squares = nearest
        return np.asarray(np.sqrt(squares))

    def _fastest_near(self) -> np.ndarray:
        """Of each node the highest speed in the blocks that it can be reached through from no further than NEAR."""
        size = max(h for h in self.spacing if math.isfinite(h))
        fastest = self.fastest
        for axis, h in enumerate(self.spacing):
            if not math.isfinite(h):
                fastest = np.repeat(fastest, 2, axis)
                continue
            reach = math.ceil(NEAR * size / h)  # blocks on each side of a node
            wide = [(reach, reach) if a == axis else (0, 0) for a in range(3)]
            padded = np.pad(fastest, wide, mode="edge")
            nodes = range(fastest.shape[axis] + 1)
            fastest = np.max([np.take(padded, np.add(nodes, s), axis) for s in range(2 * reach)], axis=0)
        return fastest

    def _raised(self, apart: np.ndarray, size: float) -> np.ndarray:
        """The blocks' speeds, raised so that the first-order scheme is not late where a wave spreads from a point."""
        bend = np.zeros(self.fastest.shape)  # sum of c (1 - c^2) over the axes, c: cosine of the wave's direction
        nearest = apart
        for axis, h in enumerate(self.spacing):
            nearest = np.minimum(*_neighbours(nearest, axis))
            if math.isfinite(h):
                lower, upper = _neighbours(apart, axis)
                slope = np.abs(upper - lower) / h
                for other in {0, 1, 2} - {axis}:
                    slope = np.add(*_neighbours(slope, other)) / 2
                bend += np.minimum(slope, 1) * (1 - np.minimum(slope, 1) ** 2)
        return np.asarray(self.fastest / np.sqrt(1 - bend * size / np.maximum(nearest, (NEAR - 1) * size)))


def block_cells(grid: Grid) -> Index3:
    """Cells of a block along x, y, z: BLOCK of those of the widest axis or, in large grids, as many as it takes to have
    no more than MOST_BLOCKS; about as many metres along the others."""
    for count in itertools.count(BLOCK):
        edge = count * max(grid.spacing[axis] for axis in grid.axes)
        x, y, z = (round(edge / h) if axis in grid.axes else 1 for axis, h in enumerate(grid.spacing))
        if math.prod(-(-n // c) for n, c in zip(grid.full_shape, (x, y, z), strict=True)) <= MOST_BLOCKS:
            break
    return x, y, z


def _neighbours(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Values along an axis, all but the last and all but the first."""
    last = values.shape[axis]
    return np.take(values, range(last - 1), axis), np.take(values, range(1, last), axis)


def along_axis(values: np.ndarray, axis: int) -> np.ndarray:
    """Values of an axis, for arrays of three."""
    return values.reshape([-1 if a == axis else 1 for a in range(3)])
