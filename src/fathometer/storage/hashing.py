"""Hashing of files by the threads of all ranks, beside what the ranks' main threads do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Self

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.threads import ThreadCounts
from fathometer.storage.fingerprint import MISSING, FileState, changed_meanwhile, hash_piece, of_pieces, pieces_of

if TYPE_CHECKING:
    from mpi4py import MPI

PHASE = "identify inputs"  # of the ledger
KIND = "identity"  # of files, in the ledger
MOST_THREADS = 4  # of a rank: more would wait for memory and files


class Hashing:
    """Hashing of files under way; a context manager, which ends it.

    The pieces of all files are dealt to the ranks, and those of a rank to its threads.

    Args:
        states: of the files, the same on all ranks. threads: of this rank.
    """

    def __init__(self, states: Sequence[FileState], comm: MPI.Intracomm, threads: ThreadCounts) -> None:
        self._states, self._comm = states, comm
        pieces = [(state, offset) for state in states for offset in pieces_of(state)]
        own = pieces[comm.rank :: comm.size]
        self._pool: ThreadPoolExecutor | None = None
        self._futures: list[Future[bytes]] = []
        self._stop = Event()
        if own:
            self._pool = threads.pool("hash", min(MOST_THREADS, threads.io, len(own)))
            hashed = ledger.carried(_hashed)
            self._futures = [self._pool.submit(hashed, state, offset, self._stop.is_set) for state, offset in own]

    def results(self) -> list[FileState]:
        """Collective. The files with their hashes, when all are done.

        Raises InputError or FathometerError on all ranks where a file cannot be read.
        """
        own: list[bytes] = []
        with ledger.phase(PHASE):
            with collective_errors(self._comm):
                own = [ledger.awaited(future) for future in self._futures]
            dealt = allgather(self._comm, own)
        pieces = sum(len(pieces_of(state)) for state in self._states)
        in_order = iter([dealt[number % self._comm.size][number // self._comm.size] for number in range(pieces)])
        return [replace(state, hash=of_pieces([next(in_order) for _ in pieces_of(state)])) for state in self._states]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()  # a run that is interrupted does not wait for a slow disk
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _hashed(state: FileState, offset: int, stopped: Callable[[], bool]) -> bytes:
    """The hash of a piece, accounted."""
    size = min(pieces_of(state).step, state.bytes - offset)
    with ledger.phase(PHASE), ledger.file(KIND, "read"), ledger.io(bytes=size):
        return hash_piece(state, offset, stopped)


def require_unchanged(states: Sequence[FileState]) -> None:
    """Raises FathometerError where a file no longer has the bytes that it had. One that was touched, as by chmod, is
    read again, on this rank alone, where its hash is known."""
    for state in states:
        path = Path(state.path)
        try:
            now = FileState.of(path, required=state.bytes != MISSING)
            if now.same_as(state):
                continue
            same = bool(state.hash) and now.bytes == state.bytes
            same = same and of_pieces([_hashed(now, offset, lambda: False) for offset in pieces_of(now)]) == state.hash
        except InputError:  # it is gone
            same = False
        if not same:
            raise FathometerError(f"{changed_meanwhile(path)}; --resume goes on where it is again what it was")
