"""Halo exchange of blocks: a message to each neighbouring rank for all blocks and arrays together; of one block a rank,
straight from its arrays: parallel/halo.py.

    start:  what is sent goes into buffers, by one native call that copies between own blocks too; MPI_Startall
    wait:   MPI_Testall until all is there; buffers to halos

The ring around each block is cut into the parts that other blocks own, corners included, whatever the sizes of blocks;
both ends of a message list these parts in the same order. Cells outside the grid, and of blocks that are left out, are
not touched. Messages are persistent requests. All have one tag: exchanges of a communicator are started in the same
order on all its ranks, and MPI's messages do not overtake.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.ocean.barotropic.block_layout import HALO, Layout
from fathometer.base import ledger

if TYPE_CHECKING:
    from mpi4py import MPI

Integers = npt.NDArray[np.int64]
TAG = 8201


class BlockHalo:
    """Exchange of the halos of some arrays, set up once and repeated.

    Args:
        layout: of this rank. comm: whose ranks are those of the layout.
        arrays: float64 arrays (nb, X, Y, ...) with the width, up to HALO, of the halo that is filled. They are bound:
            the same arrays are exchanged each time.
        name: of the phase in the ledger.

    Attributes:
        bytes_sent: by this rank in one exchange, to other ranks. messages: the same.

    Raises ValueError where an array has not the layout's shape.
    """

    def __init__(
        self,
        layout: Layout,
        comm: MPI.Intracomm,
        arrays: Sequence[tuple[npt.NDArray[np.float64], int]],
        name: str = "halo exchange",
    ) -> None:
        self.name = name
        for array, width in arrays:
            if array.shape[:3] != layout.shaped() or not 0 < width <= HALO:
                raise ValueError(f"an array of shape {array.shape} with a halo of {width} in blocks {layout.shaped()}")
        own = [n for n, block in enumerate(layout.blocks) if block.rank == layout.rank]
        position = {n: place for place, n in enumerate(own)}
        packings: dict[bool, list[Integers]] = {True: [], False: []}
        lengths: dict[bool, dict[int, int]] = {True: {}, False: {}}
        moved: list[Integers] = []
        owners = np.array([block.rank for block in layout.blocks], np.int64)
        for width in {width for _, width in arrays}:
            local = _parts(layout, own, True, width)
            local = local[owners[local[:, 1]] == layout.rank]
            for number, (array, its_width) in enumerate(arrays):
                if its_width == width:
                    moved.append(_moves(layout, position, local, array, number))
        for sending in (True, False):
            total = 0
            peers = _peers(layout, own, owners, max((width for _, width in arrays), default=1), sending)
            for peer in peers:
                begin = total
                for number, (array, width) in enumerate(arrays):
                    parts = _parts(layout, own, not sending, width)
                    parts = parts[owners[parts[:, 0 if sending else 1]] == peer]
                    rows, total = _packings(layout, position, parts, array, number, sending, total)
                    packings[sending].append(rows)
                lengths[sending][peer] = total - begin
        self._buffers = {s: np.empty(sum(lengths[s].values())) for s in (True, False)}
        self._copies = _native.BlockHaloCopies(
            arrays=[array for array, _ in arrays],
            sent=_stacked(packings[True]),
            received=_stacked(packings[False]),
            moved=_stacked(moved),
            send_buffer=self._buffers[True],
            receive_buffer=self._buffers[False],
        )
        self.bytes_sent = self._buffers[True].nbytes
        self.messages = len(lengths[True])
        self._requests: list[Any] = []
        for sending, init in ((False, comm.Recv_init), (True, comm.Send_init)):
            begin = 0
            for peer, length in lengths[sending].items():
                self._requests.append(init(self._buffers[sending][begin : begin + length], peer, TAG))
                begin += length
        if self._requests:
            from mpi4py import MPI

            self._start_all, self._test_all = MPI.Prequest.Startall, MPI.Request.Testall

    def start(self) -> None:
        """Start sending owned cells; halos that this rank's own blocks fill are filled."""
        with ledger.communication(self.name, self.bytes_sent):
            self._copies.pack()
            if self._requests:
                self._start_all(self._requests)

    def test(self) -> None:
        """Let MPI make progress."""
        if self._requests:
            with ledger.communication(self.name):
                self._test_all(self._requests)

    def wait(self) -> None:
        """Finish the exchange: halos are filled. In a loop of MPI_Testall, which can be interrupted."""
        if self._requests:
            with ledger.communication(self.name):
                self._wait()

    def exchange(self) -> None:
        """Start and wait."""
        with ledger.communication(self.name, self.bytes_sent):
            self._copies.pack()
            if self._requests:
                self._start_all(self._requests)
                self._wait()

    def _wait(self) -> None:
        while not self._test_all(self._requests):
            os.sched_yield()  # where ranks share a core, the neighbour may need it
        self._copies.unpack()

    def close(self) -> None:
        """Free the requests; no exchange may be in progress."""
        for request in self._requests:
            request.Free()
        self._requests.clear()


