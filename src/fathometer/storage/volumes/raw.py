"""Arrays that lie in a file as they are, from some byte on, in C order: what RSF, NPY and SEG-Y volumes share."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage import atomic
from fathometer.storage.volumes.block import reading
from fathometer.storage.volumes.boxes import Box, extent, runs

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.storage.volumes.strategy import Strategy


@dataclass(frozen=True)
class RawArray:
    """An array in a file: where it begins (byte), its shape, slowest axis first, and its type, byte order included."""

    path: Path
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def at(self, path: Path) -> RawArray:
        """The same in another file."""
        return replace(self, path=path)


@runtime_checkable
class RawVolume(Protocol):
    """A volume whose values lie in a raw array."""

    raw: RawArray

    def raw_box(self, box: Box) -> Box:
        """Where a box of the volume lies in the raw array."""

    def from_raw(self, block: NDArray[Any]) -> NDArray[Any]:
        """The values of the volume's box in what was read of the raw array."""


class RawFile(Protocol):
    """One open file and the way to it; all calls are collective over the ranks that opened it.

    Errors of the system are OSErrors, on the ranks that have them: whoever calls tells the others.
    """

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Put a block, C-contiguous and of the file's type, at `lo` of the array."""

    def read(self, box: Box) -> NDArray[Any]:
        """The block of a box, of the file's type."""

    def flush(self) -> None: ...

    def close(self) -> None: ...


def open_raw(array: RawArray, strategy: Strategy, comm: MPI.Intracomm, write: bool) -> RawFile:
    """Collective. Open the file of an array by a strategy; OSError where the system refuses it on some rank."""
    from fathometer.storage.volumes.mpiio import MpiFile
    from fathometer.storage.volumes.strategy import ROOT, SHARED

    return (
        PosixFile(array, strategy, write) if strategy.name in (SHARED, ROOT) else MpiFile(array, strategy, comm, write)
    )


class PosixFile:
    """A file in which each rank moves its own runs by pwrite and pread."""

    def __init__(self, array: RawArray, strategy: Strategy, write: bool) -> None:
        flags = os.O_WRONLY if write else os.O_RDONLY
        self._array = array
        self._sync = write and strategy.sync == "fsync"
        self._handle = os.open(array.path, flags | (os.O_DSYNC if write and strategy.sync == "o_dsync" else 0))

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """See RawFile.write."""
        data, item = atomic.octets(block), block.dtype.itemsize
        with ledger.io(bytes=len(data)):
            for cell, place, count in runs(self._array.shape, block.shape, lo):
                part = data[cell * item : (cell + count) * item]
                atomic.write_at(self._handle, part, self._array.start + place * item)

    def read(self, box: Box) -> NDArray[Any]:
        """See RawFile.read."""
        array, shape = self._array, extent(box)
        block = np.empty(shape, array.dtype)
        data, item = atomic.octets(block), array.dtype.itemsize
        with reading(array.path), ledger.io(bytes=len(data)):
            for cell, place, count in runs(array.shape, shape, box[0]):
                offset = array.start + place * item
                found = atomic.read_at(self._handle, data[cell * item : (cell + count) * item], offset)
                if found < count * item:
                    raise InputError(f"{array.path}: ends at byte {offset + found}, before the end of its array")
        return block

    def flush(self) -> None:
        """See RawFile.flush."""
        if self._sync:
            with ledger.flush():
                os.fsync(self._handle)

    def close(self) -> None:
        """See RawFile.close."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def room_for(path: Path, box: Box, dtype: np.dtype[Any], comm: MPI.Intracomm) -> NDArray[Any]:
    """Collective. An array for a box; FathometerError on all ranks alike where one has no memory for it."""
    with collective_errors(comm):
        try:
            return np.empty(extent(box), dtype)
        except MemoryError:
            raise FathometerError(f"{path}: not enough memory for a block of {extent(box)} cells") from None


def hints(pairs: Iterable[tuple[str, str]]) -> MPI.Info:
    """What MPI-IO is told beside a file's name, to be freed; OSError where MPI does not take one of them."""
    from mpi4py import MPI

    info = MPI.Info.Create()
    for key, value in pairs:
        try:
            info.Set(key, value)
        except MPI.Exception:
            info.Free()
            raise OSError(errno.EINVAL, f"MPI does not take the hint {key}={value}") from None
    return info


def check_opening(path: Path, comm: MPI.Intracomm, flags: int) -> None:
    """Collective. OSError, the same on all ranks, where some rank cannot open the file: MPI might hang over it."""
    failures: list[OSError] = []
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        failures.append(error)
    for found in allgather(comm, failures):
        if found:
            raise found[0]
