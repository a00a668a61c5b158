"""Writing and reading RSF, NPY and SEG-Y volumes on several ranks: one file of raw values, by POSIX calls or MPI-IO."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import collective_errors
from fathometer.storage import atomic
from fathometer.storage.atomic import NewFile
from fathometer.storage.volumes.block import Volume, VolumeInfo
from fathometer.storage.volumes.boxes import Box
from fathometer.storage.volumes.formats.npy import npy_header
from fathometer.storage.volumes.formats.rsf import rsf_header
from fathometer.storage.volumes.formats.segy_encoding import SegyEncoder
from fathometer.storage.volumes.open_raw import open_raw
from fathometer.storage.volumes.raw_array import RawArray, RawVolume
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

Encode = Callable[[NDArray[Any], Sequence[int]], tuple[NDArray[Any], Sequence[int]]]


def rsf_files(path: Path, info: VolumeInfo) -> list[NewFile]:
    """The file of the values, then the header that names it."""
    data = path.with_name(path.name + "@")
    size = math.prod(info.shape) * info.dtype.itemsize
    return [NewFile(data, b"", size), NewFile(path, rsf_header(info, f"./{data.name}"))]


def npy_files(path: Path, info: VolumeInfo) -> list[NewFile]:
    """The file of an NPY volume."""
    return [NewFile(path, npy_header(info), math.prod(info.shape) * info.dtype.itemsize)]


def segy_files(path: Path, info: VolumeInfo) -> list[NewFile]:
    """The file of a SEG-Y volume."""
    encoder = SegyEncoder(path, info)
    return [NewFile(path, encoder.head, math.prod(encoder.raw.shape))]


class RawSink:
    """A volume that is a raw array in a file, being written."""

    def __init__(
        self, array: RawArray, comm: MPI.Intracomm, strategy: Strategy, encode: Encode = lambda block, lo: (block, lo)
    ) -> None:
        self._encode, self._comm = encode, comm
        self._path = array.path
        self._file = open_raw(array, strategy, comm, write=True)

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty."""
        with collective_errors(self._comm), atomic.writing(self._path):
            encoded, encoded_lo = self._encode(block, lo)
        self._file.write(encoded, encoded_lo)

    def flush(self) -> None:
        """Collective. Have what was written on the device, where the strategy asks for it."""
        self._file.flush()

    def close(self) -> None:
        """Collective. Close the file."""
        self._file.close()

    def abandon(self, error: FathometerError) -> None:
        """Collective. Close the file; the error is raised elsewhere."""
        self._file.close()


def sink(part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> RawSink:
    """The writer of a volume in RSF or NPY."""
    start = len(npy_header(info)) if path.suffix.lower() == ".npy" else 0
    return RawSink(RawArray(part, start, info.shape, info.dtype, info.stepped), comm, strategy)


def segy_sink(part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> RawSink:
    """The writer of a volume in SEG-Y."""
    encoder = SegyEncoder(path, info)
    return RawSink(encoder.raw.in_file(part), comm, strategy, encoder.encode)


class RawSource:
    """A volume that is a raw array in a file, being read."""

    def __init__(self, volume: RawVolume, comm: MPI.Intracomm, strategy: Strategy) -> None:
        self._volume = volume
        self._file = open_raw(volume.raw, strategy, comm, write=False)

    def read(self, box: Box) -> NDArray[Any]:
        """The values of a box of the volume, in any real dtype."""
        lo, hi = self._volume.raw_box(box)
        empty = any(a >= b for a, b in zip(*box, strict=True))
        block = self._file.read((lo, lo) if empty else (lo, hi))
        return np.empty([b - a for a, b in zip(*box, strict=True)]) if empty else self._volume.from_raw(block)

    def close(self) -> None:
        """Collective. Close the file."""
        self._file.close()


def source(volume: Volume, comm: MPI.Intracomm, strategy: Strategy) -> RawSource | None:
    """Its reader on several ranks; None for a volume that is no raw array, such as a member of an archive."""
    return RawSource(volume, comm, strategy) if isinstance(volume, RawVolume) else None
