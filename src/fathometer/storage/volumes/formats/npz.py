"""NPZ archives (zipped NPY files): `file.npz:key`.

A member of an archive cannot be memory-mapped: the first read of a rank reads (and decompresses) all of it, and keeps
it until close. For large volumes use RSF or NPY.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.reading import check_size, decoding, readable, reading
from fathometer.storage.volumes.block import BlockReader
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.formats.npy import npy_info, read_npy_header


class NpzVolume(BlockReader):
    """One array of an NPZ archive; opening it reads its header only."""

    def __init__(self, path: Path, key: str | None) -> None:
        readable(path)
        with reading(path), decoding(path, "is not an NPZ archive"), zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            self.key = choose_key(path, key, names)
            with archive.open(self.key + ".npy") as member:
                shape, _, dtype = read_npy_header(member, f"{path}:{self.key}")
                offset = member.tell()
            info, size = npy_info(f"{path}:{self.key}", shape, dtype), archive.getinfo(self.key + ".npy").file_size
        check_size(path, size - offset, math.prod(shape) * dtype.itemsize, f"the header of {self.key} (shape {shape})")
        super().__init__(path, replace(info, titles=(self.key,)))
        self._values: NDArray[Any] | None = None

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        if self._values is None:
            with decoding(f"{self.path}:{self.key}", "is damaged"), np.load(self.path, allow_pickle=False) as archive:
                self._values = np.asarray(archive[self.key])
        return self._values[box]

    def _bytes(self, box: tuple[slice, ...]) -> int:
        if self._values is not None:
            return 0
        with zipfile.ZipFile(self.path) as archive:
            return archive.getinfo(self.key + ".npy").compress_size

    def close(self) -> None:
        self._values = None
