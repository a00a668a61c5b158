"""What the rank with most to do has of an ocean, from the very layout of a run; no MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.barotropic.block_layout import HALO, Block, Layout, cut
from fathometer.apps.ocean.grid import Levels, OceanGrid
from fathometer.apps.ocean.ocean_file import OceanFile

LANES = 8  # columns along y that kernels compute together, all to the bottom of the deepest
COLUMN_CELLS = 10  # a column costs about as much as so many cells: only to find the rank with most


@dataclass(frozen=True)
class Share:
    """What a rank has.

    Attributes:
        rank: which. cells: that are computed, in columns of water and those beside them. columns: of water.
        stored: columns of its arrays, with land and halos. blocks: their number.
        rings: cells of its halos that other ranks own, by the width of the halo. neighbours: these ranks.
    """

    rank: int
    cells: int
    columns: int
    stored: int
    blocks: int
    rings: Mapping[int, int]
    neighbours: int


def share_of(layout: Layout, grid: OceanGrid) -> Share:
    """The rank with most to do; columns stored are the most of any rank."""
    by_rank: list[list[Block]] = [[] for _ in range(layout.size)]
    for block in layout.blocks:
        by_rank[block.rank].append(block)
    work = [(sum(_cells(grid.levels, b) for b in own), sum(b.wet_columns for b in own)) for own in by_rank]
    busiest = max(range(layout.size), key=lambda rank: work[rank][0] + COLUMN_CELLS * work[rank][1])
    owners = np.full(layout.shape, -1, np.int64)
    for block in layout.blocks:
        owners[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]] = block.rank
    owners = np.pad(owners, HALO, constant_values=-1)
    if layout.periodic:
        owners[:HALO], owners[-HALO:] = owners[-2 * HALO : -HALO].copy(), owners[HALO : 2 * HALO].copy()
    rings = {width: _ring(owners, by_rank[busiest], width) for width in range(1, HALO + 1)}
    x, y = layout.padded
    return Share(
        busiest,
        *work[busiest],
        stored=max(map(len, by_rank)) * x * y,
        blocks=len(by_rank[busiest]),
        rings={width: len(others) for width, others in rings.items()},
        neighbours=len(np.unique(rings[HALO])),
    )


def layout_for(file: OceanFile, grid: OceanGrid, size: int, rank: int = 0) -> Layout:
    """How a run on so many ranks cuts the grid, seen from one of them. Raises InputError for more than it allows."""
    keys = file.decomposition
    return cut(
        grid.shape[:2],
        size,
        rank,
        grid.levels,
        periodic=grid.periodic,
        tile=file.barotropic.tile,
        blocks=keys.block,
        ranks=keys.ranks,
        order=keys.order,
    )


def _cells(levels: Levels, block: Block) -> int:
    """Cells that are computed in a block."""
    own = levels[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]]
    own = np.pad(own, ((0, 0), (0, -own.shape[1] % LANES)))
    return LANES * int(own.reshape(len(own), -1, LANES).max(axis=2, initial=0).sum())


def _ring(owners: npt.NDArray[np.int64], own: list[Block], width: int) -> npt.NDArray[np.int64]:
    """Owners, other than this rank and nobody, of the cells around some blocks of a rank."""
    found = []
    for block in own:
        x0, y0 = (lo + HALO - width for lo in block.lo)
        x1, y1 = (hi + HALO + width for hi in block.hi)
        around = owners[x0:x1, y0:y1].copy()
        around[width:-width, width:-width] = -1
        found.append(around[(around >= 0) & (around != block.rank)])
    return np.concatenate(found)
