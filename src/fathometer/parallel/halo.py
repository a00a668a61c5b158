"""Halo exchange between neighbouring blocks, by persistent MPI requests.

    for each neighbour (a face, and by option an edge or a corner), for each field:
        receive its owned cells into my halo; send my owned cells next to it
    to each neighbour that receives from me: an empty message, sent when I begin to wait
    start: MPI_Startall; test: MPI_Testall, for progress; wait: until all has come and gone

Every message is an MPI subarray datatype of a field array, cut so that a single call moves at most 1 GiB. A rank has
one block here, and each field messages of its own; apps/ocean/barotropic/halo.py is for several blocks a rank of any
sizes, whose short messages go together.

While a neighbour computes, messages from it move only where it tests. Its empty message says that it computes no more.
So seconds of waiting for a late neighbour (idle) are told from those of the transfer (communication). Nobody waits for
the empty message itself: a rank whose data have come goes on, up to an exchange before its neighbour.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import LARGEST_MESSAGE
from fathometer.parallel.decomposition import Decomposition, Index3

Region = tuple[slice, slice, slice]
MOST_NUMBERS = 1 << 14  # tags go up to 2^15 at least; the lower half is for other messages
LAST_WORD_SECONDS = 1.0  # that `close` waits for a neighbour which is still in the last exchange


@dataclass(frozen=True)
class HaloField:
    """A field with halo.

    Attributes:
        array: [x, y, z], any dtype. first: index of its first owned cell. axes: whose faces are exchanged.
    """

    array: np.ndarray
    first: Index3
    axes: tuple[int, ...] = (0, 1, 2)


def directions(axes: Sequence[int], corners: bool) -> Iterator[Index3]:
    """Offsets (-1, 0, 1 per axis) of the neighbours: across faces of `axes`, or across all faces, edges and corners."""
    for x, y, z in itertools.product((-1, 0, 1), repeat=3):
        cut = [axis for axis, step in enumerate((x, y, z)) if step]
        if (corners and cut) or (len(cut) == 1 and cut[0] in axes):
            yield x, y, z


def region(first: Index3, shape: Index3, direction: Index3, depth: int, halo: bool) -> Region:
    """Local slices of the cells towards a neighbour: the halo (`halo`), or the owned cells that it receives.

    first: index of the first owned cell. shape: owned cells. direction: offset of the neighbour. depth: planes.
    """
    slices = []
    for start, n, step in zip(first, shape, direction, strict=True):
        if step == 0:
            lo, hi = start, start + n
        elif step < 0:
            lo, hi = (start - depth, start) if halo else (start, start + depth)
        else:
            lo, hi = (start + n, start + n + depth) if halo else (start + n - depth, start + n)
        slices.append(slice(lo, hi))
    return slices[0], slices[1], slices[2]


def pieces(cells: tuple[slice, ...], itemsize: int, largest: int = LARGEST_MESSAGE) -> Iterator[tuple[slice, ...]]:
    """The region of an array in parts of at most `largest` bytes, a cell of `itemsize` bytes at least, cut along its
    slowest axes."""
    lengths = [s.stop - s.start for s in cells]
    if math.prod(lengths) * itemsize <= max(largest, itemsize):
        yield cells
        return
    axis = next(a for a, length in enumerate(lengths) if length > 1)
    middle = cells[axis].start + lengths[axis] // 2
    for part in (slice(cells[axis].start, middle), slice(middle, cells[axis].stop)):
        yield from pieces((*cells[:axis], part, *cells[axis + 1 :]), itemsize, largest)


class HaloExchange:
    """Halo exchange of some arrays, set up once and repeated.

    Args:
        comm: communicator whose ranks are those of the decomposition.
        decomposition: this rank's block.
        fields: the arrays, of any dtype; their halo must be at least `depth` wide on every cut axis.
        depth: planes that are exchanged.
        corners: whether halo edges and corners are filled too (all axes then). largest: bytes of a message, at most.


    Attributes:
        bytes_sent: by this rank in one exchange.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        decomposition: Decomposition,
        fields: Sequence[HaloField],
        depth: int,
        corners: bool = False,
        largest: int = LARGEST_MESSAGE,
    ) -> None:
        self._requests: list[MPI.Prequest] = []
        self._types: list[MPI.Datatype] = []
        self._exchanges = 0  # waited for
        self.bytes_sent = 0
        shape = decomposition.local_shape
        tag = 0
        receivers: dict[int, None] = {}
        senders: dict[int, None] = {}
        for number, field in enumerate(fields):
            itemsize = field.array.itemsize
            # The same order of directions on all ranks gives both ends of a message the same tag.
            for direction in directions(range(3), True):
                opposite = (-direction[0], -direction[1], -direction[2])
                exchanged = set(directions(field.axes, corners))
                # Parts of one face have the same tag: MPI's messages do not overtake, so their order matches them.
                if direction in exchanged and (to := decomposition.neighbour(direction)) is not None:
                    for part in pieces(region(field.first, shape, direction, depth, False), itemsize, largest):
                        self._requests.append(comm.Send_init(self._message(number, field, part, False), to, tag))
                        self.bytes_sent += itemsize * math.prod(s.stop - s.start for s in part)
                        receivers[to] = None
                if direction in exchanged and (source := decomposition.neighbour(opposite)) is not None:
                    for part in pieces(region(field.first, shape, opposite, depth, True), itemsize, largest):
                        self._requests.append(comm.Recv_init(self._message(number, field, part, True), source, tag))
                        senders[source] = None
                tag += 1
        tag = MOST_NUMBERS + _number(comm)
        self._announcements = [comm.Send_init([None, 0, MPI.BYTE], rank, tag) for rank in receivers]
        self._neighbours = [_Neighbour(comm, rank, tag) for rank in senders]

    def _message(self, number: int, field: HaloField, cells: tuple[slice, ...], halo: bool) -> list[Any]:
        """What MPI sends or receives of a field: some of its cells. halo: they are received."""
        element = MPI._typedict[field.array.dtype.char]
        sizes = list(field.array.shape)
        subarray = element.Create_subarray(sizes, [s.stop - s.start for s in cells], [s.start for s in cells])
        self._types.append(subarray.Commit())
        return [field.array, 1, subarray]

    def start(self) -> None:
        """Start sending the owned cells and receiving the halos."""
        if self._requests:
            with ledger.communication("halo exchange", bytes=self.bytes_sent):
                MPI.Prequest.Startall(self._requests)

    def test(self) -> None:
        """Let MPI make progress: without a progress thread messages advance only inside MPI calls."""
        if self._requests:
            with ledger.communication("halo exchange"):
                MPI.Request.Testall(self._requests)

    def wait(self) -> None:
        """Finish the exchange: the halos are filled, and owned cells may be written again.

        By MPI_Test in a loop: inside MPI_Waitall Python could not be interrupted while a neighbour is late.
        """
        if not self._requests:
            return
        with ledger.communication("halo exchange"):
            self._exchanges += 1
            MPI.Prequest.Startall(self._announcements)
            while not MPI.Request.Testall(self._requests):
                if late := next((one for one in self._neighbours if one.waits < self._exchanges), None):
                    with ledger.waiting_for(late.rank):
                        while not (late.caught_up(self._exchanges) or MPI.Request.Testall(self._requests)):
                            os.sched_yield()  # where ranks share a core, the late neighbour may need it
                os.sched_yield()
            while not MPI.Request.Testall(self._announcements):
                os.sched_yield()
            for neighbour in self._neighbours:  # else its messages would pile up
                neighbour.caught_up(self._exchanges)

    def close(self) -> None:
        """Free the requests and datatypes; no exchange may be in progress."""
        for neighbour in self._neighbours:
            neighbour.close(self._exchanges)
        for request in [*self._requests, *self._announcements]:
            request.Free()
        for datatype in self._types:
            datatype.Free()
        self._requests.clear()
        self._announcements.clear()
        self._neighbours.clear()
        self._types.clear()


