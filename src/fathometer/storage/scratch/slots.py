"""Lists of arrays in a file without a name: put aside, read back as often as needed, dropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.scratch.file import Scratch
from fathometer.storage.scratch.stack import padded


class Slots:
    """Places of equal size, of which each holds a list of arrays.

    Args:
        folder: of the file, which goes with the process. size: bytes of the arrays of a list, at most.
        most: lists at the same time; their place on the disk is taken at once. kind: of the file in the account.

    Raises FathometerError: no such folder, no place, a failing disk.
    """

    def __init__(self, folder: Path, size: int, most: int, kind: str) -> None:
        self._size = padded(size)
        self._free = list(range(most))[::-1]
        self._shapes: dict[int, list[tuple[tuple[int, ...], np.dtype[Any]]]] = {}
        self._file = Scratch(folder, kind, reserved=most * self._size)

    def put(self, arrays: Sequence[NDArray[Any]]) -> int:
        """Write contiguous arrays; the number of their slot."""
        slot = self._free.pop()
        self._shapes[slot] = [(array.shape, array.dtype) for array in arrays]
        at = slot * self._size
        for array in arrays:
            self._file.write(array, at)
            at += array.nbytes
        return slot

    def get(self, slot: int) -> list[NDArray[Any]]:
        """The arrays of a slot."""
        arrays: list[NDArray[Any]] = [np.empty(shape, dtype) for shape, dtype in self._shapes[slot]]
        at = slot * self._size
        for array in arrays:
            self._file.read(array, at)
            at += array.nbytes
        return arrays

    def drop(self, slot: int) -> None:
        """The slot may be used again."""
        del self._shapes[slot]
        self._free.append(slot)

    def close(self) -> None:
        self._file.close()
