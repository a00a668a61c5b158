"""What receivers record: each row of cells that a receiver's box touches gives a sum along z, a line; whoever owns the
receiver's nearest cell adds its lines up, those of other ranks' rows among them.

So the time steps wait for no other rows because of receivers, and halos are no wider. The order of the sums is that of
the cells, whoever owns them: results are the same, bit for bit, for all ranks and tiles.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import MOST_NUMBERS
from fathometer.seismic.waves.points import WEIGHTS, SincPoints

PHASE = "lines of receivers"
TAG = MOST_NUMBERS - 4  # beside that of faces
MOST_BYTES = 1 << 28  # of the lines of an advance: more are recorded in parts


class Lines(Protocol):
    """Lines of an advance on their way between ranks.

    Attributes:
        lines: of this rank.
    """

    lines: int

    @property
    def alone(self) -> bool:
        """Whether all lines stay here, and none comes."""

    def complete(self, lines: np.ndarray) -> None:
        """Collective among those with receivers near their borders. Fill the columns of lines (steps, lines) that
        others have taken."""


@dataclass(frozen=True)
class Receivers:
    """The receivers that concern a rank.

    Attributes:
        indices: of those that it records, into the survey's list. native: the kernels' view of all whose box has rows
        here. exchange: of lines with other ranks. steps: for which all ranks have room for their lines.
    """

    indices: np.ndarray
    native: Any
    exchange: Lines
    steps: int


class LineExchange:
    """Lines that a rank takes for receivers of others, and those that others take for its own.

    Rows outside the grid, to which boxes reach where its padding is thin, have lines of zeros.

    Args:
        comm, block: of the ranks that share the grid. points: some, of which each touches this rank's rows. owners:
            (n,) the rank that records each.
    """

    def __init__(self, comm: MPI.Intracomm, block: Decomposition, points: SincPoints, owners: np.ndarray) -> None:
        self._comm = comm
        sizes = points.count[:, 0].astype(np.int64) * points.count[:, 1]
        starts = np.cumsum(sizes) - sizes
        self.lines = int(sizes.sum())
        self._leaving: dict[int, np.ndarray] = {}
        self._coming: dict[int, np.ndarray] = {}
        for rank in np.unique(owners[owners != block.rank]).tolist():
            self._leaving[rank] = _lines_in(block, points, owners == rank, starts)
        own = owners == block.rank
        outside = np.ones(self.lines, bool)
        outside[_lines_in(Decomposition(block.shape), points, np.ones(len(own), bool), starts)] = False
        self._outside = np.flatnonzero(outside)
        for other in _touched(block, points, own):
            columns = _lines_in(other, points, own, starts)
            if len(columns):
                self._coming[other.rank] = columns

    @property
    def alone(self) -> bool:
        """Whether all lines stay here, and none comes."""
        return not (self._leaving or self._coming)

    def complete(self, lines: np.ndarray) -> None:
        """Collective among those with receivers near their borders. Fill the columns of lines (steps, lines) that
        others have taken."""
        if len(self._outside):
            lines[:, self._outside] = 0
        if self.alone:
            return
        room = {rank: np.empty((len(lines), len(columns)), lines.dtype) for rank, columns in self._coming.items()}
        gone = {rank: np.ascontiguousarray(lines[:, columns]) for rank, columns in self._leaving.items()}
        requests = [self._comm.Irecv(there, rank, TAG) for rank, there in room.items()]
        requests += [self._comm.Isend(here, rank, TAG) for rank, here in gone.items()]
        sent = sum(here.nbytes for here in gone.values())
        with ledger.communication(PHASE, bytes=sent):
            if not MPI.Request.Testall(requests):
                with ledger.waiting_for(next(iter([*room, *gone]))):
                    while not MPI.Request.Testall(requests):  # in which Python can be interrupted
                        os.sched_yield()
        for rank, there in room.items():
            lines[:, self._coming[rank]] = there


def select(block: Decomposition, points: SincPoints) -> tuple[np.ndarray, np.ndarray]:
    """Of points of a grid those that this rank takes lines for or records: their numbers, and the ranks that own their
    nearest cells. Of ranks that have parts of a row along z, the one with the nearest cell's takes its line."""
    owner = np.zeros(len(points.nearest), np.int64)
    mine = reaches(block, points)
    for axis in range(3):
        ends = np.array([last for _, last in block.parts(axis)])
        part = np.minimum(np.searchsorted(ends, points.nearest[:, axis], "right"), len(ends) - 1)
        owner = owner * block.ranks[axis] + part
        if axis == 2:
            mine &= part == block.coordinates[axis]
    numbers = np.flatnonzero(mine | (owner == block.rank))
    return numbers, owner[numbers]


