"""Domain decomposition: a grid cut into blocks, one per rank of a Cartesian process grid.

Everything is arithmetic on (shape, ranks per axis, rank); no communicator is needed.
Ranks are numbered with z fastest. *Global* indices count cells of the whole grid, *local* ones a rank's owned cells.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fathometer.base.errors import InputError

Index3 = tuple[int, int, int]
Cuts = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # of each axis, where parts but the first begin


def split(cells: int, parts: int, part: int) -> tuple[int, int]:
    """Half-open range of the cells of part number `part` of `parts`; sizes differ by one at most.

    >>> [split(10, 3, part) for part in range(3)]
    [(0, 3), (3, 6), (6, 10)]
    """
    return cells * part // parts, cells * (part + 1) // parts


@dataclass(frozen=True)
class Decomposition:
    """One rank's block of a grid.

    Attributes:
        shape: cells of the whole grid (x, y, z). ranks: per axis. rank: number, z fastest. periodic: per axis.
        cuts: None: all parts of an axis are as large as the others, to one cell.
    """

    shape: Index3
    ranks: Index3 = (1, 1, 1)
    rank: int = 0
    periodic: tuple[bool, bool, bool] = (False, False, False)
    cuts: Cuts | None = None

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self.ranks[0] * self.ranks[1] * self.ranks[2]

    @property
    def coordinates(self) -> Index3:
        """The rank's coordinates in the process grid."""
        _, py, pz = self.ranks
        return self.rank // (py * pz), self.rank // pz % py, self.rank % pz

    @property
    def lo(self) -> Index3:
        """Global index of the first owned cell."""
        return self._bounds(0)

    @property
    def hi(self) -> Index3:
        """Global index one past the last owned cell."""
        return self._bounds(1)

    @property
    def local_shape(self) -> Index3:
        """Owned cells (x, y, z)."""
        (x0, y0, z0), (x1, y1, z1) = self.lo, self.hi
        return x1 - x0, y1 - y0, z1 - z0

    def _bounds(self, end: int) -> Index3:
        x, y, z = (self._part(axis, part)[end] for axis, part in enumerate(self.coordinates))
        return x, y, z

    def _part(self, axis: int, part: int) -> tuple[int, int]:
        if self.cuts is None:
            return split(self.shape[axis], self.ranks[axis], part)
        edges = 0, *self.cuts[axis], self.shape[axis]
        return edges[part], edges[part + 1]

    def parts(self, axis: int) -> list[tuple[int, int]]:
        """Half-open ranges of the cells of an axis that its ranks own, in order."""
        return [self._part(axis, part) for part in range(self.ranks[axis])]

    def neighbour(self, offset: Sequence[int]) -> int | None:
        """Rank at `offset` (-1, 0, 1 per axis) from this one; None outside the grid."""
        coordinates = []
        for axis, step in enumerate(offset):
            c = self.coordinates[axis] + step
            if not 0 <= c < self.ranks[axis]:
                if not self.periodic[axis]:
                    return None
                c %= self.ranks[axis]
            coordinates.append(c)
        x, y, z = coordinates
        return (x * self.ranks[1] + y) * self.ranks[2] + z

    def has_neighbour(self, axis: int, side: int) -> bool:
        """Whether another block lies beyond `side` (-1 or 1) of `axis`."""
        offset = [0, 0, 0]
        offset[axis] = side
        return self.neighbour(offset) is not None


def arrangements(size: int, two_dimensional: bool) -> Iterator[Index3]:
    """All process grids (x, y, z) of `size` ranks; one rank in y where the grid has two dimensions."""
    for px in divisors(size):
        rest = size // px
        for py in [1] if two_dimensional else divisors(rest):
            yield px, py, rest // py


