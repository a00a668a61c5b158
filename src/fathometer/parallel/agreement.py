"""Ranks that fail together: what goes wrong on one is raised on all, so that none waits for another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fathometer.errors import FathometerError

if TYPE_CHECKING:
    from mpi4py import MPI


@contextmanager
def together(comm: MPI.Intracomm) -> Iterator[None]:
    """Collective. Runs the block on every rank; the first rank's FathometerError, if any, is raised on all.

    The block may hold no collective call that a rank which fails would miss.
    """
    error: FathometerError | None = None
    try:
        yield
    except FathometerError as raised:
        error = raised
    errors = [e for e in comm.allgather(error) if e is not None]
    if errors:
        raise errors[0]
