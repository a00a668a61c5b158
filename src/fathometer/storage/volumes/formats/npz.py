"""NPZ archives (zipped NPY files): `file.npz:key`.

A member of an archive cannot be memory-mapped: the first read of a rank reads (and decompresses) all of it, and keeps
it until close. For large volumes use RSF or NPY.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.storage.reading import readable, reading
from fathometer.storage.volumes.block import BlockReader
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.formats.npy import npy_info, read_npy_header


class NpzVolume(BlockReader):
    """One array of an NPZ archive; opening it reads its header only."""

    def __init__(self, path: Path, key: str | None) -> None:
        readable(path)
        try:
            with reading(path), zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
                self.key = choose_key(path, key, names)
                with archive.open(self.key + ".npy") as member:
                    shape, _, dtype = read_npy_header(member, f"{path}:{self.key}")
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise InputError(f"{path}: is not an NPZ archive ({error})") from None
        super().__init__(path, npy_info(f"{path}:{self.key}", shape, dtype))
        self._values: NDArray[Any] | None = None

    def files(self) -> list[Path]:
        """See Volume.files."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        if self._values is None:
            try:
                with np.load(self.path, allow_pickle=False) as archive:
                    self._values = np.asarray(archive[self.key])
            except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
                raise InputError(f"{self.path}:{self.key}: is damaged ({str(error).splitlines()[0]})") from None
        return self._values[box]

    def _bytes(self, box: tuple[slice, ...]) -> int:
        if self._values is not None:
            return 0
        with zipfile.ZipFile(self.path) as archive:
            return archive.getinfo(self.key + ".npy").compress_size

    def close(self) -> None:
        self._values = None