@cache
def _keyval() -> int:
    """What the number of exchanges of a communicator is kept under, there; made once MPI is at work."""
    return MPI.Comm.Create_keyval()


def _number(comm: MPI.Intracomm) -> int:
    """A number of each exchange of a communicator, the same on its ranks, which make exchanges in one order: several
    are in use in turns, and empty messages of one must not be taken for those of another."""
    number: int = comm.Get_attr(_keyval()) or 0
    comm.Set_attr(_keyval(), (number + 1) % MOST_NUMBERS)
    return number


class _Neighbour:
    """Who sends to me, and how many times it has begun to wait."""

    def __init__(self, comm: MPI.Intracomm, rank: int, tag: int) -> None:
        self.rank = rank
        self.waits = 0
        self._empty_message = comm.Recv_init([None, 0, MPI.BYTE], rank, tag)
        self._empty_message.Start()

    def caught_up(self, exchanges: int) -> bool:
        """Whether it has begun to wait for so many exchanges."""
        while self.waits < exchanges and self._empty_message.Test():
            self.waits += 1
            self._empty_message.Start()
        return self.waits >= exchanges

    def close(self, exchanges: int) -> None:
        """After its last empty message, so that none is left for the next exchange; without it where it has stopped
        before."""
        until = time.monotonic() + LAST_WORD_SECONDS
        while not self.caught_up(exchanges) and time.monotonic() < until:
            os.sched_yield()
        self._empty_message.Cancel()
        self._empty_message.Wait()
        self._empty_message.Free()
