"""Exchange of halo cells between neighbouring blocks, by persistent requests.

    for each neighbour (a face, and by option an edge or a corner), for each field:
        receive its owned cells into my halo; send my owned cells next to it
    for each neighbour that sends to me: an empty message, which tells that it has come to the exchange
    start: start all; test: let messages travel; wait: wait for the neighbours, then finish all

Every message is one subarray of a field array (no packing here), cut so that a single call moves at most 1 GiB. The
empty messages tell waiting for a neighbour that is late from waiting for its cells to arrive.
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
    """An array [x, y, z] with halo, the index of its first owned cell, and the axes whose faces travel."""

    array: np.ndarray
    first: Index3
    axes: tuple[int, ...] = (0, 1, 2)


def directions(axes: Sequence[int], corners: bool) -> Iterator[Index3]:
    """Offsets of the neighbours that take part: faces of the given axes, or all faces, edges and corners."""
    for x, y, z in itertools.product((-1, 0, 1), repeat=3):
        cut = [axis for axis, step in enumerate((x, y, z)) if step]
        if (corners and cut) or (len(cut) == 1 and cut[0] in axes):
            yield x, y, z


def region(first: Index3, shape: Index3, direction: Index3, depth: int, halo: bool) -> Region:
    """The cells next to a neighbour: my halo (`halo`) or my owned cells that it needs."""
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
    """Cut a region along its slowest axes until no piece has more than `largest` bytes."""
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
    """Fills the halos of some arrays, again and again.

    Args:
        comm: communicator whose ranks are those of the decomposition.
        decomposition: this rank's block.
        fields: the arrays, of any dtype; their halo must be at least `depth` wide on every cut axis.
        depth: planes that travel.
        corners: whether halo edges and corners are filled too (all axes then).

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
        self._arrivals: list[tuple[int, MPI.Prequest]] = []
        self._calls: list[MPI.Prequest] = []
        self.bytes_sent = 0
        shape = decomposition.local_shape
        tag = 0
        receivers: dict[int, None] = {}
        senders: dict[int, None] = {}
        for field in fields:
            itemsize = field.array.itemsize
            # A fixed order of directions gives sender and receiver the same tag for the same message.
            for direction in directions(range(3), True):
                opposite = (-direction[0], -direction[1], -direction[2])
                wanted = set(directions(field.axes, corners))
                # Pieces of one face are told apart by the order of their requests: messages do not overtake.
                if direction in wanted and (to := decomposition.neighbour(direction)) is not None:
                    for part in pieces(region(field.first, shape, direction, depth, False), itemsize, largest):
                        self._requests.append(comm.Send_init([field.array, 1, self._subarray(field, part)], to, tag))
                        self.bytes_sent += itemsize * math.prod(s.stop - s.start for s in part)
                        receivers[to] = None
                if direction in wanted and (source := decomposition.neighbour(opposite)) is not None:
                    for part in pieces(region(field.first, shape, opposite, depth, True), itemsize, largest):
                        self._requests.append(
                            comm.Recv_init([field.array, 1, self._subarray(field, part)], source, tag)
                        )
                        senders[source] = None
                tag += 1
        for rank in receivers:
            self._calls.append(comm.Send_init([None, 0, MPI.BYTE], rank, tag))
        for rank in senders:
            self._arrivals.append((rank, comm.Recv_init([None, 0, MPI.BYTE], rank, tag)))

    def _subarray(self, field: HaloField, cells: Region) -> MPI.Datatype:
        element = MPI._typedict[field.array.dtype.char]
        sizes = list(field.array.shape)
        subarray = element.Create_subarray(sizes, [s.stop - s.start for s in cells], [s.start for s in cells])
        self._types.append(subarray.Commit())
        return subarray

    def start(self) -> None:
        """Begin an exchange of what the arrays hold now."""
        if self._requests:
            with ledger.communication("halo exchange", bytes=self.bytes_sent):
                MPI.Prequest.Startall(self._calls + [request for _, request in self._arrivals])
                MPI.Prequest.Startall(self._requests)

    def test(self) -> None:
        """Let messages travel: without a progress thread they move only inside MPI calls."""
        if self._requests:
            with ledger.communication("halo exchange"):
                MPI.Request.Testall(self._requests)

    def wait(self) -> None:
        """Finish the exchange: the halos are filled, and owned cells may be written again.

        Not inside one MPI call, in which Python would not heed an interrupt while a neighbour is silent.
        """
        if not self._requests:
            return
        with ledger.communication("halo exchange"):
            for rank, arrival in self._arrivals:
                if not arrival.Test():
                    with ledger.waiting_for(rank):
                        while not arrival.Test():
                            os.sched_yield()  # where ranks share a core, the silent neighbour may need it
            while not MPI.Request.Testall(self._calls + self._requests):
                os.sched_yield()

    def close(self) -> None:
        """Give the requests and datatypes back to MPI; no exchange may be under way."""
        for request in [*self._requests, *self._calls, *(request for _, request in self._arrivals)]:
            request.Free()
        for datatype in self._types:
            datatype.Free()
        self._requests.clear()
        self._calls.clear()
        self._arrivals.clear()
        self._types.clear()
