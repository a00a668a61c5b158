"""NPZ archives (zipped NPY files): `file.npz:key`.

A member of an archive cannot be memory-mapped: the first read of a rank reads (and decompresses) all of it, and keeps
it until close. For large volumes use RSF or NPY. Members that are called as axes are give names, spacing and origin
where their lengths fit one order of the axes alone.
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
from fathometer.storage.volumes.axis_labels import axis_of
from fathometer.storage.volumes.block import BlockReader
from fathometer.storage.volumes.formats.axis_metadata import Dimension, stated
from fathometer.storage.volumes.formats.coordinates_beside import names_by_length
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.formats.npy import npy_info, read_npy_header


class NpzVolume(BlockReader):
    """One array of an NPZ archive; opening it reads its header only."""

    def __init__(self, path: Path, key: str | None) -> None:
        readable(path)
        with reading(path), decoding(path, "is not an NPZ archive"), zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            self.key = choose_key(path, key, names)
            name = f"{path}:{self.key}"
            with archive.open(self.key + ".npy") as member:
                shape, _, dtype = read_npy_header(member, name)
                offset = member.tell()
            info, size = npy_info(name, shape, dtype), archive.getinfo(self.key + ".npy").file_size
            dimensions = _beside(path, archive, names, shape)
        check_size(path, size - offset, math.prod(shape) * dtype.itemsize, f"the header of {self.key} (shape {shape})")
        if dimensions:
            super().__init__(path, *stated(name, info.shape, dtype, {}, dimensions))
        else:
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


def _beside(path: Path, archive: zipfile.ZipFile, names: list[str], shape: tuple[int, ...]) -> list[Dimension]:
    """The dimensions of an array by the members that are called as axes are; none where these do not tell."""
    lengths = {}
    for name in names:
        if axis_of(name):
            with archive.open(name + ".npy") as member:
                found, _, dtype = read_npy_header(member, f"{path}:{name}")
            if len(found) == 1 and dtype.kind in "fiu":
                lengths[name] = found[0]
    chosen = names_by_length(shape, lengths)
    if not chosen:
        return []
    with np.load(path, allow_pickle=False) as arrays:
        return [Dimension(name, arrays[name]) for name in chosen]
