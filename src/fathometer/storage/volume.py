"""Volumes on disk: opening one by its reference, and writing one from all ranks.

A *reference* is a file name relative to some folder, with the key of one array behind a colon where a file
holds several: "vp.rsf", "vp.npy", "models.npz:vp", "models.h5:run/vp", "vp.segy". The suffix tells the
format. A further format is one module with an opener, and its suffix here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.errors import InputError
from fathometer.storage.block import Volume, VolumeInfo, check_shape
from fathometer.storage.collective import Piece, write_pieces
from fathometer.storage.hdf5 import Hdf5Volume
from fathometer.storage.npy import npy_header, open_npy
from fathometer.storage.npz import NpzVolume
from fathometer.storage.rsf import open_rsf, rsf_header, rsf_header_only
from fathometer.storage.segy_volume import SegyVolume

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["OPENERS", "Volume", "VolumeInfo", "open_volume", "split_reference", "write_volume"]

OPENERS: Mapping[str, Callable[[Path, str | None], Volume]] = MappingProxyType(
    {
        ".rsf": open_rsf,
        ".npy": open_npy,
        ".npz": NpzVolume,
        ".h5": Hdf5Volume,
        ".hdf5": Hdf5Volume,
        ".segy": SegyVolume,
        ".sgy": SegyVolume,
    }
)


def split_reference(reference: str, directory: Path) -> tuple[Path, str | None]:
    """File and key of a reference. InputError where the suffix is none of the known formats'."""
    name, key = reference, None
    if Path(reference).suffix.lower() not in OPENERS and ":" in reference:
        # The file's name ends at the first colon behind a known suffix: a folder's name may hold colons too.
        for place in (i for i, letter in enumerate(reference) if letter == ":"):
            if Path(reference[:place]).suffix.lower() in OPENERS:
                name, key = reference[:place], reference[place + 1 :]
                break
    if Path(name).suffix.lower() not in OPENERS:
        raise InputError(f"{reference}: unknown kind of file (allowed: {', '.join(OPENERS)})")
    return directory / name, key


def open_volume(reference: str, directory: Path, header_only: bool = False) -> Volume:
    """Open a volume for reading, relative to `directory`.

    Reads headers only, except that a SEG-Y's trace headers are all read to find its grid. InputError, in
    one line: the file is missing, unreadable or of an unknown kind; the key is missing; the array is not 2D
    or 3D or not of real numbers; the file's size contradicts its header; an NPY holds pickled objects;
    SEG-Y traces form no grid.

    header_only: of an RSF the header alone will do; reading is an InputError where the values are missing.
    """
    path, key = split_reference(reference, directory)
    if header_only and path.suffix.lower() == ".rsf":
        return rsf_header_only(path, key)
    return OPENERS[path.suffix.lower()](path, key)


def write_volume(path: Path, info: VolumeInfo, block: NDArray[Any], lo: Sequence[int], comm: MPI.Intracomm) -> None:
    """Write a volume; collective over `comm`: every rank hands its block [lo, lo + block.shape).

    The blocks must tile the volume (a rank's may be empty). Values are written as float32 or float64
    (info.dtype), in native byte order. The suffix chooses the format:

    .rsf    values in NAME.rsf@ beside the header NAME.rsf (renamed into place in this order); all of `info`
    is kept,
            except that leading axes of length 1 are dropped on reading, as RSF has it
    .npy    shape and type only

    The file appears whole or not at all. InputError: suffix, shape, type or blocks wrong. FathometerError,
    the same on all ranks: the operating system refused (disk full, no permission, no such folder).
    """
    dtype = np.dtype(info.dtype).newbyteorder("=")
    if dtype not in (np.float32, np.float64):
        raise InputError(f"{path}: values of type {info.dtype} cannot be written (allowed: float32, float64)")
    info = replace(info, dtype=dtype, shape=check_shape(str(path), info.shape))
    match path.suffix.lower():
        case ".rsf":
            data = path.with_name(path.name + "@")
            pieces = [Piece(data, b"", True), Piece(path, rsf_header(info, f"./{data.name}"), False)]
        case ".npy":
            pieces = [Piece(path, npy_header(info), True)]
        case _:
            raise InputError(f"{path}: volumes are written as .rsf or .npy, not {path.suffix or 'without a suffix'}")
    write_pieces(pieces, path, info, block, lo, comm)
