"""Raw arrays: values stored contiguously in C order from some byte of a file on, as in RSF, NPY and SEG-Y volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.boxes import Box


@dataclass(frozen=True)
class RawArray:
    """Location of an array in a file: first byte, shape (slowest axis first), dtype with its byte order.

    stepped: the first axis is of steps, each an array of the other axes.
    """

    path: Path
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stepped: bool = False

    def in_file(self, path: Path) -> RawArray:
        """The same location in another file."""
        return replace(self, path=path)


@runtime_checkable
class RawVolume(Protocol):
    """A volume whose values are stored in a raw array."""

    raw: RawArray

    def raw_box(self, box: Box) -> Box:
        """The box of the raw array that holds a box of the volume."""

    def from_raw(self, block: NDArray[Any]) -> NDArray[Any]:
        """The volume's values in a block read from the raw array."""


class RawFile(Protocol):
    """A raw array's file, opened by several ranks; all calls are collective over them.

    Errors of the system are OSErrors on the ranks that have them; the caller tells the others.
    """

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write a block, C-contiguous and of the array's dtype, to the array's cells from `lo` on."""

    def read(self, box: Box) -> NDArray[Any]:
        """The block of a box, in the array's dtype."""

    def flush(self) -> None: ...

    def close(self) -> None: ...
