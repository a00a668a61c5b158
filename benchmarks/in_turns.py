"""Tasks of all ranks timed in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median

from mpi4py import MPI

from fathometer.base import ledger


def medians(
    tasks: Mapping[str, Callable[[], object]], spent: Mapping[str, list[float]], repeats: int, comm: MPI.Intracomm
) -> dict[str, float]:
    """Collective. Seconds of each task on the slowest rank, medians over repeats after one that does not count; of the
    parts too whose seconds the tasks append to `spent`."""
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for times in spent.values():
        times.clear()
    for _ in range(repeats):
        for name, task in tasks.items():
            comm.Barrier()
            begin = ledger.now()
            task()
            found[name].append(comm.allreduce(ledger.now() - begin, MPI.MAX))
    return {name: median(times) for name, times in {**found, **spent}.items()}
