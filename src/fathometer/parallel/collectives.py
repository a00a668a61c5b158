"""Collective error handling, and collective calls that can be interrupted and whose waiting time is accounted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, system_error
from fathometer.base.signals import hold, release

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

LARGEST_MESSAGE = 1 << 30  # bytes in one MPI call
NAP_SECONDS = 1e-4  # between tests of a request, during which a waiting rank leaves its core to others
LONG_NAP_SECONDS = 5e-3  # the same while other ranks are timed on these cores
SPREAD_SECONDS = 0.2  # within which a signal has reached all ranks
PATIENCE_SECONDS = 5.0  # that `all_arrived` waits for the other ranks


class Request(Protocol):
    """What is waited for: MPI.Request, or several together."""

    def Test(self) -> bool:
        """Whether it is done; has MPI move it on."""
        ...


def barrier(comm: MPI.Intracomm, nap: float = NAP_SECONDS) -> None:
    """Collective. MPI_Ibarrier with MPI_Test and sleep in turns: inside MPI_Barrier Python could not be interrupted.

    nap: seconds of each sleep. The waiting time is accounted as idle. Raises KeyboardInterrupt.
    """
    with synchronised(comm, nap):
        pass


@contextmanager
def synchronised(comm: MPI.Intracomm, nap: float = NAP_SECONDS) -> Iterator[None]:
    """Collective. A `barrier`, then the block with interrupts deferred.

    The block is a short collective call: a rank interrupted in it would leave the others waiting inside MPI.
    """
    with arrived(comm, comm.Ibarrier, partial(sleep, nap)):
        yield


@contextmanager
def arrived(comm: MPI.Intracomm, begin: Callable[[], Request], pause: Callable[[], object]) -> Iterator[None]:
    """Collective. The block, with interrupts deferred, once all ranks have come to a non-blocking collective call.

    begin: makes that call. pause: made between two tests.

    A rank that is interrupted while it waits has come to the call all the same: others that come to it now enter the
    block, and would wait in it for this one inside MPI. So it stays until the signal has reached them, too, and takes
    part in the block if they have come. Rank 0, which clears up, leaves at once. Raises KeyboardInterrupt.
    """
    interrupt: KeyboardInterrupt | None = None
    with ledger.idle():
        request = begin()
        try:
            while True:
                hold()
                if request.Test():
                    break
                release()
                pause()
        except KeyboardInterrupt as raised:
            if comm.rank == 0 or not _done_within(request, SPREAD_SECONDS):
                raise
            hold()
            interrupt = raised
    try:
        yield
    finally:
        release()
    if interrupt is not None:
        raise interrupt


def _done_within(request: Request, seconds: float) -> bool:
    deadline = ledger.now() + seconds
    while not request.Test():
        if ledger.now() > deadline:
            return False
        sleep(NAP_SECONDS)
    return True


@contextmanager
def together(comm: MPI.Intracomm, error: str = "") -> Iterator[None]:
    """Collective. The block, with interrupts deferred, once all ranks are here; or, where any of them has an error, the
    InputError of the lowest one instead.

    By MPI_Iallreduce with MPI_Test: it costs what a barrier does, and the wait can be interrupted.
    """
    from mpi4py import MPI

    mine, anyone = bytearray([bool(error)]), bytearray(1)
    begin = partial(comm.Iallreduce, [mine, MPI.BYTE], [anyone, MPI.BYTE], MPI.BOR)
    with arrived(comm, begin, os.sched_yield):  # where ranks share a core, the last one may need it
        if anyone[0]:
            with collective_errors(comm):
                if error:
                    raise InputError(f"rank {comm.rank}: {error}")
        yield


def all_arrived(comm: MPI.Intracomm, patience: float | None = None) -> bool:
    """Whether all ranks call this within some seconds: asked by a rank that ends with an error, before MPI_Abort, since
    ranks that did not see the error may be waiting in a collective call.

    patience: seconds to wait for the other ranks; None: PATIENCE_SECONDS.
    """
    request = comm.Ibarrier()
    return _done_within(request, PATIENCE_SECONDS if patience is None else patience)


def allgather(comm: MPI.Intracomm, value: T) -> list[T]:
    """Collective. MPI_Allgather of any Python object: the values in order of rank.

    Waiting for the last rank is accounted as idle, the call itself as communication.
    """
    with synchronised(comm), ledger.communication():
        return comm.allgather(value)


def allreduce(comm: MPI.Intracomm, value: Any, op: Literal["MIN", "MAX", "SUM"]) -> Any:
    """Collective. MPI_Allreduce of a Python number with MPI_MIN, MPI_MAX or MPI_SUM, accounted as in `allgather`."""
    from mpi4py import MPI

    with synchronised(comm), ledger.communication():
        return comm.allreduce(value, getattr(MPI, op))


@contextmanager
def collective_errors(comm: MPI.Intracomm, nap: float = NAP_SECONDS) -> Iterator[None]:
    """Collective. Run the block on every rank, then gather the ranks' errors: the FathometerError of the lowest rank
    that has one is raised on all ranks, so that none goes on to a collective call which another never enters.

    The block itself may make no collective call that a rank would miss by failing before it. An OSError that nobody
    has named in the block is one of these errors too; other exceptions are not gathered. nap: as in `barrier`.
    """
    error: FathometerError | None = None
    try:
        yield
    except FathometerError as raised:
        error = raised
    except OSError as raised:
        error = system_error(raised)
    with synchronised(comm, nap), ledger.communication():
        errors = [e for e in comm.allgather(error) if e is not None]
    if errors:
        raise errors[0]
