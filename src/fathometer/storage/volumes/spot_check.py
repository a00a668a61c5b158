"""Spot check of written values: some cells of each rank's blocks are compared with the finished file.

MPI-IO may lose a write without an error: Open MPI's own implementation (4.1.4) returns success where an aggregator's
system call failed. What a failed call leaves out is longer than the distance of two checked cells, or reaches the end
of a block.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.raw_array import RawArray

DISTANCE = 1 << 16  # bytes of a block between checked cells


class SpotCheck:
    """Cells of the blocks that a rank wrote, with their values, to be compared with the file; distance: bytes."""

    def __init__(self, distance: int = DISTANCE) -> None:
        self._distance = distance
        self._cells: list[tuple[tuple[int, ...], bytes]] = []

    def record(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Keep values of a block at `lo`, in the file's dtype: its first and last cell, and some between."""
        if not block.size:
            return
        step = max(1, self._distance // block.dtype.itemsize)
        flat = block.reshape(-1)
        for position in (*range(0, block.size, step), block.size - 1):
            index = np.unravel_index(position, block.shape)
            cell = tuple(int(i + first) for i, first in zip(index, lo, strict=True))
            self._cells.append((cell, flat[position : position + 1].tobytes()))

    def verify(self, read: Callable[[tuple[int, ...]], bytes]) -> None:
        """OSError where a kept value differs from what `read` (cell to bytes) finds in the file."""
        for cell, value in self._cells:
            if read(cell) != value:
                raise OSError(errno.EIO, f"the values at {cell} are not in the file, although no write failed")

    def verify_raw(self, array: RawArray) -> None:
        """As `verify`, in a raw array."""
        if not self._cells:
            return
        item = array.dtype.itemsize
        strides = [math.prod(array.shape[axis + 1 :]) * item for axis in range(len(array.shape))]
        handle = os.open(array.path, os.O_RDONLY)
        try:
            self.verify(
                lambda cell: os.pread(
                    handle, item, array.start + sum(i * stride for i, stride in zip(cell, strides, strict=True))
                )
            )
        finally:
            os.close(handle)
