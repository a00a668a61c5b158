"""Zarr version 3 volumes: a folder that is a group, its array "values" sharded, one shard a rank.

Shards are slabs of equal thickness along the slowest axis; ranks whose blocks lie across them send what lies in others'
shards, so that each shard is one file written by one rank. Chunks within a shard carry a checksum. Where cells have a
spacing, each axis has an array of coordinates in m. `folder.zarr:array`.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.volumes.block import BlockReader, Volume, VolumeInfo, check_shape, check_values
from fathometer.storage.volumes.boxes import extent, overlap, surrounding, within
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.formats.axis_metadata import coordinates, described, info_of, names_of
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

ARRAY = "values"
SIDE = 64  # cells of a chunk along each axis, at most
INSTALL = "pip install 'zarr>=3'"


def new_files(path: Path, info: VolumeInfo) -> list[atomic.NewFile]:
    """A folder."""
    return [atomic.NewFile(path, folder=True)]


def missing(name: str, ranks: int) -> str:
    """See formats.Format.missing."""
    return "" if importlib.util.find_spec("zarr") else f"Zarr needs the package zarr: {INSTALL}"


def source(volume: Volume, comm: MPI.Intracomm, strategy: Strategy) -> None:
    """Each rank opens the shards that it needs."""


def chunks_and_shards(shape: Sequence[int], ranks: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cells along each axis of a chunk and of a shard, which is a whole number of chunks; at most one shard a rank.

    >>> chunks_and_shards((300, 100, 50), 2)
    ((50, 50, 50), (150, 100, 50))
    """
    lengths = [-(-shape[0] // ranks), *shape[1:]]
    counts = [-(-n // SIDE) for n in lengths]
    chunks = [-(-n // count) for n, count in zip(lengths, counts, strict=True)]
    return tuple(chunks), tuple(chunk * count for chunk, count in zip(chunks, counts, strict=True))


class ZarrSink:
    """See formats.Sink."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        self._path = path
        self._part, self._info, self._comm, self._strategy = part, info, comm, strategy
        chunks, shards = chunks_and_shards(info.shape, comm.size)
        first, last = (min(rank * shards[0], info.shape[0]) for rank in (comm.rank, comm.rank + 1))
        self._mine = (first, *[0] * (len(shards) - 1)), (last, *info.shape[1:])
        with collective_errors(comm), atomic.writing(path):
            if comm.rank == 0:
                atomic.require_space(part, math.prod(info.shape) * info.dtype.itemsize)
                with ledger.io():
                    self._create(chunks, shards)
        import zarr

        with _system_errors():
            self._values: Any = zarr.open_array(part / ARRAY, mode="r+")

    def _create(self, chunks: tuple[int, ...], shards: tuple[int, ...]) -> None:
        import zarr
        from zarr.codecs import Crc32cCodec

        info, names = self._info, names_of(self._info)
        with _system_errors():
            group = zarr.create_group(self._part, zarr_format=3)
            group.create_array(
                ARRAY,
                shape=info.shape,
                dtype=info.dtype,
                chunks=chunks,
                shards=shards,
                compressors=[Crc32cCodec()],
                dimension_names=list(names),
                attributes=described(info),
            )
            if info.spacing is not None:
                for axis, name in enumerate(names):
                    places = coordinates(info, axis)
                    array = group.create_array(
                        name,
                        shape=places.shape,
                        dtype=places.dtype,
                        dimension_names=[name],
                        compressors=None,
                        attributes={"units": "m"},
                    )
                    array[:] = places

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """See formats.Sink. What lies in another rank's shard is sent to it."""
        box = tuple(map(int, lo)), tuple(int(a + n) for a, n in zip(lo, block.shape, strict=True))
        shared = [one for other in allgather(self._comm, box) if (one := overlap(other, self._mine))]
        around = surrounding(shared) if shared else (self._mine[0], self._mine[0])
        values = exchange(self._comm, block, lo, *around)
        # At once where the blocks fill what is around them, since each time the shard is written anew.
        full = sum(math.prod(extent(one)) for one in shared) == values.size
        with _system_errors(), ledger.io(bytes=values.nbytes):
            for one in [around] if full and shared else shared:
                self._values[within(one, (0,) * values.ndim)] = values[within(one, around[0])]

    def flush(self) -> None:
        """See formats.Sink."""
        if self._strategy.sync == "none":
            return
        with collective_errors(self._comm), atomic.writing(self._path), ledger.flush():
            files = [path for path in self._part.rglob("*") if path.is_file()]
            for path in files[self._comm.rank :: self._comm.size]:
                with path.open("rb") as file:
                    os.fsync(file.fileno())
            if self._comm.rank == 0:
                for folder in (self._part, *(path for path in self._part.rglob("*") if path.is_dir())):
                    atomic.flush_folder(folder)

    def close(self) -> None:
        """See formats.Sink. The library makes folders that are not there: one that vanished would not be missed."""
        with collective_errors(self._comm), atomic.writing(self._path):
            for path in (self._part / "zarr.json", self._part / ARRAY / "zarr.json"):
                path.stat()

    def abandon(self, error: FathometerError) -> None:
        """See formats.Sink."""


class ZarrVolume(BlockReader):
    """One array of a Zarr group, or an array that is no group's, for one rank."""

    def __init__(self, path: Path, key: str | None) -> None:
        import zarr

        with reading(path):
            os.scandir(path).close()
        try:
            found = zarr.open(path, mode="r")
            arrays = dict(found.arrays()) if isinstance(found, zarr.Group) else {}
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: is not a readable Zarr folder ({_line(error)})") from None
        if isinstance(found, zarr.Group):
            several = {name: one for name, one in arrays.items() if one.ndim in (2, 3)}
            self.key = choose_key(path, key, list(several) or list(arrays))
            self._values: Any = arrays[self.key]
        elif key is not None:
            raise InputError(f"{path}:{key}: holds one array and takes no key")
        else:
            self._values = found
        dtype = np.dtype(self._values.dtype)
        check_values(str(path), dtype)
        super().__init__(path, info_of(check_shape(str(path), self._values.shape), dtype, dict(self._values.attrs)))

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        with _system_errors():
            return np.asarray(self._values[box])


@contextlib.contextmanager
def _system_errors() -> Iterator[None]:
    """What the library raises, as errors of the system: one line."""
    try:
        yield
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise OSError(errno.EIO, f"Zarr: {_line(error)}") from None


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
