"""What receivers inject, handed to the time steps as they need it.

whole            all of a shot in memory
slices           ordered by time once in a file of each rank, its own receivers only; read beside the time steps
root-broadcast   the old way, kept as the baseline: rank 0 orders the traces of all receivers, reads each time slice
                 and sends it to all, who wait for it
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import LARGEST_MESSAGE, barrier
from fathometer.storage.scratch.file import Scratch

CHUNK_BYTES = 64 << 20  # of receivers whose series are in memory together while they are ordered
GROUP_BYTES = 16 << 20  # least that is read at a time, where there is as much


@dataclass(frozen=True, eq=False)
class SeriesRequest:
    """What the receivers of a shot inject, and what there is to hand it out with.

    Attributes:
        make: the series (steps, n) of some receivers of the shot by their numbers, read by this rank; share: of those
            that no other rank reads. own: numbers of the receivers that touch this rank's cells. own_share: of them.
        count: of all receivers. steps: of a shot. every: that are asked for at a time, at most.
        folder: where scratch files lie, worker: makes a thread that reads beside the time steps; called where needed.
    """

    make: Callable[[np.ndarray, float], np.ndarray]
    own: np.ndarray
    own_share: float
    count: int
    steps: int
    every: int
    dtype: np.dtype[Any]
    folder: Callable[[], Path]
    worker: Callable[[], ThreadPoolExecutor]
    comm: MPI.Intracomm


class ReceiverSeries(Protocol):
    """The series of a shot's receivers, in the order of the steps."""

    @classmethod
    def open(cls, request: SeriesRequest) -> Self:
        """For one shot. Raises FathometerError: no scratch folder, no space, a failing disk; and what `make` raises."""

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """Bytes on a rank for `own` receivers of a shot, recorded with so many samples."""

    def rows(self, steps: int) -> np.ndarray:
        """Of the next steps: (steps, receivers of this rank), contiguous; valid until the next call."""

    def close(self) -> None: ...


class WholeSeries:
    """All of them in memory, (steps, receivers)."""

    def __init__(self, series: np.ndarray) -> None:
        self._series, self._at = series, 0

    @classmethod
    def open(cls, request: SeriesRequest) -> Self:
        return cls(request.make(request.own, request.own_share))

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """As recorded, resampled, and in the order of the steps."""
        return 3 * (steps + samples) * own * itemsize

    def rows(self, steps: int) -> np.ndarray:
        self._at += steps
        return self._series[self._at - steps : self._at]

    def close(self) -> None:
        """Nothing is held."""


