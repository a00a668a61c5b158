"""NPY files (NumPy's array format, versions 1 to 3): memory-mapped, never unpickled.

An NPY carries shape and type only: no spacing, no origin, no unit.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format

from fathometer.base.errors import InputError
from fathometer.storage.reading import decoding, readable, reading
from fathometer.storage.volumes.block import VolumeInfo, check_shape, check_values
from fathometer.storage.volumes.formats.memory_map import MappedVolume

LONGEST_HEADER = 1 << 16  # bytes; of numbers it has a hundred


def open_npy(path: Path, key: str | None = None) -> MappedVolume:
    """Open an NPY for reading. InputError: not an NPY, pickled objects, wrong shape, dtype or file size."""
    if key is not None:
        raise InputError(f"{path}:{key}: an .npy file holds one array and takes no key")
    readable(path)
    with reading(path), path.open("rb") as file:
        shape, fortran, dtype = read_npy_header(file, str(path))
        offset = file.tell()
    info = npy_info(str(path), shape, dtype)
    return MappedVolume(path, info, path, offset, "F" if fortran else "C")


def read_npy_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and dtype; leaves `file` at the first value. InputError where it is no NPY."""
    with decoding(name, "is not an NPY array of numbers", "; pickles are never loaded"):
        version = npy_format.read_magic(file)
        if version != (1, 0):  # NumPy asks for the memory of a header before it reads it
            length = int.from_bytes(file.read(4), "little")
            file.seek(file.tell() - 4)
            if length > LONGEST_HEADER:
                raise ValueError(f"a header of {length} bytes")
        # Version 3 differs from 2 in the encoding of field names only, and arrays with fields are refused
        # below.
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    if dtype.hasobject:
        raise InputError(f"{name}: holds pickled Python objects, which are never loaded; save it as an array of floats")
    return shape, fortran, dtype


def npy_info(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> VolumeInfo:
    """Metadata of an array in NPY format; InputError for a wrong number of axes or a wrong dtype."""
    check_values(name, dtype)
    return VolumeInfo(check_shape(name, shape), dtype, None, None, None, None)


def npy_header(info: VolumeInfo) -> bytes:
    """Header of an NPY in C order: the bytes before its values."""
    buffer = io.BytesIO()
    descr = npy_format.dtype_to_descr(info.dtype)
    npy_format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": info.shape})
    return buffer.getvalue()
