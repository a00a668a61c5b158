"""Redistribution of an array among ranks: each gives the block that it has, and gets the block that it wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import LARGEST_MESSAGE, allgather, collective_errors
from fathometer.storage.volumes.boxes import extent, overlap, within

if TYPE_CHECKING:
    from mpi4py import MPI

TAG = 77


def exchange(
    comm: MPI.Intracomm, have: NDArray[Any], at: Sequence[int], lo: Sequence[int], hi: Sequence[int]
) -> NDArray[Any]:
    """Collective. The block [lo, hi) of an array of which each rank has one block, `have`, from cell `at` on.

    Blocks that ranks have must not overlap, those that they want may; the dtype is the same on all ranks. Cells that no
    rank has are zero. FathometerError, the same on all ranks, where one lacks memory.
    """
    owned = tuple(at), tuple(a + n for a, n in zip(at, have.shape, strict=True))
    wanted = tuple(lo), tuple(hi)
    boxes = allgather(comm, (owned, wanted))
    with collective_errors(comm):
        try:
            result = np.zeros(extent(wanted), have.dtype)
            incoming = [
                (rank, box, np.empty(extent(box), have.dtype))
                for rank, (theirs, _) in enumerate(boxes)
                if rank != comm.rank and (box := overlap(theirs, wanted))
            ]
            outgoing = [
                (rank, np.ascontiguousarray(have[within(box, at)]))
                for rank, (_, want) in enumerate(boxes)
                if rank != comm.rank and (box := overlap(owned, want))
            ]
        except MemoryError:
            raise FathometerError("not enough memory to exchange blocks of a volume between ranks") from None
    with ledger.communication(bytes=sum(data.nbytes for _, data in outgoing)):
        requests = [comm.Irecv(message, rank, TAG) for rank, _, data in incoming for message in _messages(data)]
        requests += [comm.Isend(message, rank, TAG) for rank, data in outgoing for message in _messages(data)]
        for request in requests:
            request.Wait()
    for _, box, data in incoming:
        result[within(box, lo)] = data
    if kept := overlap(owned, wanted):
        result[within(kept, lo)] = have[within(kept, at)]
    return result


def _messages(data: NDArray[Any]) -> list[NDArray[np.uint8]]:
    """The bytes of a contiguous array in messages of at most LARGEST_MESSAGE, which arrive in the order sent."""
    flat = data.reshape(-1).view(np.uint8)
    return [flat[first : first + LARGEST_MESSAGE] for first in range(0, flat.size, LARGEST_MESSAGE)]
