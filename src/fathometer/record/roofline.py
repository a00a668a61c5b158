"""Roofline measurement: memory bandwidth (triad) and peak flops (multiply-adds) of a run's cpus, all ranks at once.

Short, since it is part of every run: the best of some rounds within a tenth of a second or so. Load from other programs
at that moment enters; `fathometer stencil` measures longer, in turns with the kernel. In records the measurement and
its phase are named "yardstick".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fathometer.base import ledger
from fathometer.base.host import caches, peak_memory, resident_memory
from fathometer.base.ledger import now
from fathometer.parallel.collectives import allgather, barrier

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.parallel.threads import ThreadCounts

CACHE_MULTIPLE = 4  # size of the three arrays on all ranks of a host over that of its last-level caches
MAX_BYTES = 1 << 28  # of a rank's three arrays
OWN_MULTIPLE = 4  # their least size over that of the second-level caches of a rank's threads
ITEM_BYTES = 4  # float32
MAX_ROUNDS, MAX_SECONDS = 5, 0.08  # of each kernel; at least two rounds
MULTIPLY_ADD_ROUNDS = 300_000  # in registers: a millisecond or two
ORIGIN = "Triad and multiply-adds were measured at the end of the run, for a fraction of a second, all ranks at once."


def measure_roofline(comm: MPI.Intracomm, threads: ThreadCounts, ranks_on_host: int) -> dict[str, float | str]:
    """Collective. Sums over all ranks, each with its threads for time steps: triad_bytes_per_second (float32, 12 bytes
    per element), multiply_add_flops_per_second; and a sentence on their source.

    The arrays exceed the last-level caches, but not the memory that this rank once had and has no more: of others the
    first touch can take longer than the measurement, on virtual machines ten times as long, and a small run gets the
    bandwidth of arrays of its own size.

    threads: of this rank. ranks_on_host: number of ranks on this host, which share its last-level caches.
    """
    from fathometer import _native

    threads.use(threads.propagate)
    busy = ranks_on_host * threads.propagate
    cache = caches()
    last = cache.shared * -(-busy // max(1, cache.sharing))
    known = max(OWN_MULTIPLE * cache.own * threads.propagate, peak_memory() - resident_memory())
    elements = max(1, min(MAX_BYTES, CACHE_MULTIPLE * last // ranks_on_host, known) // (3 * ITEM_BYTES))
    arrays = [_native.zerosFloat32((1, 1, elements), n) for n in range(3)]
    _native.triad(*arrays)  # first touch of the pages
    _native.multiply_adds(1000)
    triad: list[float] = []  # seconds of each round
    flops: list[float] = []
    rounds = MAX_ROUNDS
    barrier(comm)
    started = now()
    for number in range(MAX_ROUNDS):
        triad.append(_timed(comm, lambda: _native.triad(*arrays)))
        flops.append(_timed(comm, lambda: _native.multiply_adds(MULTIPLY_ADD_ROUNDS)))
        # Rank 0's clock decides for all.
        with ledger.communication():
            if number and comm.bcast(now() - started > MAX_SECONDS, 0):
                rounds = number + 1
                break
    flops_per_round = _native.multiply_adds(1) * MULTIPLY_ADD_ROUNDS
    ranks = allgather(comm, (3 * ITEM_BYTES * elements, flops_per_round, triad, flops))
    return {
        "triad_bytes_per_second": max(
            sum(rank[0] for rank in ranks) / max(rank[2][n] for rank in ranks) for n in range(rounds)
        ),
        "multiply_add_flops_per_second": max(
            sum(rank[1] for rank in ranks) / max(rank[3][n] for rank in ranks) for n in range(rounds)
        ),
        "source": ORIGIN,
    }


def _timed(comm: MPI.Intracomm, work: Callable[[], object]) -> float:
    """Seconds of `work`, which all ranks start together."""
    with ledger.idle():
        comm.Barrier()
    begin = now()
    work()
    return now() - begin
