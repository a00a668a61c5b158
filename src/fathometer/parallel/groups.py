"""Groups of consecutive ranks, each with a communicator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fathometer.base import ledger
from fathometer.parallel.collectives import synchronised

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True)
class Group:
    """A group of consecutive ranks.

    Attributes:
        number: of this group, from 0. groups: how many there are. first: its first rank. size: number of its ranks.
    """

    number: int
    groups: int
    first: int
    size: int

    @classmethod
    def of(cls, rank: int, size: int, ranks_per_group: int) -> Self:
        """The group of `rank` where `size` ranks are divided into groups of at least ranks_per_group.

        >>> [Group.of(rank, 5, 2).number for rank in range(5)]
        [0, 0, 0, 1, 1]
        """
        groups = max(1, size // ranks_per_group)
        number = rank * groups // size
        first, end = (-(-size * n // groups) for n in (number, number + 1))
        return cls(number, groups, first, end - first)


def split_into_groups(comm: MPI.Intracomm, ranks_per_group: int) -> tuple[Group, MPI.Intracomm]:
    """Collective. This rank's group and its communicator, by MPI_Comm_split; `comm` itself where there is one group."""
    from mpi4py import MPI

    group = Group.of(comm.rank, comm.size, ranks_per_group)
    if group.groups == 1:
        return group, comm
    with ledger.phase("set up"), synchronised(comm), ledger.communication():
        return group, MPI.Intracomm(comm.Split(group.number, comm.rank))