def _parts(layout: Layout, own: Sequence[int], into: bool, width: int) -> Integers:
    """Parts of rings of `width` cells into which the `own` blocks receive (`into`) or from which others do.

    Rows: block that receives, block that has the cells, bounds x0, x1, y0, y1 in the grid as the receiver counts, shift
    along x of where the cells are; ordered by the first two and the shift.
    """
    lo = np.array([block.lo for block in layout.blocks], np.int64).reshape(-1, 2)
    hi = np.array([block.hi for block in layout.blocks], np.int64).reshape(-1, 2)
    turns = -(-width // layout.shape[0]) if layout.periodic else 0
    found = []
    for one in own:
        for turn in range(-turns, turns + 1):
            shift = np.array([turn * layout.shape[0], 0])
            # The owner's cells, moved by the shift, in the ring of the receiver.
            if into:
                low, high = np.maximum(lo[one] - width, lo + shift), np.minimum(hi[one] + width, hi + shift)
            else:
                low, high = np.maximum(lo - width, lo[one] + shift), np.minimum(hi + width, hi[one] + shift)
            meets = (low < high).all(axis=1)
            meets[one] &= turn != 0
            other = np.flatnonzero(meets)
            same = np.full(len(other), one)
            receivers, sources = (same, other) if into else (other, same)
            bounds = [low[other, 0], high[other, 0], low[other, 1], high[other, 1]]
            found.append(np.stack([receivers, sources, *bounds, np.full(len(other), shift[0])], axis=1))
    if not found:
        return np.empty((0, 7), np.int64)
    parts = np.concatenate(found)
    return parts[np.lexsort((parts[:, 6], parts[:, 1], parts[:, 0]))]


def _peers(layout: Layout, own: Sequence[int], owners: Integers, width: int, sending: bool) -> list[int]:
    """Ranks, other than this one, to which this one sends or from which it receives."""
    found = np.unique(owners[_parts(layout, own, not sending, width)[:, 0 if sending else 1]])
    return [int(rank) for rank in found if rank != layout.rank]


def _offset(layout: Layout, place: int, block: int, x: int, y: int, array: npt.NDArray[np.float64]) -> int:
    """Of the element of a blocked array at a cell of the grid, as a block counts."""
    of = layout.blocks[block]
    cell: int = (place * array.shape[1] + x - of.lo[0] + HALO) * array.shape[2] + y - of.lo[1] + HALO
    return cell * int(np.prod(array.shape[3:], dtype=np.int64))


def _packings(
    layout: Layout,
    position: dict[int, int],
    parts: Integers,
    array: npt.NDArray[np.float64],
    number: int,
    sending: bool,
    total: int,
) -> tuple[Integers, int]:
    """Rows as the kernel takes them, one behind the other in a buffer from element `total` on; and where they end."""
    each = int(np.prod(array.shape[3:], dtype=np.int64))
    rows = np.empty((len(parts), 5), np.int64)
    for n, (receiver, source, x0, x1, y0, y1, shift) in enumerate(parts.tolist()):
        block, x = (source, x0 - shift) if sending else (receiver, x0)
        rows[n] = number, _offset(layout, position[block], block, x, y0, array), x1 - x0, (y1 - y0) * each, total
        total += (x1 - x0) * (y1 - y0) * each
    return rows, total


def _moves(
    layout: Layout, position: dict[int, int], parts: Integers, array: npt.NDArray[np.float64], number: int
) -> Integers:
    """The same between blocks of this rank."""
    each = int(np.prod(array.shape[3:], dtype=np.int64))
    rows = np.empty((len(parts), 5), np.int64)
    for n, (receiver, source, x0, x1, y0, y1, shift) in enumerate(parts.tolist()):
        origin = _offset(layout, position[source], source, x0 - shift, y0, array)
        target = _offset(layout, position[receiver], receiver, x0, y0, array)
        rows[n] = number, origin, target, x1 - x0, (y1 - y0) * each
    return rows


def _stacked(rows: Sequence[Integers]) -> Integers:
    return np.concatenate([np.empty((0, 5), np.int64), *rows])
