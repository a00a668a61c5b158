"""Receiver series of a shot: the samples that receivers inject, delivered in time order.

whole            all series of the rank's receivers in memory
slices           transposed once to time order in a scratch file of each rank, for its own receivers; a thread reads
                 ahead while time steps are computed
root-broadcast   baseline for comparison: rank 0 transposes the series of all receivers, reads each time slice and
                 broadcasts it, while all ranks wait
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

CHUNK_BYTES = 64 << 20  # of the series that are in memory at a time during the transposition to time order
GROUP_BYTES = 16 << 20  # least size of a read, where there is as much


@dataclass(frozen=True, eq=False)
class SeriesRequest:
    """Parameters with which the receiver series of a shot are opened.

    Attributes:
        read: (receivers, share) -> series (steps, n) of the receivers (n,), indices into those of the shot; reads and
            resamples their traces. share: fraction of these traces that no other rank reads, for the ledger.
        own: (m,), indices of the receivers that touch this rank's cells. own_share: their share.
        count: number of all receivers. steps: time steps of a shot. most: time steps requested at a time, at most.
        folder: gives the folder of scratch files. worker: starts a thread that reads ahead. Called only where needed.
    """

    read: Callable[[np.ndarray, float], np.ndarray]
    own: np.ndarray
    own_share: float
    count: int
    steps: int
    most: int
    dtype: np.dtype[Any]
    folder: Callable[[], Path]
    worker: Callable[[], ThreadPoolExecutor]
    comm: MPI.Intracomm


class ReceiverSeries(Protocol):
    """Receiver series of a shot, read in the order of the time steps."""

    @classmethod
    def open(cls, request: SeriesRequest) -> Self:
        """The series of one shot. Raises FathometerError for a scratch folder without space or a failing disk, and what
        `request.read` raises."""

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """Bytes of memory of a rank with `own` receivers, for traces of `samples` samples and `steps` time steps."""

    def rows(self, steps: int) -> np.ndarray:
        """Samples of the next steps, (steps, receivers of this rank), contiguous; valid until the next call."""

    def close(self) -> None: ...


class WholeSeries:
    """All series in memory.

    Args:
        series: (steps, receivers).
    """

    def __init__(self, series: np.ndarray) -> None:
        self._series, self._at = series, 0

    @classmethod
    def open(cls, request: SeriesRequest) -> Self:
        return cls(request.read(request.own, request.own_share))

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """Bytes of the recorded, the resampled and the transposed series."""
        return 3 * (steps + samples) * own * itemsize

    def rows(self, steps: int) -> np.ndarray:
        self._at += steps
        return self._series[self._at - steps : self._at]

    def close(self) -> None:
        """No file or thread to close."""


class SlicedSeries:
    """Series in an anonymous scratch file in groups of time steps, of which two are in memory.

    Args:
        read: the series (steps, n) of the receivers with these indices (n,). count: number of receivers.
        steps: time steps of a shot. most: time steps requested at a time, at most.
        folder: of the scratch file. worker: the thread that reads ahead; shut down by `close`.

    Raises FathometerError for a missing folder, a full or failing disk, and what `read` raises.
    """

    def __init__(
        self,
        read: Callable[[np.ndarray], np.ndarray],
        count: int,
        steps: int,
        most: int,
        dtype: np.dtype[Any],
        folder: Path,
        worker: ThreadPoolExecutor,
    ) -> None:
        self._worker = worker
        self._steps, self._count, self._dtype = steps, count, dtype
        row = max(1, count * dtype.itemsize)
        self._group = min(steps, most * max(1, GROUP_BYTES // (row * most)))
        each = max(1, CHUNK_BYTES // (steps * dtype.itemsize))
        self._chunks = [(first, min(first + each, count)) for first in range(0, count, each)]
        self._file = Scratch(folder, "slices", "time slices of traces")
        self._work: Future[np.ndarray] | None = None
        try:
            for first, end in self._chunks:
                self._transpose(read(np.arange(first, end)), first)
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
        """The series of the receivers with these indices (n,) into those of the shot."""
        return cls(
            lambda indices: request.read(receivers[indices], share),
            len(receivers),
            request.steps,
            request.most,
            request.dtype,
            request.folder(),
            request.worker(),
        )

    @classmethod
    def memory_bytes(cls, steps: int, samples: int, own: int, itemsize: int) -> int:
        """Bytes of a chunk of receivers during the transposition, and of two groups of time steps."""
        return min(WholeSeries.memory_bytes(steps, samples, own, itemsize), 3 * CHUNK_BYTES + 2 * GROUP_BYTES)

    def rows(self, steps: int) -> np.ndarray:
        if self._at == len(self._rows):
            self._next_group()
        left = len(self._rows) - self._at
        if steps > left:
            return np.concatenate([self.rows(left), self.rows(steps - left)])
        self._at += steps
        return self._rows[self._at - steps : self._at]

    def close(self) -> None:
        self._worker.shutdown(wait=True)
        self._file.close()

    def _transpose(self, series: np.ndarray, first: int) -> None:
        """Write the series (steps, n) of the receivers from `first` on to their place in each group."""
        with ledger.phase("order traces"):
            for start in range(0, self._steps, self._group):
                rows = np.ascontiguousarray(series[start : start + self._group])
                self._file.write(rows, self._place(start, first))

    def _place(self, start: int, first: int) -> int:
        """File offset, bytes, of the receivers from `first` on in the group that begins with step `start`."""
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
        group = np.empty((rows, self._count), self._dtype)
        for first, end in self._chunks:
            piece = np.empty((rows, end - first), self._dtype)
            self._file.read(piece, self._place(start, first), "read slices")
            group[:, first:end] = piece
        return group


class BroadcastSeries:
    """Collective. Time slices of all receivers of the shot, broadcast by rank 0; the baseline of the comparison.

    Args:
        slices: on rank 0, else None. own: (m,), indices of this rank's receivers. count: number of all receivers.
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
        """Bytes of rank 0, as for slices."""
        return SlicedSeries.memory_bytes(steps, samples, own, itemsize)

    def rows(self, steps: int) -> np.ndarray:
        if self._slices is not None:
            all_rows = np.ascontiguousarray(self._slices.rows(steps))
        else:
            all_rows = np.empty((steps, self._count), self._dtype)
        barrier(self._comm)
        flat = all_rows.reshape(-1)
        most = LARGEST_MESSAGE // self._dtype.itemsize
        with ledger.communication("broadcast traces", bytes=all_rows.nbytes):
            for start in range(0, flat.size, most):
                self._comm.Bcast(flat[start : start + most], root=0)
        barrier(self._comm)
        return np.ascontiguousarray(all_rows[:, self._own])

    def close(self) -> None:
        if self._slices is not None:
            self._slices.close()


STRATEGIES: dict[str, type[WholeSeries] | type[SlicedSeries] | type[BroadcastSeries]] = {
    "whole": WholeSeries,
    "slices": SlicedSeries,
    "root-broadcast": BroadcastSeries,
}
