"""Memory-mapped volumes: raw values in a file, of which only the pages of a block are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.reading import check_size, readable, reading
from fathometer.storage.volumes.block import BlockReader, VolumeInfo
from fathometer.storage.volumes.boxes import Box
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.stored import Stored


class MappedVolume(BlockReader):
    """A volume whose values fill the file `data` (`path` itself or another) from byte `offset` to its end; order: of
    its axes. stored: see BlockReader."""

    def __init__(
        self,
        path: Path,
        info: VolumeInfo,
        data: Path,
        offset: int,
        order: Literal["C", "F"] = "C",
        stored: Stored | None = None,
    ) -> None:
        super().__init__(path, info, stored)
        readable(data)
        expected = math.prod(info.shape) * info.dtype.itemsize
        header = "its header" if data == path else f"the header {path}"
        check_size(data, data.stat().st_size - offset, expected, f"{header} (shape {info.shape}, {info.dtype})")
        reverse = slice(None, None, -1 if order == "F" else 1)
        self.raw = RawArray(data, offset, info.shape[reverse], info.dtype, info.stepped and order == "C")
        self._reverse = reverse
        with reading(data):
            self._values: NDArray[Any] = np.memmap(data, info.dtype, "r", offset, info.shape, order)

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        return list(dict.fromkeys((self.path, self.raw.path)))

    def mapped(self, box: tuple[slice, ...]) -> NDArray[Any]:
        """The block as a view of the mapped file, in the file's dtype; using it reads it."""
        block: NDArray[Any] = self._values[box]
        return block

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        return self.mapped(box)

    def raw_box(self, box: Box) -> Box:
        """The box of the raw array that holds a box of the volume."""
        return box[0][self._reverse], box[1][self._reverse]

    def from_raw(self, block: NDArray[Any]) -> NDArray[Any]:
        """The volume's values in a block read from the raw array."""
        return block if self._reverse.step == 1 else block.T

    def close(self) -> None:
        self._values = np.empty((0,) * len(self.info.shape), self.info.dtype)
