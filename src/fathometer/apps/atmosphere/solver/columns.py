"""Columns of air on ranks: which of them computes the physics of which column, and how columns come there and back.

A column's number is that of its place on the grid in the order [pair, hemisphere, longitude]. The dynamics has whole
rings of latitude. Results do not depend on where a column is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.parallel.collectives import allgather, allreduce, together
from fathometer.parallel.decomposition import split
from fathometer.parallel.halo import MOST_NUMBERS

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
LAYOUTS = ("pairs", "blocks")
BALANCES = ("none", "node", "all", "partner")
PHASE = "move columns"
TAG = MOST_NUMBERS - 3  # beside those of transposes and overlaps
GOLDEN = (math.sqrt(5) - 1) / 2


def blocks_of(ranks: int) -> tuple[int, int]:
    """Blocks along latitude and longitude: at least as many along longitude, which has twice the places.

    >>> blocks_of(32)
    (4, 8)
    """
    along = max(number for number in range(1, math.isqrt(ranks) + 1) if ranks % number == 0)
    return along, ranks // along


def homes(layout: str, pairs: int, longitudes: int, ranks: int) -> Integers:
    """The rank of each column before columns are balanced: pairs of latitudes as the dynamics has them, or blocks of
    latitudes and longitudes, numbered eastward and then northward."""
    if layout == "pairs":
        sizes = [2 * longitudes * (hi - lo) for lo, hi in (split(pairs, ranks, rank) for rank in range(ranks))]
        return np.repeat(np.arange(ranks), sizes)
    along, across = blocks_of(ranks)
    block = [_shares(2 * pairs, along), _shares(longitudes, across)]
    north = np.arange(2 * pairs)[::-1][:pairs]  # of each pair, from the south
    latitude = np.stack([north, np.arange(pairs)], axis=1).reshape(-1)
    return (block[0][latitude][:, None] * across + block[1]).reshape(-1)


def _shares(length: int, parts: int) -> Integers:
    """The part that each of some cells belongs to."""
    return np.repeat(np.arange(parts), [hi - lo for lo, hi in (split(length, parts, part) for part in range(parts))])


def partner_of(layout: str, ranks: int, rank: int) -> int:
    """The rank that a rank shares its columns with, itself where none is left.

    pairs: a rank near the poles and one near the equator. blocks: of the other hemisphere, half the way around.

    >>> [partner_of("pairs", 4, rank) for rank in range(4)], [partner_of("blocks", 4, rank) for rank in range(4)]
    ([3, 2, 1, 0], [3, 2, 1, 0])
    """
    if layout == "pairs":
        return ranks - 1 - rank
    along, across = blocks_of(ranks)
    north, east = divmod(rank, across)
    half = across // 2
    if east < 2 * half:
        east = (east + half) % (2 * half)
    return (along - 1 - north) * across + east


def owners(layout: str, balance: str, pairs: int, longitudes: int, nodes: Sequence[int]) -> Integers:
    """The rank that computes each column.

    Where columns are balanced, ranks of a team deal out theirs one by one along each ring, from another longitude on
    each: all of them get places of all longitudes and latitudes that the team has, as many as the others or one more.

    Args:
        layout: of LAYOUTS. balance: of BALANCES: no team; the ranks of a node; all ranks; two partners.
        nodes: of each rank, by number.
    """
    ranks = len(nodes)
    home = homes(layout, pairs, longitudes, ranks)
    if balance == "none" or ranks == 1:
        return home
    match balance:
        case "node":
            team = np.array(nodes)
        case "partner":
            team = np.array([min(rank, partner_of(layout, ranks, rank)) for rank in range(ranks)])
        case _:
            team = np.zeros(ranks, np.int64)
    ring, place = np.divmod(np.arange(len(home)), longitudes)
    turn = (ring * GOLDEN % 1 * longitudes).astype(np.int64)
    order = np.lexsort((ring * longitudes + (place + turn) % longitudes, team[home]))
    found = np.empty_like(home)
    for one in np.unique(team):
        members = np.flatnonzero(team == one)
        dealt = order[team[home[order]] == one]
        found[dealt] = members[np.arange(len(dealt)) % len(members)]
    return found


def moved(owner: Integers, pairs: int, longitudes: int, ranks: int) -> tuple[int, int]:
    """Columns that are not computed by the rank that the dynamics has them on, and pairs of ranks between which some
    go."""
    home = homes("pairs", pairs, longitudes, ranks)
    away = home != owner
    return int(away.sum()), len(np.unique(home[away] * ranks + owner[away]))


def nodes_of(comm: MPI.Intracomm) -> list[int]:
    """Collective. The node of each rank: the lowest rank on it."""
    from mpi4py import MPI

    node = MPI.Intracomm(comm.Split_type(MPI.COMM_TYPE_SHARED))
    try:
        lowest = allreduce(node, comm.rank, "MIN")
    finally:
        node.Free()
    return allgather(comm, int(lowest))


class Columns:
    """Columns that come to the ranks that compute them, and back.

    Args:
        home: the rank that has each column in the dynamics, one rank's after the other's. owner: that computes it.
        all_to_all: by MPI_Alltoallv; else messages between ranks that share columns, by MPI_Isend and MPI_Irecv.

    Attributes:
        numbers: of the columns that this rank computes.
        stay: whether no rank's columns move.
    """

    def __init__(self, home: Integers, owner: Integers, comm: MPI.Intracomm, all_to_all: bool) -> None:
        self._comm, self._all_to_all = comm, all_to_all
        there = owner[home == comm.rank]
        self.numbers = np.flatnonzero(owner == comm.rank)
        self.stay = bool((home == owner).all())
        self._order = np.argsort(there, kind="stable")  # own columns by the rank they go to
        self._leaving = np.bincount(there, minlength=comm.size).tolist()
        # Numbers on a rank rise: what comes is in the order of the ranks that it comes from.
        self._coming = np.bincount(home[self.numbers], minlength=comm.size).tolist()

    def bring(self, values: Floats) -> Floats:
        """Collective. [column, any] of `numbers`, from [column, any] of those that the dynamics has here."""
        if self.stay:
            return values
        with ledger.phase(PHASE):
            leaving = values[self._order]
            coming = np.empty((len(self.numbers), values.shape[1]))
            self._move(leaving, self._leaving, coming, self._coming)
        return coming

    def take_back(self, values: Floats, *targets: Floats) -> None:
        """Collective. Fill targets [column, any] of columns that the dynamics has here, next to each other in `values`
        [column, any] of `numbers`."""
        with ledger.phase(PHASE):
            coming = np.empty((len(self._order), values.shape[1]))
            self._move(values, self._coming, coming, self._leaving)
            begin = 0
            for target in targets:
                target[self._order] = coming[:, begin : begin + target.shape[1]]
                begin += target.shape[1]

    def _move(self, leaving: Floats, out: list[int], coming: Floats, into: list[int]) -> None:
        """Columns by rank: counts `out` of them leave, `into` come."""
        from mpi4py import MPI

        comm, own = self._comm, self._comm.rank
        bytes = leaving.itemsize * leaving.shape[1] * (len(leaving) - out[own])
        column = MPI.DOUBLE.Create_contiguous(leaving.shape[1]).Commit()
        try:
            with together(comm), ledger.communication(bytes=bytes):
                if self._all_to_all:
                    comm.Alltoallv([leaving, out, column], [coming, into, column])
                else:
                    self._point_to_point(leaving, out, coming, into, column)
        finally:
            column.Free()

    def _point_to_point(
        self, leaving: Floats, out: list[int], coming: Floats, into: list[int], column: MPI.Datatype
    ) -> None:
        from mpi4py import MPI

        comm, own = self._comm, self._comm.rank
        leaves = [leaving[end - count : end] for end, count in zip(np.cumsum(out), out, strict=True)]
        comes = [coming[end - count : end] for end, count in zip(np.cumsum(into), into, strict=True)]
        requests = []
        for step in range(1, comm.size):
            above, below = (own + step) % comm.size, (own - step) % comm.size
            if into[below]:
                requests.append(comm.Irecv([comes[below], into[below], column], below, TAG))
            if out[above]:
                requests.append(comm.Isend([leaves[above], out[above], column], above, TAG))
        comes[own][...] = leaves[own]
        MPI.Request.Waitall(requests)
