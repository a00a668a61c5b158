"""What a run needs of each host's memory, asked before anything large is allocated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError
from fathometer.base.host import available_memory, total_memory
from fathometer.parallel.collectives import barrier

if TYPE_CHECKING:
    from mpi4py import MPI

MEMORY_SHARE = 0.7  # of a host's memory that a run may take: what a production code found safe on nodes of 48 GB
USABLE = 0.9  # of what is free now; the rest is left to the interpreter, MPI's buffers and what no estimate sees


def usable_memory(comm: MPI.Intracomm, share: float = MEMORY_SHARE) -> int:
    """Collective. Bytes that the ranks of this rank's host may take together; asked before they have taken any.

    share: of all of the host's memory; what is free now may be less.
    """
    host = _ranks_of_host(comm)
    usable: int = host.bcast(int(min(USABLE * available_memory(), share * total_memory())))
    host.Free()
    return usable


def memory_of_rank(comm: MPI.Intracomm, usable: int) -> float:
    """Collective. Bytes for each rank on the host where that is least. usable: on this rank's host."""
    host = _ranks_of_host(comm)
    own = usable / host.size
    host.Free()
    smallest: float = min(comm.allgather(own))
    return smallest


def spare_memory(own: int, usable: int, comm: MPI.Intracomm) -> int:
    """Collective. Bytes left for each rank of this rank's host beside the `own` bytes of every one of them."""
    host = _ranks_of_host(comm)
    spare: int = (usable - host.allreduce(own)) // host.size
    host.Free()
    return max(0, spare)


def require_memory(
    parts: Mapping[str, int], usable: int, comm: MPI.Intracomm, advice: str = "use more hosts or a smaller grid"
) -> int:
    """Collective. Bytes that this rank needs: the sum of `parts` (name: bytes), of which `usable` are on its host.

    Raises InputError, the same on all ranks, where the ranks of a host need more than it has: how much is needed and
    available there, which part is the largest, and what to change (`advice`).
    """
    own = sum(parts.values())
    host = _ranks_of_host(comm)
    needed = host.allreduce(own)
    ranks = host.size
    host.Free()
    worst = max(comm.allgather((needed - usable, needed, usable, ranks, dict(parts))), key=lambda entry: entry[0])
    excess, needed, usable, ranks, parts = worst
    if excess > 0:
        listed = ", ".join(f"{name} {b / 1e9:.3g} GB" for name, b in sorted(parts.items(), key=lambda p: -p[1]))
        raise InputError(
            f"not enough memory: {needed / 1e9:.3g} GB needed on a host with {usable / 1e9:.3g} GB available to its "
            f"{ranks} rank{'s' * (ranks > 1)} ({listed}, each rank); {advice}"
        )
    return own


def _ranks_of_host(comm: MPI.Intracomm) -> MPI.Intracomm:
    """Collective. The ranks of this rank's host, which the caller frees."""
    from mpi4py import MPI

    barrier(comm)
    return MPI.Intracomm(comm.Split_type(MPI.COMM_TYPE_SHARED))
