"""How the time steps are grouped into sweeps through the memory (native/core/advance.hpp)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from fathometer.base.host import Caches
from fathometer.parallel.decomposition import Index3

DIAMONDS = 0  # a tiling's tile: diamonds, whose width follows from their depth
DEEP = 8  # stages of a sweep, or in which a diamond grows, at most that the model of the caches suggests
LOWEST = 3  # of diamonds
ROWS = 4  # of diamonds in an advance, at least: its ends cut half of a row each
DEEPEST = 64  # steps a sweep; what is gained by one more falls with their square


@dataclass(frozen=True)
class Tiling:
    """The choices of a sweep.

    Attributes:
        depth: time steps a sweep; 1 is a plain sweep, for which the other numbers do not matter.
            Of diamonds: steps in which one grows, and then shrinks.
        block: width of a block in x, in cells.
        tile: width of a tile in y, in cells; in two dimensions, of a block in x. DIAMONDS: tiles are diamonds.
        team: threads that share a tile; of diamonds 1.
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
        if self.tile == DIAMONDS:
            return f"diamonds of twice {self.depth} time steps in blocks of {self.block} cells"
        shared = f", {self.team} threads each" if self.team > 1 else ""
        return f"{self.depth} time steps a sweep, tiles of {self.tile} cells in blocks of {self.block}{shared}"


PLAIN = Tiling(1, 1, 1, 1)


def stage_reach(halo: int, radius: int) -> int:
    """Cells that a stage of a tile reaches: halos are as deep; a half point needs as many on either side."""
    return max(halo, 2 * ((radius + 1) // 2))


def lowest_diamonds(stages: int) -> int:
    """Time steps up, at least, of diamonds that are chosen without being tried."""
    return math.ceil(LOWEST / stages)


def diamond_rows(height: int, reach: int, stages: int) -> int:
    """Fewest rows of a rank that shares the grid along y, for diamonds of so many time steps up and as many down."""
    return 2 * height * reach * stages


def slab_rows(radius: int, stages: int) -> int:
    """Rows of a rank from which on a grid is shared along y alone: the lowest diamonds fit, across its cuts too."""
    return diamond_rows(lowest_diamonds(stages), stage_reach(radius, radius), stages)


@dataclass(frozen=True)
class Tuned:
    """A choice and where it comes from.

    Attributes:
        source: "survey", "model", "cache", "trials" or "search".
        gain: rate over that of plain sweeps, both measured in a search; None without one.
        trials: candidates' turns in this run's own time steps, lost: seconds that they took beyond the incumbent's.
        changes: how often another tiling became the incumbent.
    """

    tiling: Tiling
    source: str
    gain: float | None = None
    trials: int = 0
    lost: float = 0.0
    changes: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The same for a record."""
        return asdict(self.tiling) | {
            "source": self.source,
            "gain_over_plain_sweeps": self.gain,
            "trials": self.trials,
            "seconds_lost": self.lost,
            "changes": self.changes,
        }

    def __str__(self) -> str:
        sources = {
            "survey": "as the survey says",
            "cache": "known from an earlier run",
            "search": "found by a search",
            "model": "from the sizes of the caches",
            "trials": "found by trials",
        }
        gain = "" if self.gain is None else f", {self.gain:.2f} times as fast as plain sweeps"
        tried = f"; trials took {self.lost:.2g} s more than steps without" if self.trials else ""
        return f"{self.tiling} ({sources[self.source]}{gain}{tried})"


@dataclass(frozen=True)
class Stepping:
    """What the best tiling depends on, beside the machine.

    Attributes:
        shape: cells (x, y, z) of a rank with its padding, ny = 1 in two dimensions.
        radius: R, the reach of a stage. fields: that are stepped. itemsize: bytes of a number. arrays: of a step, time
            levels of the fields and the model.
        steps: time steps that are taken at a time. threads: of a rank. ranks: that share the host.
        cut: axes along which ranks share the grid. reach: cells that a stage of a tile reaches, points included.
        stages: of a step.
    """

    shape: Index3
    radius: int
    fields: int
    itemsize: int
    steps: int
    threads: int
    ranks: int
    arrays: int
    cut: tuple[bool, bool, bool] = (False, False, False)
    reach: int = 0
    stages: int = 1

    @property
    def diamonds(self) -> bool:
        """Whether tiles can be diamonds: along x and z, cells next to another rank's wait for it at every step."""
        return not (self.flat or self.cut[0] or self.cut[2])

    @property
    def highest(self) -> int:
        """Depth of diamonds, at most: between two cuts a rank has room for a whole one."""
        return self.shape[1] // diamond_rows(1, self.reach, self.stages) if self.cut[1] else DEEPEST

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
        if tiling.tile == DIAMONDS:
            within = self.diamonds and tiling.team == 1 and 1 < tiling.depth <= self.highest
            return within and all(self._within(tiling, name) for name in ("depth", "block"))
        return all(self._within(tiling, name) for name in self.ranges) and self.threads % tiling.team == 0

    def _within(self, tiling: Tiling, name: str) -> bool:
        low, high = self.ranges[name]
        value: int = getattr(tiling, name)
        return low <= value <= high

    def bytes_in_flight(self, tiling: Tiling) -> int:
        """Bytes that a tile wants to find in the cache: its cells at all its steps, and what the stencil reaches."""
        moved = (tiling.depth * self.stages + 1) * self.radius
        if tiling.tile == DIAMONDS:
            # The last steps of a row of cells lie as far behind the first as it is from the tip.
            half = tiling.depth * self.stages * self.radius
            return 2 * half * (half + tiling.block + self.radius) * self.shape[2] * self.cell_bytes
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
        for depth in range(2, min(self.steps, DEEP // self.stages) + 1):
            moved = (depth * self.stages - 1) * self.radius
            block = min(self.radius, self.shape[0])
            width = self.ranges["tile"][1]
            while width > 1 and self.bytes_in_flight(Tiling(depth, block, width, team)) > share:
                width -= 1
            if width >= moved or width == self.ranges["tile"][1]:
                best = Tiling(depth, block, width, team)
        found = self._expected_diamonds(thread)
        if found is None and best == PLAIN:  # which diamonds still beat of which half lies in the cache
            found = self._expected_diamonds(2 * thread)
        return found or best

    def _expected_diamonds(self, share: int) -> Tiling | None:
        """The highest that fit a thread's share, where the steps are enough for some rows of them."""
        if not self.diamonds:
            return None
        lowest = lowest_diamonds(self.stages)
        for height in range(min(self.steps // ROWS, DEEP // self.stages, self.highest), lowest - 1, -1):
            for block in (2 * self.radius, self.radius):
                tiling = Tiling(height, min(block, self.shape[0]), DIAMONDS, 1)
                if self.bytes_in_flight(tiling) <= share:
                    return tiling
        return None
