"""Halo exchange between neighbouring blocks, by persistent MPI requests.

    for each neighbour (a face, and by option an edge or a corner), for each field:
        receive its owned cells into my halo; send my owned cells next to it
    for each neighbour that sends to me: an empty message, sent when it starts the exchange
    start: MPI_Startall; test: MPI_Testall, for progress; wait: for the neighbours' empty messages, then for all

Every message is an MPI subarray datatype of a field array, cut so that a single call moves at most 1 GiB. The empty
messages separate the time of waiting for a late neighbour (idle) from that of the transfer (communication).
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import LARGEST_MESSAGE
from fathometer.parallel.decomposition import Decomposition, Index3

Region = tuple[slice, slice, slice]


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


def pieces(cells: Region, itemsize: int, largest: int = LARGEST_MESSAGE) -> Iterator[Region]:
    """The region in parts of at most `largest` bytes, cut along its slowest axes; itemsize: bytes of a cell."""
    lengths = [s.stop - s.start for s in cells]
    if lengths[0] * lengths[1] * lengths[2] * itemsize <= largest:
        yield cells
        return
    axis = next(a for a in range(3) if lengths[a] > 1)
    middle = cells[axis].start + lengths[axis] // 2
    for part in (slice(cells[axis].start, middle), slice(middle, cells[axis].stop)):
        halves = list(cells)
        halves[axis] = part
        yield from pieces((halves[0], halves[1], halves[2]), itemsize, largest)


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
        self._arrivals: list[tuple[int, MPI.Prequest]] = []  # sender, empty message from it
        self._announcements: list[MPI.Prequest] = []  # empty messages to the receivers
        self.bytes_sent = 0
        shape = decomposition.local_shape
        tag = 0
        receivers: dict[int, None] = {}
        senders: dict[int, None] = {}
        for field in fields:
            itemsize = field.array.itemsize
            # The same order of directions on all ranks gives both ends of a message the same tag.
            for direction in directions(range(3), True):
                opposite = (-direction[0], -direction[1], -direction[2])
                exchanged = set(directions(field.axes, corners))
                # Parts of one face have the same tag: MPI's messages do not overtake, so their order matches them.
                if direction in exchanged and (to := decomposition.neighbour(direction)) is not None:
                    for part in pieces(region(field.first, shape, direction, depth, False), itemsize, largest):
                        self._requests.append(comm.Send_init([field.array, 1, self._subarray(field, part)], to, tag))
                        self.bytes_sent += itemsize * math.prod(s.stop - s.start for s in part)
                        receivers[to] = None
                if direction in exchanged and (source := decomposition.neighbour(opposite)) is not None:
                    for part in pieces(region(field.first, shape, opposite, depth, True), itemsize, largest):
                        self._requests.append(
                            comm.Recv_init([field.array, 1, self._subarray(field, part)], source, tag)
                        )
                        senders[source] = None
                tag += 1
        for rank in receivers:
            self._announcements.append(comm.Send_init([None, 0, MPI.BYTE], rank, tag))
        for rank in senders:
            self._arrivals.append((rank, comm.Recv_init([None, 0, MPI.BYTE], rank, tag)))

    def _subarray(self, field: HaloField, cells: Region) -> MPI.Datatype:
        element = MPI._typedict[field.array.dtype.char]
        sizes = list(field.array.shape)
        subarray = element.Create_subarray(sizes, [s.stop - s.start for s in cells], [s.start for s in cells])
        self._types.append(subarray.Commit())
        return subarray

    def start(self) -> None:
        """Start sending the owned cells and receiving the halos."""
        if self._requests:
            with ledger.communication("halo exchange", bytes=self.bytes_sent):
                MPI.Prequest.Startall(self._announcements + [request for _, request in self._arrivals])
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
            for rank, arrival in self._arrivals:
                if not arrival.Test():
                    with ledger.waiting_for(rank):
                        while not arrival.Test():
                            os.sched_yield()  # where ranks share a core, the late neighbour may need it
            while not MPI.Request.Testall(self._announcements + self._requests):
                os.sched_yield()

    def close(self) -> None:
        """Free the requests and datatypes; no exchange may be in progress."""
        for request in [*self._requests, *self._announcements, *(request for _, request in self._arrivals)]:
            request.Free()
        for datatype in self._types:
            datatype.Free()
        self._requests.clear()
        self._announcements.clear()
        self._arrivals.clear()
        self._types.clear()
