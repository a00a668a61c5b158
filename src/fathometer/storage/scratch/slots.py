"""Slots of equal size in an anonymous scratch file, each for a list of arrays: written, read back, freed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.scratch.file import Scratch
from fathometer.storage.scratch.stack import padded


class Slots:
    """A scratch file of slots, each of which holds a list of arrays.

    Args:
        folder: of the file, which is removed with the process. size: bytes of a list's arrays, at most.
        most: number of slots, for which disk space is reserved at once. kind: of the file in the ledger.

    Raises FathometerError: no such folder, no space, a failing disk.
    """

    def __init__(self, folder: Path, size: int, most: int, kind: str) -> None:
        self._size = padded(size)
        self._free = list(range(most))[::-1]
        self._shapes: dict[int, list[tuple[tuple[int, ...], np.dtype[Any]]]] = {}
        self._file = Scratch(folder, kind, reserved=most * self._size)

    def put(self, arrays: Sequence[NDArray[Any]]) -> int:
        """Write contiguous arrays into a free slot; its number."""
        slot = self._free.pop()
        self._shapes[slot] = [(array.shape, array.dtype) for array in arrays]
        offset = slot * self._size
        for array in arrays:
            self._file.write(array, offset)
            offset += array.nbytes
        return slot

    def get(self, slot: int) -> list[NDArray[Any]]:
        """Read the arrays of a slot."""
        arrays: list[NDArray[Any]] = [np.empty(shape, dtype) for shape, dtype in self._shapes[slot]]
        offset = slot * self._size
        for array in arrays:
            self._file.read(array, offset)
            offset += array.nbytes
        return arrays

    def drop(self, slot: int) -> None:
        """Free a slot."""
        del self._shapes[slot]
        self._free.append(slot)

    def close(self) -> None:
        self._file.close()
