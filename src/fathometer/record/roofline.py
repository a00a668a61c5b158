"""What the memory and the arithmetic of a run's processors give, all ranks at once: the roof over its kernel.

Short, since every run pays for it: some rounds within a tenth of a second or so, the best of which counts. What other
programs do at that moment enters; `fathometer stencil` measures longer, in turns with the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fathometer.base import ledger
from fathometer.base.host import caches
from fathometer.base.ledger import now
from fathometer.parallel.collectives import allgather, barrier

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.parallel.threads import Tasks

TIMES_THE_CACHE = 4  # that the three arrays are together, on the ranks of a host
MOST_BYTES = 1 << 28  # of a rank's three arrays
ITEM = 4  # float32
ROUNDS, PATIENCE_SECONDS = 5, 0.08  # of each kind: at least two rounds, no more when time is up
MULTIPLY_ADDS = 300_000  # rounds in registers: a millisecond or two
ORIGIN = "Triad and multiply-adds were measured at the end of the run, for a fraction of a second, all ranks at once."


def yardstick(comm: MPI.Intracomm, tasks: Tasks, ranks_on_host: int) -> dict[str, float | str]:
    """Collective. Of all ranks together, with the threads of their time steps: bytes a second of the triad (float32, 12
    bytes an element) and flops a second of multiply-adds."""
    from fathometer import _native

    tasks.use(tasks.propagate)
    busy = ranks_on_host * tasks.propagate
    cache = caches()
    last = cache.shared * -(-busy // max(1, cache.sharing))
    elements = max(1, min(MOST_BYTES, TIMES_THE_CACHE * last // ranks_on_host) // (3 * ITEM))
    arrays = [_native.zerosFloat32((1, 1, elements), n) for n in range(3)]
    _native.triad(*arrays)  # the pages come
    _native.multiply_adds(1000)
    triad: list[float] = []
    flops: list[float] = []
    rounds = ROUNDS
    barrier(comm)
    started = now()
    for number in range(ROUNDS):
        triad.append(_timed(comm, lambda: _native.triad(*arrays)))
        flops.append(_timed(comm, lambda: _native.multiply_adds(MULTIPLY_ADDS)))
        # Rank 0's clock decides for all.
        with ledger.communication():
            if number and comm.bcast(now() - started > PATIENCE_SECONDS, 0):
                rounds = number + 1
                break
    done = _native.multiply_adds(1) * MULTIPLY_ADDS
    told = allgather(comm, (3 * ITEM * elements, done, triad, flops))
    return {
        "triad_bytes_per_second": max(
            sum(one[0] for one in told) / max(one[2][n] for one in told) for n in range(rounds)
        ),
        "multiply_add_flops_per_second": max(
            sum(one[1] for one in told) / max(one[3][n] for one in told) for n in range(rounds)
        ),
        "source": ORIGIN,
    }


def _timed(comm: MPI.Intracomm, work: Callable[[], object]) -> float:
    """Seconds of work that all ranks begin together."""
    with ledger.idle():
        comm.Barrier()
    begin = now()
    work()
    return now() - begin
