"""Memory budget of each host: what a run may allocate there, and a check before it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.base.host import available_memory, total_memory
from fathometer.parallel.collectives import barrier

if TYPE_CHECKING:
    from mpi4py import MPI

MEMORY_SHARE = 0.7  # fraction of a host's memory for a run: what a production code found safe on nodes of 48 GB
USABLE_SHARE = 0.9  # fraction of the free memory; the rest is for the interpreter, MPI's buffers and the unforeseen


def usable_memory(comm: MPI.Intracomm, share: float = MEMORY_SHARE) -> int:
    """Collective. Bytes that the ranks of this host may allocate together; to be called before they allocate any.

    share: fraction of the host's memory, at most; what is free now may be less.
    """
    host = _ranks_of_host(comm)
    usable: int = host.bcast(int(min(USABLE_SHARE * available_memory(), share * total_memory())))
    host.Free()
    return usable


def memory_of_rank(comm: MPI.Intracomm, usable: int) -> float:
    """Collective. The least over all hosts of the usable bytes per rank; usable: bytes on this rank's host."""
    host = _ranks_of_host(comm)
    own = usable / host.size
    host.Free()
    smallest: float = min(comm.allgather(own))
    return smallest


def spare_memory(own: int, usable: int, comm: MPI.Intracomm) -> int:
    """Collective. Bytes per rank that are left of the host's `usable` ones after each of its ranks takes its `own`."""
    host = _ranks_of_host(comm)
    spare: int = (usable - host.allreduce(own)) // host.size
    host.Free()
    return max(0, spare)


def require_memory(
    parts: Mapping[str, int], usable: int, comm: MPI.Intracomm, advice: str = "use more hosts or a smaller grid"
) -> int:
    """Collective. Check that the ranks' memory fits their hosts; returns the bytes that this rank needs.

    Args:
        parts: bytes of this rank by the name of what takes them. usable: bytes for all ranks of this host.
        advice: what to change, for the message.

    Raises InputError, the same on all ranks, where the ranks of a host need more than is usable there: how much is
    needed and available, and the parts, the largest first.
    """
    own = sum(parts.values())
    host = _ranks_of_host(comm)
    needed = host.allreduce(own)
    ranks = host.size
    host.Free()
    worst = max(comm.allgather((needed - usable, needed, usable, ranks, dict(parts))), key=lambda entry: entry[0])
    excess, needed, usable, ranks, parts = worst
    if excess > 0:
        listed = ", ".join(f"{name} {bytes_in_words(b)}" for name, b in sorted(parts.items(), key=lambda p: -p[1]))
        raise InputError(
            f"not enough memory: {bytes_in_words(needed)} needed on a host with {bytes_in_words(usable)} available to "
            f"its {number_of(ranks, 'rank')} ({listed}, each rank); {advice}"
        )
    return own


def _ranks_of_host(comm: MPI.Intracomm) -> MPI.Intracomm:
    """Collective. A communicator of the ranks of this host, by MPI_Comm_split_type; the caller frees it."""
    from mpi4py import MPI

    barrier(comm)
    return MPI.Intracomm(comm.Split_type(MPI.COMM_TYPE_SHARED))
