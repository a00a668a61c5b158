"""Hashes of the traces of a shot, made as they are read; that of the shot does not depend on who has read which."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import xxhash

from fathometer.parallel.collectives import allgather
from fathometer.storage.fingerprint import hash_of

if TYPE_CHECKING:
    from mpi4py import MPI


class TraceHashes:
    """XXH3-128 of the samples, as stored, of those traces of a shot that this rank has read.

    Args:
        receivers: number of them in the shot, each with one trace.
    """

    def __init__(self, receivers: int) -> None:
        self._hashes = np.zeros((receivers, 16), np.uint8)
        self._known = np.zeros(receivers, np.bool_)

    def of(self, receivers: npt.NDArray[np.int64]) -> Callable[[int, npt.NDArray[np.uint8]], None]:
        """What takes the stored samples of these receivers (n,), as storage.traces.segy.Seen. A trace that is read
        again is not hashed again."""

        def seen(first: int, stored: npt.NDArray[np.uint8]) -> None:
            numbers = receivers[first : first + len(stored)]
            for row in np.flatnonzero(~self._known[numbers]):
                digest = xxhash.xxh3_128_digest(stored[row])
                self._hashes[numbers[row]] = np.frombuffer(digest, np.uint8)
            self._known[numbers] = True

        return seen

    def combined(self, comm: MPI.Intracomm | None = None) -> str:
        """The hash of the traces that this rank, or with a communicator (collective) all of its ranks, have read."""
        hashes, known = self._hashes, self._known
        if comm is not None and comm.size > 1:
            hashes, known = hashes.copy(), known.copy()
            for numbers, values in allgather(comm, (np.flatnonzero(self._known), self._hashes[self._known])):
                hashes[numbers], known[numbers] = values, True
        return hash_of(np.flatnonzero(known).astype("<i8").tobytes(), hashes[known].tobytes())
