"""Stores of the source wavefield: what the source loop pushes, the receiver loop pops in reverse order."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fathometer.parallel.decomposition import Index3
from fathometer.seismic.memory import allocate


class History(Protocol):
    """Snapshots of one shot, last in, first out. The propagation writes a snapshot while its cells are in the cache:

    advance(…, snapshot=history.room()); history.push()

    Attributes:
        snapshot_bytes: of one snapshot.
    """

    snapshot_bytes: int

    def room(self) -> np.ndarray:
        """Where the next snapshot is to be written, shape Propagator.image_shape."""

    def push(self) -> None:
        """Keep what was written there."""

    def pop(self) -> np.ndarray:
        """The latest snapshot that was not yet popped, shape Propagator.image_shape; valid until the next call."""


class MemoryHistory:
    """All snapshots of a shot in memory, as they are."""

    def __init__(self, snapshots: int, shape: Index3, dtype: np.dtype[Any]) -> None:
        nx, ny, nz = shape
        self._snapshots = allocate((snapshots * nx, ny, nz), dtype).reshape(snapshots, nx, ny, nz)
        self.snapshot_bytes = self._snapshots[0].nbytes
        self._kept = 0

    def room(self) -> np.ndarray:
        snapshot: np.ndarray = self._snapshots[self._kept]
        return snapshot

    def push(self) -> None:
        self._kept += 1

    def pop(self) -> np.ndarray:
        self._kept -= 1
        return self.room()


def history_bytes(snapshots: int, cells: int, itemsize: int) -> int:
    """Bytes that MemoryHistory takes."""
    return snapshots * cells * itemsize