def reaches(block: Decomposition, points: SincPoints) -> np.ndarray:
    """(n,) whether the block has columns of the points' boxes."""
    out = np.ones(len(points.nearest), bool)
    for axis in range(2):
        first, end = points.first[:, axis], points.first[:, axis] + points.count[:, axis]
        out &= (first < block.hi[axis]) & (end > block.lo[axis])
    return out


def room_for(comm: MPI.Intracomm, lines: int, itemsize: int) -> int:
    """Collective. Steps whose lines all ranks have room for."""
    most = lines if comm.size == 1 else comm.allreduce(lines, MPI.MAX)
    return max(1, MOST_BYTES // max(1, most * itemsize))


def lines_bytes(points: int, off_grid: bool, flat: bool, steps: int, itemsize: int) -> int:
    """Of the lines of an advance of so many steps, at most. off_grid: whether any of the points lies between cells.
    flat: two dimensions."""
    lines = points * (WEIGHTS ** (1 if flat else 2) if off_grid else 1)
    return min(steps * lines * itemsize, max(MOST_BYTES, lines * itemsize))


def _touched(block: Decomposition, points: SincPoints, some: np.ndarray) -> Iterator[Decomposition]:
    """The other blocks with the same cells along z that have rows of the boxes of some points."""
    if not some.any():
        return
    first, last = points.first[some], points.first[some] + points.count[some]
    ranges = []
    for axis in (0, 1):
        low, high = first[:, axis].min(), last[:, axis].max()
        ranges.append([part for part, (lo, hi) in enumerate(block.parts(axis)) if lo < high and hi > low])
    for x, y in itertools.product(*ranges):
        rank = (x * block.ranks[1] + y) * block.ranks[2] + block.coordinates[2]
        if rank != block.rank:
            yield replace(block, rank=rank)


def _lines_in(block: Decomposition, points: SincPoints, some: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Columns of the lines of some points whose rows a block owns, in the order of points and rows."""
    first, count = points.first[some], points.count[some]
    n = np.arange(WEIGHTS)
    x, y = (first[:, axis, None] + n for axis in (0, 1))
    in_x, in_y = (
        (n < count[:, axis, None]) & (rows >= block.lo[axis]) & (rows < block.hi[axis])
        for axis, rows in ((0, x), (1, y))
    )
    columns = starts[some][:, None, None] + n[:, None] * count[:, 1, None, None] + n
    return np.asarray(columns[in_x[:, :, None] & in_y[:, None, :]])


class Recording:
    """The lines of an advance on their way to a series.

    Args:
        receivers: of this rank. recorded: (steps, receivers) that it fills. room: of earlier advances, used again.
    """

    def __init__(self, receivers: Receivers, recorded: np.ndarray, room: np.ndarray | None) -> None:
        self._receivers, self._recorded = receivers, recorded
        steps = min(len(recorded), receivers.steps)
        shape = steps, receivers.exchange.lines
        fits = room is not None and room.dtype == recorded.dtype and room.size >= math.prod(shape)
        self.room = room if fits and room is not None else np.empty(math.prod(shape), recorded.dtype)
        self._lines = self.room[: math.prod(shape)].reshape(shape)
        self._start = 0

    def parts(self, steps: int) -> Iterator[slice]:
        """The steps of an advance in parts whose lines there is room for; a part's are added up when it ends."""
        for start in range(0, steps, self._receivers.steps):
            part = slice(start, min(start + self._receivers.steps, steps))
            self._start = start
            yield part
            lines = self._lines[: part.stop - part.start]
            self._receivers.exchange.complete(lines)
            if len(self._receivers.indices):
                self._receivers.native.add_up(lines, self._recorded[part])

    def arguments(self, steps: slice) -> dict[str, Any]:
        """Of the kernels' job of some of the part's steps."""
        if not self._receivers.exchange.lines:
            return {}
        lines = self._lines[steps.start - self._start : steps.stop - self._start]
        return {"receivers": self._receivers.native, "lines": lines}
