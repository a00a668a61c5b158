"""What a run needs of each host's memory, asked before anything large is allocated."""

from __future__ import annotations

from collections.abc import Mapping

from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.parallel.collectives import barrier
from fathometer.record.machine import available_memory, total_memory
from fathometer.seismic.survey import MEMORY_BUDGET

# Of what is free now; the rest is left to the interpreter, MPI's buffers and what no estimate sees.
USABLE = 0.9
ADVICE = (
    "use more hosts, a larger [imaging] every, a shorter [propagation] duration, larger cells, a smaller model or a "
    "larger [parallel] memory_budget"
)


def usable_memory(comm: MPI.Intracomm, budget: float = MEMORY_BUDGET) -> int:
    """Collective. Bytes that the ranks of this rank's host may take together; asked before they have taken any.

    budget: share of all of the host's memory, [parallel] memory_budget; what is free now may be less.
    """
    barrier(comm)
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    usable: int = host.bcast(int(min(USABLE * available_memory(), budget * total_memory())))
    host.Free()
    return usable


def spare_memory(own: int, usable: int, comm: MPI.Intracomm) -> int:
    """Collective. What is left for each rank of this rank's host beside the `own` bytes of every one of them."""
    barrier(comm)
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    spare: int = (usable - host.allreduce(own)) // host.size
    host.Free()
    return max(0, spare)


def require_memory(parts: Mapping[str, int], usable: int, comm: MPI.Intracomm, advice: str = ADVICE) -> int:
    """Collective. Bytes that this rank needs: the sum of `parts` (name: bytes), of which `usable` are on its host.

    Raises InputError, the same on all ranks, where the ranks of a host need more than it has: how much is needed and
    available there, which part is the largest, and what to change.
    """
    own = sum(parts.values())
    barrier(comm)
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
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
