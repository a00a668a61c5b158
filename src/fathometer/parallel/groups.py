"""Groups of neighbouring ranks, each with work of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fathometer.parallel.collectives import barrier

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True)
class Group:
    """One of `groups` groups of neighbouring ranks: its number, its first rank, its size."""

    number: int
    groups: int
    first: int
    size: int

    @classmethod
    def of(cls, rank: int, size: int, ranks_per_group: int) -> Self:
        """The group of a rank, of `size` ranks in groups of (nearly) ranks_per_group.

        >>> [Group.of(rank, 5, 2).number for rank in range(5)]
        [0, 0, 0, 1, 1]
        """
        groups = max(1, size // ranks_per_group)
        number = rank * groups // size
        first, end = (-(-size * n // groups) for n in (number, number + 1))
        return cls(number, groups, first, end - first)


def split_into_groups(comm: MPI.Intracomm, ranks_per_group: int) -> tuple[Group, MPI.Intracomm]:
    """Collective. This rank's group, and a communicator of its ranks: `comm` itself where there is one group only."""
    from mpi4py import MPI

    group = Group.of(comm.rank, comm.size, ranks_per_group)
    if group.groups == 1:
        return group, comm
    barrier(comm)
    return group, MPI.Intracomm(comm.Split(group.number, comm.rank))
