"""How the time steps are grouped into sweeps through the memory (native/core/advance.hpp)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fathometer.base.host import Caches
from fathometer.parallel.decomposition import Index3

DEEPEST = 64  # steps a sweep; what is gained by one more falls with their square


@dataclass(frozen=True)
class Tiling:
    """The choices of a sweep.

    Attributes:
        depth: time steps a sweep; 1 is a plain sweep, for which the other numbers do not matter.
        block: width of a block in x, in cells.
        tile: width of a tile in y, in cells; in two dimensions, of a block in x.
        team: threads that share a tile.
    """

    depth: int
    block: int
    tile: int
    team: int

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """As the kernels take them."""
        return self.depth, self.block, self.tile, self.team

    def __str__(self) -> str:
        if self.depth == 1:
            return "one time step a sweep"
        shared = f", {self.team} threads each" if self.team > 1 else ""
        return f"{self.depth} time steps a sweep, tiles of {self.tile} cells in blocks of {self.block}{shared}"


PLAIN = Tiling(1, 1, 1, 1)


@dataclass(frozen=True)
class Stepping:
    """What the best tiling depends on, beside the machine.

    Attributes:
        shape: cells (x, y, z) of a rank with its padding, ny = 1 in two dimensions.
        radius: R, the stencil's reach. fields: that are stepped. itemsize: bytes of a number. arrays: of a step, time
            levels of the fields and the model.
        steps: time steps that are taken at a time. threads: of a rank. ranks: that share the host.
    """

    shape: Index3
    radius: int
    fields: int
    itemsize: int
    steps: int
    threads: int
    ranks: int
    arrays: int

    @property
    def flat(self) -> bool:
        """Two dimensions."""
        return self.shape[1] == 1

    @property
    def cell_bytes(self) -> int:
        """What a cell takes in all arrays of a step: two levels of each field, the model."""
        return self.itemsize * self.arrays

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """Smallest and largest value of each choice."""
        x, y, _ = self.shape
        return {
            "depth": (1, min(self.steps, DEEPEST)),
            "block": (1, x),
            "tile": (1, x if self.flat else y),
            "team": (1, self.threads),
        }

    def fits(self, tiling: Tiling) -> bool:
        """Whether all choices are in range, and the threads make whole teams."""
        within = all(low <= getattr(tiling, name) <= high for name, (low, high) in self.ranges.items())
        return within and self.threads % tiling.team == 0

    def bytes_in_flight(self, tiling: Tiling) -> int:
        """Bytes that a tile wants to find in the cache: its cells at all its steps, and what the stencil reaches."""
        moved = (tiling.depth + 1) * self.radius
        rows = tiling.tile + moved if self.flat else (tiling.block + moved) * (tiling.tile + moved)
        return rows * self.shape[2] * self.cell_bytes

    def expected(self, caches: Caches) -> Tiling:
        """The tiling that a model of the caches suggests: as deep as it may be with tiles that fit a thread's share.

        A tile is worth having where what it loads anew, its overlap with the tile before, is little beside its own
        width; so width comes first, then depth.
        """
        team = self.threads if self.flat else 1
        thread = caches.of_thread(self.threads * self.ranks)
        if math.prod(self.shape) * self.cell_bytes < thread * self.threads:
            return PLAIN  # all of it stays in the cache by itself
        share = thread * team
        best = PLAIN
        for depth in range(2, min(self.steps, 8) + 1):
            moved = (depth - 1) * self.radius
            block = min(self.radius, self.shape[0])
            width = self.ranges["tile"][1]
            while width > 1 and self.bytes_in_flight(Tiling(depth, block, width, team)) > share:
                width -= 1
            if width >= moved or width == self.ranges["tile"][1]:
                best = Tiling(depth, block, width, team)
        return best
