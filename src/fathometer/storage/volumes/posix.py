"""Raw arrays by POSIX calls: each rank reads and writes the contiguous runs of its block by pread and pwrite."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.volumes.boxes import Box, extent, runs
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.strategy import Strategy


class PosixFile:
    """A raw array in a file that this rank reads or writes by system calls."""

    def __init__(self, array: RawArray, strategy: Strategy, write: bool) -> None:
        flags = os.O_WRONLY if write else os.O_RDONLY
        self._array = array
        self._sync = write and strategy.sync == "fsync"
        self._handle = os.open(array.path, flags | (os.O_DSYNC if write and strategy.sync == "o_dsync" else 0))

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write a block, C-contiguous and of the array's dtype, to the array's cells from `lo` on."""
        data, item = atomic.octets(block), block.dtype.itemsize
        with ledger.io(bytes=len(data)):
            for block_cell, array_cell, cells in runs(self._array.shape, block.shape, lo):
                part = data[block_cell * item : (block_cell + cells) * item]
                atomic.write_at(self._handle, part, self._array.start + array_cell * item)

    def read(self, box: Box) -> NDArray[Any]:
        """The block of a box, in the array's dtype."""
        array, shape = self._array, extent(box)
        block = np.empty(shape, array.dtype)
        data, item = atomic.octets(block), array.dtype.itemsize
        with reading(array.path), ledger.io(bytes=len(data)):
            for block_cell, array_cell, cells in runs(array.shape, shape, box[0]):
                offset = array.start + array_cell * item
                bytes_read = atomic.read_at(self._handle, data[block_cell * item : (block_cell + cells) * item], offset)
                if bytes_read < cells * item:
                    raise InputError(f"{array.path}: ends at byte {offset + bytes_read}, before the end of its array")
        return block

    def flush(self) -> None:
        """Have what was written on the device, where the strategy asks for it."""
        if self._sync:
            with ledger.flush():
                os.fsync(self._handle)

    def close(self) -> None:
        """Close the file, once."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)
