"""How the time steps are grouped into sweeps through the memory (native/advance.hpp)."""

from __future__ import annotations

from dataclasses import dataclass


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


PLAIN = Tiling(1, 1, 1, 1)
