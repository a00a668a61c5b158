"""Where a grid is cut, so that all of its ranks have as much work in the run: rows rest where no wave can be
(setup/cone.py), and rows in absorbing layers take longer.

The sum over the run is equal, not the work at each moment: a wave begins in one part of the grid. `Shares.waiting` says
what that costs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Cuts, Decomposition, Index3, fair_cuts, split
from fathometer.seismic.setup.checks import time_step
from fathometer.seismic.setup.cone import Loop, loops_of_some
from fathometer.seismic.setup.known_model import known_model
from fathometer.seismic.setup.rank_groups import bytes_of_largest, ranks_of_a_shot
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.boundary import Sponge

WIDEST = 1.5  # times as many cells as others: their memory is the limit
GAIN = 0.02  # of the time of the rank with the most work, for which parts are made unequal
INSTANTS = 32  # of a loop, between which the work of each rank is compared


@dataclass(frozen=True)
class Shares:
    """How ranks share the work of a grid.

    Attributes:
        cuts: as of Decomposition. waiting: share of the time steps' time that a rank waits for others in the mean,
            since the work moves.
    """

    cuts: Cuts | None = None
    waiting: float = 0.0

    def __str__(self) -> str:
        """In words; "" where there is nothing to say."""
        text = []
        for axis, places in zip("xyz", self.cuts or ((), (), ()), strict=True):
            if places:
                text.append(f"cut along {axis} at cells {', '.join(map(str, places))}, for equal work")
        if self.waiting >= GAIN:
            text.append(f"about {100 * self.waiting:.0f} % of the time steps' time is waiting, since the work moves")
        return "; ".join(text)


@dataclass(frozen=True, eq=False)
class Work:
    """Of the rows of a grid. loops: of the run; none: all rows are computed in all steps."""

    layout: SurveyLayout
    loops: Sequence[Loop] = ()

    def shares(self, time: TimeAxis, ranks: Index3, room: float = math.inf) -> Shares:
        """Of ranks that share the grid along x, y, z. room: bytes that each of them may take."""
        cuts = self.cuts_with(time, ranks, room)
        parts = [loop.computed(parts_of(self.layout, ranks, cuts), INSTANTS) for loop in self.loops]
        most = sum(float(part.max(axis=(1, 2)).sum()) for part in parts)
        mean = sum(float(part.mean(axis=(1, 2)).sum()) for part in parts)
        return Shares(cuts, 1 - mean / most if most else 0.0)

    def computed_shares(self, ranks: Index3, cuts: Cuts | None) -> dict[str, float]:
        """By name of the loops: what ranks compute, and what they wait for each other, of all steps of the part with
        the most rows."""
        most: dict[str, float] = {}
        whole: dict[str, float] = {}
        for loop in self.loops:
            places = parts_of(loop.cone.layout, ranks, cuts)
            largest = math.prod(max(b - a for a, b in itertools.pairwise(along)) for along in places)
            computed = float(loop.computed(places, INSTANTS).max(axis=(1, 2)).sum())
            most[loop.name] = most.get(loop.name, 0.0) + computed
            whole[loop.name] = whole.get(loop.name, 0.0) + float(largest * loop.cone.time.steps)
        return {name: most[name] / whole[name] for name in most}

    def cuts_with(self, time: TimeAxis, ranks: Index3, room: float) -> Cuts | None:
        """The same as `cuts`; None, too, where a rank would take more than `room` bytes."""
        cuts = self.cuts(ranks)
        if cuts is None:
            return None
        shared = Decomposition(self.layout.grid.full_shape, ranks, cuts=cuts)
        return cuts if bytes_of_largest(self.layout, time, shared) <= room else None

    def cuts(self, ranks: Index3) -> Cuts | None:
        """For equal sums of the work; None where they gain little over equal parts."""
        cuts: list[tuple[int, ...]] = []
        gains = False
        for axis, (cells, parts) in enumerate(zip(self.layout.grid.full_shape, ranks, strict=True)):
            equal = tuple(split(cells, parts, part)[0] for part in range(1, parts))
            cuts.append(equal)
            if parts == 1 or axis == 2:
                continue
            thinnest = self.layout.thinnest[axis]
            if axis == 1 and self.layout.slab is not None and ranks[0] * ranks[2] == 1:
                thinnest = max(thinnest, min(self.layout.slab, cells // parts))
            sums = self.of_rows.sum(axis=1 - axis)
            fair = fair_cuts(sums.tolist(), parts, thinnest, math.ceil(WIDEST * cells / parts))
            of_equal, of_fair = (max(np.add.reduceat(sums, (0, *places))) for places in (equal, fair))
            if of_fair < (1 - GAIN) * of_equal:
                cuts[axis], gains = fair, True
        return (cuts[0], cuts[1], cuts[2]) if gains else None

    @cached_property
    def of_rows(self) -> np.ndarray:
        """(nx, ny) steps in which each is computed, in those of a row outside of absorbing layers."""
        layout = self.layout
        nx, ny, _ = layout.grid.full_shape
        work = np.zeros((nx, ny)) if self.loops else np.ones((nx, ny))
        for loop in self.loops:
            rows, steps = loop.rows, loop.cone.time.steps
            work += steps if rows is None else np.maximum(rows.last - rows.first, 0)
        width = 0 if isinstance(layout.boundary, Sponge) else layout.boundary.width  # a sponge costs next to nothing
        for axis, cells in enumerate((nx, ny)):
            if cells > 1:
                depth = np.minimum(np.arange(cells), np.arange(cells)[::-1])
                along = 1 + layout.physics.layer_work * (depth < width)
                work *= along[:, None] if axis == 0 else along
        return work


def parts_of(layout: SurveyLayout, ranks: Index3, cuts: Cuts | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Along x and y, where parts begin and the last one ends."""
    shared = Decomposition(layout.grid.full_shape, ranks, cuts=cuts)
    x, y = ((0, *(last for _, last in shared.parts(axis))) for axis in (0, 1))
    return x, y


def shares_of_run(layout: SurveyLayout, ranks: Index3, room: float, comm: MPI.Intracomm) -> Shares:
    """Collective. Of the ranks of an acoustic run that share its grid along x, y, z, from some rows of the model.

    room: bytes that each of them may take. Parts are equal where others would take more, where ranks make groups with
    shots of their own, and where the rows cannot be read: whoever reads the model says why.
    """
    shares = Shares()
    if comm.rank == 0 and max(ranks[:2]) > 1 and layout.survey.imaging.aperture is None:
        try:
            known = known_model(layout, None)
            time, _ = layout.time(time_step(layout.survey, known.limit))
            together = not layout.imaging or ranks_of_a_shot(layout, time, comm.size, room) == comm.size
            if together and known.speeds is not None:
                shares = Work(layout, loops_of_some(layout, time, known.speeds)).shares(time, ranks, room)
        except InputError:
            pass
    agreed: Shares = comm.bcast(shares)
    return agreed
