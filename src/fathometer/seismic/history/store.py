"""Stores of the source wavefield: what the source loop pushes, the receiver loop pops in reverse order.

    history.begin(source)
    source loop:     rooms = history.rooms(most); source.advance(rooms); history.push(len(rooms))
    receiver loop:   snapshots = history.pop(most)

Where snapshots are kept (storage/scratch/stack.py: in memory or on disk) and how they are encoded (encoding.py) are
independent choices; a store that keeps less and computes the rest again is checkpoint.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from fathometer.base import ledger
from fathometer.grid.arrays import allocate
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.history.encoding import Encoding, relative_errors
from fathometer.seismic.waves.propagator import State
from fathometer.storage.scratch.stack import MemoryStack, Stack

EXAMINED = 3  # snapshots of the first shot, of which the error of a lossy encoding is recorded


class Source(Protocol):
    """The source wavefield of a shot, whose states can be saved and restored.

    Snapshots are pressure of this rank's cells of the model, shape Propagator.image_shape in the propagation's dtype.
    """

    def read(self, snapshot: np.ndarray) -> None:
        """Write the pressure now into `snapshot`."""

    @property
    def together(self) -> int:
        """Imaging steps that are best taken at a time."""

    def advance(self, snapshots: Sequence[np.ndarray | None]) -> None:
        """Go on by so many imaging steps and write the pressure there into `snapshots`, where given."""

    def save(self, room: np.ndarray | None = None) -> State:
        """A copy of all that changes, in `room` (uint8, Propagator.state_bytes) if given."""

    def restore(self, state: State | None) -> None:
        """Back to a saved state; None: to the first one, at rest."""


class History(Protocol):
    """Snapshots of one shot, last in, first out. The propagation writes a snapshot while its cells are in the cache.

    Numbers of snapshots at a time are the same on all ranks. They are arrays of the host, or of the card that takes the
    time steps (waves/card_library.CardView).

    Attributes:
        snapshot_bytes: of one snapshot on this rank, as the propagation writes it.
    """

    snapshot_bytes: int

    def begin(self, source: Source) -> None:
        """A shot begins."""

    def rooms(self, most: int) -> Sequence[Any]:
        """Where the next snapshots are to be written, one to `most` of them, shape Propagator.image_shape; None where
        one is not wanted."""

    def push(self, count: int) -> None:
        """So many snapshots, as many as rooms were given, were written there, if they were wanted."""

    def pop(self, most: int) -> Sequence[Any]:
        """One to `most` of the snapshots that were not yet popped, latest first, shape Propagator.image_shape; valid
        until the next call.

        Collective where snapshots are computed again.
        """

    def rewind(self) -> bool:
        """After the last pop: whether all snapshots of the shot can be popped once more as they are."""

    def close(self) -> None:
        """Free memory, files and threads."""

    def statistics(self) -> dict[str, Any]:
        """What became of this rank's snapshots, for the record."""


