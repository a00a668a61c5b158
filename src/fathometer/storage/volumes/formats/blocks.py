"""Volumes as a folder of blocks: one NPY file for each block that a rank wrote, and index.json, which locates them.

No two ranks share a file, which gives the upper limit of a file system's rate; the number of files grows with the
ranks.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values
from fathometer.storage.reading import decoding, readable, reading
from fathometer.storage.volumes.block import BlockReader, Volume, VolumeInfo, check_shape, check_values
from fathometer.storage.volumes.boxes import Box, extent, overlap, within
from fathometer.storage.volumes.formats.axis_metadata import stated
from fathometer.storage.volumes.formats.npy import npy_header, open_npy
from fathometer.storage.volumes.formats.place_metadata import known_attributes, place_attributes
from fathometer.storage.volumes.posix import PosixFile
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

INDEX = "index.json"
LAYOUT = "fathometer blocks 1"
MARK = Mark(INDEX, f'{{\n "layout": "{LAYOUT}"'.encode())


def new_files(path: Path, info: VolumeInfo) -> list[atomic.NewFile]:
    """The folder."""
    return [atomic.NewFile(path, folder=MARK)]


def source(volume: Volume, comm: MPI.Intracomm, strategy: Strategy) -> None:
    """None: each rank reads the files that it needs by itself."""


class BlocksSink:
    """A folder of blocks being written: each block that a rank writes becomes one file."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        self._path = path
        self._folder, self._info, self._comm, self._strategy = part, info, comm, strategy
        self._written: list[tuple[Path, Sequence[int], Sequence[int]]] = []
        self._files: list[PosixFile] = []

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty."""
        if not block.size:
            return
        path = self._folder / f"block-{self._comm.rank:05d}-{len(self._files):05d}.npy"
        head = npy_header(VolumeInfo(block.shape, block.dtype, None, None, None, None))
        handle = path.open("xb")
        with handle:
            atomic.reserve(handle.fileno(), len(head) + block.nbytes)
            with ledger.io(bytes=len(head)):
                atomic.write_at(handle.fileno(), memoryview(head), 0)
        file = PosixFile(RawArray(path, len(head), block.shape, block.dtype), self._strategy, write=True)
        self._files.append(file)
        self._written.append((path, tuple(map(int, lo)), block.shape))
        file.write(block, (0,) * block.ndim)

    def flush(self) -> None:
        """Have what this rank wrote on the device, where the strategy asks for it."""
        for file in self._files:
            file.flush()

    def close(self) -> None:
        """Collective. Close the files; rank 0 writes the index."""
        with collective_errors(self._comm), atomic.writing(self._path):
            for file in self._files:
                file.close()
        blocks = allgather(self._comm, [(path.name, lo, shape) for path, lo, shape in self._written])
        with collective_errors(self._comm), atomic.writing(self._path):
            if self._comm.rank == 0:
                self._write_index([block for rank_blocks in blocks for block in rank_blocks])
        if self._strategy.sync != "none":
            atomic.flush_folder(self._folder)

    def _write_index(self, blocks: Sequence[tuple[str, Sequence[int], Sequence[int]]]) -> None:
        info = self._info
        # An index with an axis of time says the unit of each axis; one without is in metres.
        lengths = {"spacing_metres": info.spacing, "origin_metres": info.origin}
        timed = {"spacing": info.spacing, "origin": info.origin, "axis_units": info.axis_units}
        index = {
            "layout": LAYOUT,
            "shape": info.shape,
            "dtype": info.dtype.str,
            **(timed if info.in_time else lengths),
            "labels": info.labels,
            "unit": info.unit,
            **place_attributes(info.place),
            "blocks": [{"file": name, "first": lo, "shape": shape} for name, lo, shape in blocks],
        }
        text = json.dumps(index, indent=1).encode()
        with (self._folder / INDEX).open("xb") as file, ledger.io(bytes=len(text)):
            file.write(text)
            file.flush()
            if self._strategy.sync != "none":
                os.fsync(file.fileno())

    def abandon(self, error: FathometerError) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


class BlocksVolume(BlockReader):
    """A folder of blocks for reading. InputError: no such folder, an invalid index, blocks that do not fill it."""

    def __init__(self, path: Path, key: str | None = None) -> None:
        if key is not None:
            raise InputError(f"{path}:{key}: a .blocks folder holds one array and takes no key")
        with reading(path / INDEX):
            text = readable(path / INDEX).read_bytes()
        with decoding(path / INDEX, "is not the index of a .blocks folder"):
            index = json_values(text)
            if index["layout"] != LAYOUT:
                raise ValueError(f"layout {index['layout']!r}")
            dtype = np.dtype(index["dtype"])
            self._blocks: list[tuple[Path, Box]] = [
                (path / Path(entry["file"]).name, _box(entry["first"], entry["shape"])) for entry in index["blocks"]
            ]
            shape = check_shape(str(path), index["shape"])
            whole_box: Box = (0,) * len(shape), shape
            if outside := [box for _, box in self._blocks if overlap(box, whole_box) != box]:
                raise ValueError(f"a block {outside[0]} in a volume of {shape}")
            names = {"labels": "labels", "units": "unit"}
            for name in ("spacing", "origin"):
                names[name] = name if "axis_units" in index else f"{name}_metres"
            own = {key: index[name] for key, name in names.items()}
            info, _ = stated(str(path), shape, dtype, own | known_attributes(index))
        check_values(str(path), dtype)
        super().__init__(path, info)
        cells = sum(math.prod(extent(box)) for _, box in self._blocks)
        if cells != math.prod(shape):
            raise InputError(f"{path}: its blocks hold {cells} cells where its index asks for {math.prod(shape)}")

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        return list(dict.fromkeys((self.path / INDEX, *(path for path, _ in self._blocks))))

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        wanted: Box = tuple(s.start for s in box), tuple(s.stop for s in box)
        block, found = np.zeros(extent(wanted), self.info.dtype), np.zeros(extent(wanted), np.bool_)
        for path, stored in self._blocks:
            if shared := overlap(stored, wanted):
                try:
                    with open_npy(path) as part:
                        if part.info.shape != extent(stored):
                            raise InputError(f"{path}: holds {part.info.shape} cells, by the index {extent(stored)}")
                        block[within(shared, wanted[0])] = part.mapped(within(shared, stored[0]))
                        found[within(shared, wanted[0])] = True
                except FathometerError as error:
                    raise InputError(f"{self.path}: {error}") from None
        if not found.all():  # of blocks that overlap
            raise InputError(f"{self.path}: {found.size - int(found.sum())} cells are in none of its blocks")
        return block


def _box(lo: Sequence[int], shape: Sequence[int]) -> Box:
    return tuple(map(int, lo)), tuple(int(a) + int(n) for a, n in zip(lo, shape, strict=True))
