"""Raw values in a file, mapped into memory: the pages of the block asked for are read, no others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.block import BlockReader, VolumeInfo, check_size, readable, reading


class MappedVolume(BlockReader):
    """A volume whose values lie in `data` (the file itself or another) from byte `offset` to its end."""

    def __init__(self, path: Path, info: VolumeInfo, data: Path, offset: int, order: Literal["C", "F"] = "C") -> None:
        super().__init__(path, info)
        readable(data)
        expected = math.prod(info.shape) * info.dtype.itemsize
        whose = "its header" if data == path else f"the header {path}"
        check_size(data, data.stat().st_size - offset, expected, f"{whose} (shape {info.shape}, {info.dtype})")
        with reading(data):
            self._values: NDArray[Any] = np.memmap(data, info.dtype, "r", offset, info.shape, order)

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        block: NDArray[Any] = self._values[box]
        return block

    def close(self) -> None:
        self._values = np.empty((0,) * len(self.info.shape), self.info.dtype)