class StackedHistory:
    """All snapshots of a shot on a stack.

    Args:
        stack: of records as the encoding makes them, or of plain snapshots.
        encoding: None: snapshots are kept as they are, and written by the propagation where they stay.
        snapshots: of a shot; some of the first one's are examined for the error of their encoding.
        worker: the thread of an encoding that works beside; it is ended with the history.
    """

    def __init__(
        self,
        stack: Stack,
        encoding: Encoding | None,
        snapshots: int,
        shape: Index3,
        dtype: np.dtype[Any],
        worker: ThreadPoolExecutor | None = None,
    ) -> None:
        self._stack, self._encoding = stack, encoding
        self._shape, self._dtype = shape, dtype
        self.snapshot_bytes = int(np.prod(shape)) * dtype.itemsize
        # On disk records are moved as they come, and an encoding takes one at a time.
        self._together = snapshots if encoding is None and isinstance(stack, MemoryStack) else 1
        self._pushed = self._left = 0
        self._errors = (0.0, 0.0)
        self._examine = {snapshots * n // (EXAMINED + 1) for n in range(1, EXAMINED + 1)} if encoding else set()
        self._worker = worker
        self._plain = [allocate(shape, dtype) for _ in range(2 if worker else 1)] if encoding else []
        self._at = 0  # which of the plain ones is next
        self._work: list[Future[Any] | None] = [None] * len(self._plain)
        self._ahead = False  # the next one to be popped is being decoded
        # Records whose size is not known beforehand are made apart, so that they take no more than they need.
        apart = encoding is not None and not encoding.fixed
        self._record = np.empty(encoding.largest, np.uint8) if apart and encoding is not None else None

    def begin(self, source: Source) -> None:
        self._left = 0

    def rooms(self, most: int) -> list[np.ndarray]:
        if self._encoding is None:
            return [self._view(record) for record in self._stack.rooms(min(most, self._together))]
        self._wait(self._at)
        return [self._plain[self._at]]

    def push(self, count: int) -> None:
        for _ in range(count):
            if self._encoding is None:
                self._stack.push(self.snapshot_bytes)
            else:
                examine = self._pushed in self._examine
                self._do(self._at, self._encode, examine)
                self._at = (self._at + 1) % len(self._plain)
            self._pushed += 1
            self._left += 1

    def pop(self, most: int, ahead: bool = True) -> list[np.ndarray]:
        """ahead: the one before will be popped next, before anything is pushed."""
        if self._encoding is None:
            count = min(most, self._together, self._left)
            self._left -= count
            return [self._view(self._stack.pop()) for _ in range(count)]
        self._left -= 1
        place = self._at
        if not self._ahead:
            for buffer in range(len(self._plain)):
                self._wait(buffer)
            self._do(place, self._decode)
        self._wait(place)
        self._ahead = ahead and self._worker is not None and self._left > 0
        if self._ahead:
            self._at = (place + 1) % len(self._plain)
            self._do(self._at, self._decode)
        return [self._plain[place]]

    def rewind(self) -> bool:
        if not isinstance(self._stack, MemoryStack):
            return False
        self._left = self._stack.rewind()
        return True

    def close(self) -> None:
        if self._worker is not None:
            self._worker.shutdown(wait=True)
        self._stack.close()
        self._plain.clear()

    def statistics(self) -> dict[str, Any]:
        """snapshots, logical_bytes, stored_bytes of all shots; held_bytes of memory for records, and plain_bytes beside
        them; of a lossy encoding the largest errors among those examined."""
        statistics: dict[str, Any] = {
            "snapshots": self._pushed,
            "logical_bytes": self._pushed * self.snapshot_bytes,
            "stored_bytes": self._stack.stored_bytes,
            "held_bytes": self._stack.held_bytes,
            "plain_bytes": sum(snapshot.nbytes for snapshot in self._plain),
        }
        if self._encoding is not None:
            statistics |= {"relative_l2_error": self._errors[0], "largest_error_of_peak": self._errors[1]}
        return statistics

    def _view(self, record: np.ndarray) -> np.ndarray:
        snapshot: np.ndarray = record[: self.snapshot_bytes].view(self._dtype).reshape(self._shape)
        return snapshot

    def _do(self, place: int, task: Any, *more: Any) -> None:
        if self._worker is None:
            task(place, *more)
        else:
            self._wait(place)
            # What is done with one snapshot begins when that with the one before is over: there is one worker.
            self._work[place] = self._worker.submit(ledger.carried(task), place, *more)

    def _wait(self, place: int) -> None:
        work, self._work[place] = self._work[place], None
        if work is not None:
            ledger.awaited(work)

    def _encode(self, place: int, examine: bool) -> None:
        assert self._encoding is not None
        snapshot, record = self._plain[place], self._record
        if record is None:
            record = self._stack.room()
        with ledger.phase("encode snapshots", bytes=self.snapshot_bytes):
            used = self._encoding.encode(snapshot, record)
        if examine:
            with ledger.phase("examine encoding"):
                decoded = np.empty_like(snapshot)
                self._encoding.decode(record[:used], decoded)
                l2, largest = relative_errors(snapshot, decoded)
                self._errors = (max(self._errors[0], l2), max(self._errors[1], largest))
        if record is self._record:
            self._stack.room(used)[:] = record[:used]
        self._stack.push(used)

    def _decode(self, place: int) -> None:
        assert self._encoding is not None
        record = self._stack.pop()
        with ledger.phase("decode snapshots", bytes=self.snapshot_bytes):
            self._encoding.decode(record, self._plain[place])
