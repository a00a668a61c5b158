"""Blocks of an array along its first axis, filled up with cells of other ranks on either side: as many as are wanted,
from as many ranks as have them. apps/atmosphere/solver/tracers.py needs that, whose halos grow with the wind.

    receive what I want of each other rank's block; send what it wants of mine; wait for all

No cells lie beyond the ends of the axis. A single call moves at most 1 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fathometer.base import ledger
from fathometer.parallel.collectives import LARGEST_MESSAGE
from fathometer.parallel.decomposition import split
from fathometer.parallel.halo import MOST_NUMBERS, pieces

if TYPE_CHECKING:
    from mpi4py import MPI

TAG = MOST_NUMBERS - 2  # the one before that of transposes
FUNCTION = "MPI_Isend"


def wanted(cells: int, ranks: int, rank: int, width: int) -> tuple[int, int]:
    """Half-open range of a rank's block, of `decomposition.split`, and of `width` cells on either side.

    >>> [wanted(10, 3, rank, 4) for rank in range(3)]
    [(0, 7), (0, 10), (2, 10)]
    """
    first, last = split(cells, ranks, rank)
    return max(0, first - width), min(cells, last + width)


def shares(cells: int, ranks: int, rank: int, width: int) -> Iterator[tuple[int, int, int]]:
    """Of what a rank wants: each other rank that has some, and the range of it."""
    low, high = wanted(cells, ranks, rank, width)
    for other in range(ranks):
        first, last = split(cells, ranks, other)
        first, last = max(first, low), min(last, high)
        if other != rank and first < last:
            yield other, first, last


def fill(room: np.ndarray, cells: int, width: int, comm: MPI.Intracomm, largest: int = LARGEST_MESSAGE) -> None:
    """Collective. Fill what other ranks own in an array [cell, ...] of a rank's `wanted` range, whose own block is
    there. cells: of the whole axis. largest: bytes of a message, at most."""
    flat = room.reshape(len(room), -1)
    start = wanted(cells, comm.size, comm.rank, width)[0]

    def parts(first: int, last: int) -> Iterator[np.ndarray]:
        region = (slice(first - start, last - start), slice(0, flat.shape[1]))
        for part in pieces(region, flat.itemsize, largest):
            yield flat[part]

    requests, sent = [], 0
    for other, first, last in shares(cells, comm.size, comm.rank, width):
        requests += [comm.Irecv(part, other, TAG) for part in parts(first, last)]
    for other in range(comm.size):
        for owner, first, last in shares(cells, comm.size, other, width):
            if owner == comm.rank:
                requests += [comm.Isend(part, other, TAG) for part in parts(first, last)]
                sent += (last - first) * flat.shape[1] * flat.itemsize
    with ledger.communication(bytes=sent):
        for request in requests:
            request.Wait()
