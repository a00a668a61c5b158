"""Some cells of what a rank wrote, looked up in the finished file.

MPI-IO may lose a write and tell nobody: Open MPI's own (4.1.4) returns success where an aggregator's system call
failed. What a failed call leaves out is longer than the distance of two samples, or reaches the end of a block.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.raw import RawArray

DISTANCE = 1 << 16  # bytes of a block from one sample to the next


class Samples:
    """What a rank wrote, here and there."""

    def __init__(self, distance: int = DISTANCE) -> None:
        self._distance = distance
        self._taken: list[tuple[tuple[int, ...], bytes]] = []

    def take(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Of a block at `lo`: its first and its last cell, and some between."""
        if not block.size:
            return
        step = max(1, self._distance // block.dtype.itemsize)
        flat = block.reshape(-1)
        for place in (*range(0, block.size, step), block.size - 1):
            index = np.unravel_index(place, block.shape)
            cell = tuple(int(i + first) for i, first in zip(index, lo, strict=True))
            self._taken.append((cell, flat[place : place + 1].tobytes()))

    def check(self, read: Callable[[tuple[int, ...]], bytes]) -> None:
        """OSError where one of them is not what `read` finds at its cell."""
        for cell, value in self._taken:
            if read(cell) != value:
                raise OSError(errno.EIO, f"the values at {cell} are not in the file, although no write failed")

    def check_raw(self, array: RawArray) -> None:
        """The same for a raw array."""
        if not self._taken:
            return
        item = array.dtype.itemsize
        strides = [math.prod(array.shape[axis + 1 :]) * item for axis in range(len(array.shape))]
        handle = os.open(array.path, os.O_RDONLY)
        try:
            self.check(
                lambda cell: os.pread(
                    handle, item, array.start + sum(i * stride for i, stride in zip(cell, strides, strict=True))
                )
            )
        finally:
            os.close(handle)
