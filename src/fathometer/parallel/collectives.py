"""Ranks that fail together: what goes wrong on one is raised on all, so that none waits for another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.signals import hold, release

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

LARGEST_MESSAGE = 1 << 30  # bytes in one MPI call
NAP_SECONDS = 1e-4  # that a waiting rank leaves its cores to the others
LONG_NAP_SECONDS = 5e-3  # the same, where others measure on these cores
PATIENCE_SECONDS = 5.0  # that a failing rank waits for the others to fail too


def barrier(comm: MPI.Intracomm, nap: float = NAP_SECONDS) -> None:
    """Collective. Wait for all ranks, but not inside one MPI call, in which Python would not heed an interrupt.

    nap: seconds between looks at the others.
    """
    with synchronised(comm, nap):
        pass


@contextmanager
def synchronised(comm: MPI.Intracomm, nap: float = NAP_SECONDS) -> Iterator[None]:
    """Collective. The same before the block, which is not interrupted: it is for a short exchange with the others, who
    would wait inside MPI for a rank that had left."""
    with ledger.idle():
        everyone = comm.Ibarrier()
        while True:
            hold()
            if everyone.Test():
                break
            release()
            sleep(nap)
    try:
        yield
    finally:
        release()


def all_arrived(comm: MPI.Intracomm, patience: float | None = None) -> bool:
    """Whether all ranks have come to the same end: an error that only some saw must not leave the others waiting.

    patience: seconds that they have for it; None: PATIENCE_SECONDS.
    """
    everyone = comm.Ibarrier()
    deadline = ledger.now() + (PATIENCE_SECONDS if patience is None else patience)
    while not everyone.Test():
        if ledger.now() > deadline:
            return False
        sleep(NAP_SECONDS)
    return True


def allgather(comm: MPI.Intracomm, value: T) -> list[T]:
    """Collective. The values of all ranks; waiting for the last of them is accounted as waiting."""
    with synchronised(comm), ledger.communication():
        return comm.allgather(value)


def allreduce(comm: MPI.Intracomm, value: Any, op: Literal["MIN", "MAX", "SUM"]) -> Any:
    """Collective. The ranks' values put together; waiting for the last of them is accounted as waiting."""
    from mpi4py import MPI

    with synchronised(comm), ledger.communication():
        return comm.allreduce(value, getattr(MPI, op))


@contextmanager
def collective_errors(comm: MPI.Intracomm, nap: float = NAP_SECONDS) -> Iterator[None]:
    """Collective. Runs the block on every rank; the first rank's FathometerError, if any, is raised on all.

    The block may hold no collective call that a rank which fails would miss. nap: as of `meet`.
    """
    error: FathometerError | None = None
    try:
        yield
    except FathometerError as raised:
        error = raised
    with synchronised(comm, nap), ledger.communication():
        errors = [e for e in comm.allgather(error) if e is not None]
    if errors:
        raise errors[0]