class SlicedSeries:
    """In a file without a name, in groups of steps; two groups are in memory.

    Args:
        make: the series (steps, n) of some of the receivers, by their places. count: of receivers. steps: of a shot.
        every: that are asked for at a time, at most. folder: of the file. worker: the thread that reads; it is ended
            with this.

    Raises FathometerError: no such folder, no place, a failing disk; and what `make` raises.
    """

    def __init__(
        self,
        make: Callable[[np.ndarray], np.ndarray],
        count: int,
        steps: int,
        every: int,
        dtype: np.dtype[Any],
        folder: Path,
        worker: ThreadPoolExecutor,
    ) -> None:
        self._worker = worker
        self._steps, self._count, self._dtype = steps, count, dtype
        row = max(1, count * dtype.itemsize)
        self._group = min(steps, every * max(1, GROUP_BYTES // (row * every)))
        each = max(1, CHUNK_BYTES // (steps * dtype.itemsize))
        self._chunks = [(first, min(first + each, count)) for first in range(0, count, each)]
        self._file = Scratch(folder, "slices", "time slices of traces")
        self._work: Future[np.ndarray] | None = None
        try:
            for first, end in self._chunks:
                self._order(make(np.arange(first, end)), first)
        except BaseException:
            self.close()
            raise
        self._number, self._at, self._rows = -1, 0, np.empty((0, count), dtype)
        self._prefetch(0)

    @classmethod
    def open(cls, request: SeriesRequest) -> Self:
        return cls.of(request, request.own, request.own_share)

    @classmethod
    def of(cls, request: SeriesRequest, receivers: np.ndarray, share: float) -> Self:
        """Of some receivers of the shot, by their numbers."""
        return cls(
            lambda some: request.make(receivers[some], share),
            len(receivers),
            request.steps,
            request.every,
            request.dtype,
            request.folder(),
            request.worker(),
        )

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """Some receivers while they are ordered, then two groups of steps."""
        return min(WholeSeries.memory_bytes(steps, samples, own, itemsize), 3 * CHUNK_BYTES + 2 * GROUP_BYTES)

    def rows(self, steps: int) -> np.ndarray:
        if self._at == len(self._rows):
            self._next_group()
        self._at += steps
        return self._rows[self._at - steps : self._at]

    def close(self) -> None:
        self._worker.shutdown(wait=True)
        self._file.close()

    def _order(self, series: np.ndarray, first: int) -> None:
        """Write what these receivers have in each group behind what those before them have."""
        with ledger.phase("order traces"):
            for start in range(0, self._steps, self._group):
                rows = np.ascontiguousarray(series[start : start + self._group])
                self._file.write(rows, self._place(start, first))

    def _place(self, start: int, first: int) -> int:
        """Where the cells of receivers from `first` on begin in the group of step `start`."""
        rows = min(self._group, self._steps - start)
        return (start * self._count + rows * first) * self._dtype.itemsize

    def _next_group(self) -> None:
        assert self._work is not None
        self._rows = ledger.awaited(self._work, "read slices")
        self._number, self._at = self._number + 1, 0
        self._prefetch((self._number + 1) * self._group)

    def _prefetch(self, start: int) -> None:
        self._work = self._worker.submit(ledger.carried(self._read), start) if start < self._steps else None

    def _read(self, start: int) -> np.ndarray:
        rows = min(self._group, self._steps - start)
        found = np.empty((rows, self._count), self._dtype)
        for first, end in self._chunks:
            piece = np.empty((rows, end - first), self._dtype)
            self._file.read(piece, self._place(start, first), "read slices")
            found[:, first:end] = piece
        return found


class BroadcastSeries:
    """Collective. Time slices of all the shot's receivers, which rank 0 sends to all; each takes its own.

    Args:
        slices: on rank 0. own: this rank's receivers among `count`.
    """

    def __init__(
        self, slices: SlicedSeries | None, own: np.ndarray, count: int, dtype: np.dtype[Any], comm: MPI.Intracomm
    ) -> None:
        self._slices, self._own, self._count, self._dtype, self._comm = slices, own, count, dtype, comm

    @classmethod
    def open(cls, request: SeriesRequest) -> Self:
        slices = SlicedSeries.of(request, np.arange(request.count), 1.0) if request.comm.rank == 0 else None
        return cls(slices, request.own, request.count, request.dtype, request.comm)

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """As of slices."""
        return SlicedSeries.memory_bytes(steps, samples, own, itemsize)

    def rows(self, steps: int) -> np.ndarray:
        if self._slices is not None:
            everyone = np.ascontiguousarray(self._slices.rows(steps))
        else:
            everyone = np.empty((steps, self._count), self._dtype)
        barrier(self._comm)
        flat = everyone.reshape(-1)
        most = LARGEST_MESSAGE // self._dtype.itemsize
        with ledger.communication("broadcast traces", bytes=everyone.nbytes):
            for start in range(0, flat.size, most):
                self._comm.Bcast(flat[start : start + most], root=0)
        barrier(self._comm)
        return np.ascontiguousarray(everyone[:, self._own])

    def close(self) -> None:
        if self._slices is not None:
            self._slices.close()


STRATEGIES: dict[str, type[WholeSeries] | type[SlicedSeries] | type[BroadcastSeries]] = {
    "whole": WholeSeries,
    "slices": SlicedSeries,
    "root-broadcast": BroadcastSeries,
}