def divisors(number: int) -> list[int]:
    """All divisors, in increasing order."""
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return small + [number // n for n in reversed(small) if n * n != number]


def fair_cuts(work: Sequence[float], parts: int, thinnest: int, widest: int) -> tuple[int, ...]:
    """Where to cut an axis, so that the part with the most work has as little as can be: where parts but the first
    begin.

    Args:
        work: of each cell along the axis, not negative. thinnest, widest: cells that a part may have: there must be
            such parts.

    >>> fair_cuts([1, 1, 4, 1, 1, 1, 1], 2, 1, 7)
    (3,)
    """
    total, n = [0.0, *itertools.accumulate(float(w) for w in work)], len(work)

    def cuts_below(most: float) -> tuple[int, ...] | None:
        """Each part as long as it may be."""
        ends = [0]
        for left in range(parts - 1, -1, -1):  # parts after this one
            last = min(ends[-1] + widest, n - left * thinnest)
            end = min(bisect.bisect_right(total, total[ends[-1]] + most) - 1, last)
            if end < max(ends[-1] + thinnest, n - left * widest):
                return None
            ends.append(end)
        return tuple(ends[1:-1]) if ends[-1] == n else None

    low, high = 0.0, total[-1]
    best = cuts_below(high)
    assert best is not None, "there are such parts"
    while high - low > 1e-6 * total[-1]:
        middle = (low + high) / 2
        found = cuts_below(middle)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return best


def halo_cells(shape: Index3, ranks: Index3) -> int:
    """Cells of all faces between blocks: what one exchange sends per direction and plane of halo depth."""
    nx, ny, nz = shape
    return (ranks[0] - 1) * ny * nz + (ranks[1] - 1) * nx * nz + (ranks[2] - 1) * nx * ny


def _each_axis(thinnest: int | Index3) -> Index3:
    return (thinnest, thinnest, thinnest) if isinstance(thinnest, int) else thinnest


def _in_words(thinnest: int | Index3) -> str:
    x, y, z = _each_axis(thinnest)
    return f"{x}" if x == y == z else f"{x} ({z} along z)"


def _fits(shape: Index3, ranks: Index3, thinnest: int | Index3) -> bool:
    return all(p == 1 or n // p >= t for n, p, t in zip(shape, ranks, _each_axis(thinnest), strict=True))


def choose_ranks(
    shape: Index3,
    size: int,
    thinnest: int | Index3,
    wanted: Index3 | None = None,
    name: str = "ranks per axis",
    slab: int | None = None,
) -> Index3:
    """Ranks per axis: the requested ones, or those with the fewest halo bytes, z cut only where nothing else fits.

    Rows along z are the kernels' vector loops and the contiguous pieces of every message; cutting them makes both
    slower, so process grids without cuts in z come first.

    Args:
        shape: cells of the whole grid (x, y, z); ny = 1 in two dimensions.
        size: number of ranks.
        thinnest: fewest cells that a block may have along a cut axis: of all axes, or of x, y and z, of which x and y
            have the same.
        wanted: ranks per axis requested by the user; None: none. name: of that request in messages.
        slab: cells along y of a block from which on cuts of y alone come before all others; None: never.
    Raises:
        InputError: if the number of ranks is not the product, or a block would be too thin.
    """
    axes = (0, 2) if shape[1] == 1 else (0, 1, 2)
    cells = " x ".join(str(shape[a]) for a in axes)
    if wanted is not None:
        asked = [wanted[a] for a in axes]
        if wanted[0] * wanted[1] * wanted[2] != size:
            raise InputError(
                f"{name}: {asked} is for {wanted[0] * wanted[1] * wanted[2]} ranks, "
                f"but {size} {'is' if size == 1 else 'are'} running; "
                f'allowed: --ranks {wanted[0] * wanted[1] * wanted[2]}, or "auto"'
            )
        if not _fits(shape, wanted, thinnest):
            most = [max(1, shape[a] // _each_axis(thinnest)[a]) for a in axes]
            raise InputError(
                f"{name}: {asked} cuts the grid of {cells} cells (padding included)"
                f" into parts thinner than the {_in_words(thinnest)} cells that the stencil reaches;"
                f" at most {most} ranks fit along {', '.join('xyz'[a] for a in axes)}"
            )
        return wanted
    best = best_ranks(shape, size, thinnest, slab)
    if best is None:
        raise InputError(
            f"{size} ranks are too many for a grid of {cells} cells (padding included): parts would be "
            f"thinner than the {_in_words(thinnest)} cells that the stencil reaches; "
            f"at most {largest_size(shape, thinnest, size)} ranks can be used"
        )
    return best


def best_ranks(shape: Index3, size: int, thinnest: int | Index3, slab: int | None = None) -> Index3 | None:
    """The process grid that `choose_ranks` prefers; None where all have blocks thinner than `thinnest` cells."""
    if slab is not None and shape[1] // size >= slab:
        return 1, size, 1
    fitting = (r for r in arrangements(size, shape[1] == 1) if _fits(shape, r, thinnest))
    return min(fitting, key=lambda r: (r[2] > 1, halo_cells(shape, r), r), default=None)


def largest_size(shape: Index3, thinnest: int | Index3, below: int) -> int:
    """The largest number of ranks below `below` for which there is a process grid."""
    return next(size for size in range(below - 1, 0, -1) if best_ranks(shape, size, thinnest) is not None)
