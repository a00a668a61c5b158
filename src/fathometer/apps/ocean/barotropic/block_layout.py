"""Blocks of the horizontal grid, and which rank has which (Dennis 2007, Proc. IEEE IPDPS).

The grid is cut into a grid of blocks whose bounds are multiples of a tile. Blocks that are all land are left out; the
others go to ranks. A rank's blocks are stacked in one array, each with a halo of HALO cells around what it owns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.barotropic.curve import hilbert
from fathometer.apps.ocean.grid import Levels
from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import divisors, split

HALO = 3
Index2 = tuple[int, int]
Order = Literal["curve", "grid"]
BLOCK_WORK = 16  # columns that a block costs beside its own
MOST_BLOCKS = 8  # a rank, where the size of blocks is left to us and there is land


@dataclass(frozen=True)
class Block:
    """Cells lo <= (x, y) < hi. number: in the grid of blocks. wet_columns: with water."""

    number: int
    lo: Index2
    hi: Index2
    rank: int
    wet_columns: int


class Layout:
    """How the grid is cut, seen from one rank; see `cut`.

    Attributes:
        shape: cells (nx, ny). periodic: whether x = nx is x = 0. tile: cells of which bounds are multiples.
        blocks: all that are not left out, in the order of the curve. left_out: (lo, hi) of those of land.
        rank, size: this rank, and how many there are.
    """

    def __init__(
        self,
        shape: Index2,
        periodic: bool,
        tile: int,
        blocks: Sequence[Block],
        left_out: Sequence[tuple[Index2, Index2]],
        rank: int,
        size: int,
    ) -> None:
        self.shape, self.periodic, self.tile = shape, periodic, tile
        self.blocks, self.left_out = tuple(blocks), tuple(left_out)
        self.rank, self.size = rank, size

    @cached_property
    def own(self) -> tuple[Block, ...]:
        """This rank's blocks."""
        return tuple(block for block in self.blocks if block.rank == self.rank)

    @cached_property
    def extents(self) -> npt.NDArray[np.int64]:
        """Cells of this rank's blocks (nb, 2)."""
        found = [(b.hi[0] - b.lo[0], b.hi[1] - b.lo[1]) for b in self.own]
        return np.array(found, np.int64).reshape(-1, 2)

    @cached_property
    def padded(self) -> Index2:
        """Cells of a block in the arrays, halos included: the same on all ranks."""
        x, y = (max((b.hi[axis] - b.lo[axis] for b in self.blocks), default=0) for axis in (0, 1))
        return x + 2 * HALO, y + 2 * HALO

    @property
    def cells_left_out(self) -> int:
        """Cells of the blocks that are left out."""
        return sum((hi[0] - lo[0]) * (hi[1] - lo[1]) for lo, hi in self.left_out)

    @property
    def imbalance(self) -> float:
        """Most columns of water of a rank over the mean."""
        columns = np.zeros(self.size)
        for block in self.blocks:
            columns[block.rank] += block.wet_columns
        return float(columns.max() / columns.mean()) if columns.any() else 1.0

    def shaped(self, *more: int) -> tuple[int, ...]:
        """The shape of a blocked array with further axes."""
        return (len(self.own), *self.padded, *more)

    def blocked(self, values: npt.NDArray[Any], fill: float = 0) -> npt.NDArray[Any]:
        """This rank's blocks with their halos, (nb, X, Y, ...), of a global array (nx, ny, ...)."""
        out = np.full(self.shaped(*values.shape[2:]), fill, values.dtype)
        for number, block in enumerate(self.own):
            x, y = (np.arange(lo - HALO, hi + HALO) for lo, hi in zip(block.lo, block.hi, strict=True))
            in_x = np.full(x.shape, True) if self.periodic else (x >= 0) & (x < self.shape[0])
            in_y = (y >= 0) & (y < self.shape[1])
            place = np.ix_(np.array([number]), np.flatnonzero(in_x), np.flatnonzero(in_y))
            out[place] = values[np.ix_(x[in_x] % self.shape[0], y[in_y])][None]
        return out

    def rows(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Values by y (ny,) in this rank's blocks with halos (nb, Y); outside of the grid the nearest one."""
        out = np.empty((len(self.own), self.padded[1]))
        for number, block in enumerate(self.own):
            y = np.arange(self.padded[1]) + block.lo[1] - HALO
            out[number] = values[np.clip(y, 0, self.shape[1] - 1)]
        return out

    def owned(self, array: npt.NDArray[Any], number: int) -> npt.NDArray[Any]:
        """View of the cells that one of this rank's blocks owns, (x, y, ...), in a blocked array."""
        x, y = self.extents[number]
        return array[number, HALO : HALO + x, HALO : HALO + y]


def cut(
    shape: Index2,
    size: int,
    rank: int,
    levels: Levels,
    *,
    periodic: bool = False,
    tile: int = 8,
    blocks: Index2 | None = None,
    ranks: Index2 | None = None,
    order: Order = "curve",
) -> Layout:
    """Cut a grid for `size` ranks.

    Args:
        shape: cells (nx, ny). levels: of water (nx, ny), 0 on land. tile: cells of which bounds are multiples.
        ranks: along x and y, a block for each. blocks: cells of a block, rounded up to whole tiles. Left out, there is
            a block for each rank of the process grid with the shortest borders or, where there is land, several.
        order: in which blocks go to ranks: along Hilbert's curve, or row by row.

    Raises InputError for more ranks than there are tiles or blocks, or both `ranks` and `blocks`.
    """
    tiles = tuple(-(-n // tile) for n in shape)
    if ranks is not None and blocks is not None:
        raise InputError("[decomposition] block: found together with ranks; allowed: one of them")
    if ranks is not None:
        if math.prod(ranks) != size:
            raise InputError(
                f"[decomposition] ranks: found {ranks[0]} x {ranks[1]}, but there are {size} ranks; allowed: a product "
                f"of {size}"
            )
        for axis, name in enumerate("xy"):
            if ranks[axis] > tiles[axis]:
                raise InputError(
                    f"[decomposition] ranks: found {ranks[axis]} along {name}; allowed: up to {tiles[axis]}, the tiles "
                    f"of {tile} cells ([barotropic] tile)"
                )
        return _process_grid(shape, rank, size, levels, periodic, tile, ranks)
    if blocks is None:
        if (levels > 0).all() or size == 1:
            return _process_grid(shape, rank, size, levels, periodic, tile, _grid_of(shape, size, tile))
        wanted = _grid_of(shape, size, tile, MOST_BLOCKS)
        blocks = tuple(-(-n // parts) for n, parts in zip(shape, wanted, strict=True))  # type: ignore[assignment]
    assert blocks is not None
    sides = [min(-(-cells // tile), most) * tile for cells, most in zip(blocks, tiles, strict=True)]
    found, left_out = [], []
    across = -(-shape[1] // sides[1])
    for bx in range(-(-shape[0] // sides[0])):
        for by in range(across):
            lo = bx * sides[0], by * sides[1]
            hi = min(lo[0] + sides[0], shape[0]), min(lo[1] + sides[1], shape[1])
            wet = int((levels[lo[0] : hi[0], lo[1] : hi[1]] > 0).sum())
            if wet:
                found.append(((bx, by), Block(bx * across + by, lo, hi, 0, wet)))
            else:
                left_out.append((lo, hi))
    if len(found) < size:
        raise InputError(
            f"{size} ranks: found {len(found)} blocks of {sides[0]} x {sides[1]} cells with water; allowed: as many "
            "ranks, or smaller blocks ([decomposition] block)"
        )
    if order == "curve":
        depth = max(place for (bx, by), _ in found for place in (bx, by)).bit_length()
        found.sort(key=lambda entry: hilbert(entry[0][0], entry[0][1], depth))
    owners = _shares([block.wet_columns + BLOCK_WORK for _, block in found], size)
    placed = [Block(b.number, b.lo, b.hi, owner, b.wet_columns) for (_, b), owner in zip(found, owners, strict=True)]
    return Layout(shape, periodic, tile, placed, left_out, rank, size)


def _process_grid(
    shape: Index2, rank: int, size: int, levels: Levels, periodic: bool, tile: int, ranks: Index2
) -> Layout:
    """A block for each rank."""
    found, left_out = [], []
    tiles = tuple(-(-n // tile) for n in shape)
    for px in range(ranks[0]):
        for py in range(ranks[1]):
            ranges = [split(n, parts, part) for n, parts, part in zip(tiles, ranks, (px, py), strict=True)]
            lo = ranges[0][0] * tile, ranges[1][0] * tile
            hi = min(ranges[0][1] * tile, shape[0]), min(ranges[1][1] * tile, shape[1])
            number = px * ranks[1] + py
            wet = int((levels[lo[0] : hi[0], lo[1] : hi[1]] > 0).sum())
            if wet:
                found.append(Block(number, lo, hi, number, wet))
            else:
                left_out.append((lo, hi))
    return Layout(shape, periodic, tile, found, left_out, rank, size)


def _grid_of(shape: Index2, size: int, tile: int, most: int = 1) -> Index2:
    """Parts along x and y, up to `most` times `size` of them, as many as fit: those with the shortest borders."""
    tiles = tuple(-(-n // tile) for n in shape)
    for times in range(most, 0, -1):
        count = size * times
        grids = [(px, count // px) for px in divisors(count) if px <= tiles[0] and count // px <= tiles[1]]
        if grids:
            return min(grids, key=lambda grid: (grid[0] * shape[1] + grid[1] * shape[0], grid[0]))
    raise InputError(
        f"{size} ranks: found {tiles[0]} x {tiles[1]} tiles of {tile} cells, in which they do not fit as a process "
        "grid; allowed: fewer ranks, or smaller tiles ([barotropic] tile)"
    )


def _shares(work: Sequence[int], size: int) -> list[int]:
    """The rank of each block: consecutive ones, so that the most that a rank has is small; each has at least one."""
    total, done = sum(work), 0
    owners: list[int] = []
    for number, own in enumerate(work):
        middle = (done + own / 2) / total
        rank = min(int(middle * size), size - 1)
        left = len(work) - number - 1
        rank = min(max(rank, owners[-1]), owners[-1] + 1) if owners else 0
        rank = max(rank, size - 1 - left)
        owners.append(rank)
        done += own
    return owners
