"""Lists of arrays in a file without a name: put aside, read back as often as needed, dropped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer import ledger
from fathometer.errors import FathometerError
from fathometer.storage import whole
from fathometer.storage.stack import nameless, padded, read_at


class Slots:
    """Places of equal size, of which each holds a list of arrays.

    Args:
        folder: of the file, which goes with the process. size: bytes of the arrays of a list, at most.
        most: lists at the same time; their place on the disk is taken at once. kind: of the file in the account.

    Raises FathometerError: no such folder, no place, a failing disk.
    """

    def __init__(self, folder: Path, size: int, most: int, kind: str) -> None:
        self._folder, self._size, self._kind = folder, padded(size), kind
        self._free = list(range(most))[::-1]
        self._shapes: dict[int, list[tuple[tuple[int, ...], np.dtype[Any]]]] = {}
        self._file = nameless(folder, direct=False)
        try:
            with ledger.file(kind, "write"), ledger.io():
                if most:
                    whole.reserve(self._file, most * self._size)
        except OSError as error:
            self.close()
            raise self._failure(error) from None

    def put(self, arrays: Sequence[NDArray[Any]]) -> int:
        """Write contiguous arrays; the number of their slot."""
        slot = self._free.pop()
        self._shapes[slot] = [(array.shape, array.dtype) for array in arrays]
        at = slot * self._size
        with ledger.file(self._kind, "write"), ledger.io(bytes=sum(array.nbytes for array in arrays)):
            for array in arrays:
                if array.nbytes:
                    try:
                        whole.write_at(self._file, array.reshape(-1).view(np.uint8).data, at)
                    except OSError as error:
                        raise self._failure(error) from None
                at += array.nbytes
        return slot

    def get(self, slot: int) -> list[NDArray[Any]]:
        """The arrays of a slot."""
        arrays: list[NDArray[Any]] = [np.empty(shape, dtype) for shape, dtype in self._shapes[slot]]
        at = slot * self._size
        with ledger.file(self._kind, "read"), ledger.io(bytes=sum(array.nbytes for array in arrays)):
            for array in arrays:
                if array.nbytes:
                    try:
                        read_at(self._file, array.reshape(-1).view(np.uint8).data, at)
                    except OSError as error:
                        raise self._failure(error) from None
                at += array.nbytes
        return arrays

    def drop(self, slot: int) -> None:
        """The slot may be used again."""
        del self._shapes[slot]
        self._free.append(slot)

    def close(self) -> None:
        with suppress(OSError):
            os.close(self._file)

    def _failure(self, error: OSError) -> FathometerError:
        return FathometerError(f"{self._folder}: the {self._kind} cannot be kept there: {error.strerror or error}")
