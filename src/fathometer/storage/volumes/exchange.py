"""Blocks change hands: each rank gives the part of an array that it has, and gets the part that it wants."""

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
    """Collective. The block [lo, hi) of an array whose parts the ranks have: `have` lies at `at`.

    Parts that are had must not overlap, blocks that are wanted may; dtypes are the same on all ranks. What no rank has
    is zero. FathometerError on all ranks alike where one has no memory for it.
    """
    mine = tuple(at), tuple(a + n for a, n in zip(at, have.shape, strict=True))
    wanted = tuple(lo), tuple(hi)
    boxes = allgather(comm, (mine, wanted))
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
                if rank != comm.rank and (box := overlap(mine, want))
            ]
        except MemoryError:
            raise FathometerError("not enough memory to exchange blocks of a volume between ranks") from None
    with ledger.communication(bytes=sum(data.nbytes for _, data in outgoing)):
        requests = [comm.Irecv(piece, rank, TAG) for rank, _, data in incoming for piece in _pieces(data)]
        requests += [comm.Isend(piece, rank, TAG) for rank, data in outgoing for piece in _pieces(data)]
        for request in requests:
            request.Wait()
    for _, box, data in incoming:
        result[within(box, lo)] = data
    if own := overlap(mine, wanted):
        result[within(own, lo)] = have[within(own, at)]
    return result


def _pieces(data: NDArray[Any]) -> list[NDArray[np.uint8]]:
    """The bytes of a contiguous array, as many as one message may have at a time; they arrive in the order sent."""
    flat = data.reshape(-1).view(np.uint8)
    return [flat[first : first + LARGEST_MESSAGE] for first in range(0, flat.size, LARGEST_MESSAGE)]
