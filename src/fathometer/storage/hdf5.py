"""HDF5 datasets: `file.h5:group/dataset`. Each read takes the hyperslab of its block only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from fathometer.errors import InputError
from fathometer.storage.block import BlockReader, VolumeInfo, check_shape, check_values, readable
from fathometer.storage.keys import choose_key


class Hdf5Volume(BlockReader):
    """One dataset of an HDF5 file. Spacing, origin and unit are unknown: HDF5 has no convention for them."""

    def __init__(self, path: Path, key: str | None) -> None:
        readable(path)
        try:
            self._file = h5py.File(path, "r")
        except OSError as error:
            raise InputError(f"{path}: is not a readable HDF5 file ({str(error).splitlines()[0]})") from None
        try:
            names: list[str] = []
            self._file.visititems(lambda n, item: names.append(n) if isinstance(item, h5py.Dataset) else None)
            self.key = choose_key(path, key, names)
            self._values = self._file[self.key]
            name = f"{path}:{self.key}"
            check_values(name, self._values.dtype)
            shape = check_shape(name, self._values.shape or ())
        except BaseException:
            self._file.close()
            raise
        super().__init__(path, VolumeInfo(shape, self._values.dtype, None, None, None, None))

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        return np.asarray(self._values[box])

    def close(self) -> None:
        self._file.close()
