"""Volumes as wavelet coefficients in plain HDF5, to be read coarsely, or by their largest coefficients, in part.

The transform (CDF 9/7 on blocks of 64 cells along each axis, in two dimensions of 512; the last blocks have what
remains) and the order and code of coefficients are those of native/wavelet. A file holds, beside the volume's
attributes in the group "wavelet":

    wavelet/coarse          the low-pass corner of all blocks, as values: every 16th cell (2D: 128th), a plain volume
    wavelet/checks          [step, block, share, level, coarse first] of what follows
    wavelet/1:500/values    coefficients of the blocks, one block after the other (z fastest), that the share 1:500
                            adds to the corner; wavelet/1:500/high and low: their places
    wavelet/1:100/…         those that it adds to 1:500, and so on

All datasets are contiguous and as long as the shape and the shares say, whatever the values. So rank 0 describes the
file, and ranks write their bytes into it by any strategy of raw files.

Keys: `levels/2` the volume at a quarter of the cells along each axis, `shares/100` of the coefficients up to 1:100,
`levels/2/shares/100` both; without a key, or `values`, all that there is.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer import _native
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, shortened
from fathometer.parallel.collectives import allreduce, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values
from fathometer.storage.volumes.block import BlockReader, VolumeInfo
from fathometer.storage.volumes.boxes import Box, extent, overlap, runs, within
from fathometer.storage.volumes.compression import Compression
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.formats.axis_metadata import attributes_of, stated
from fathometer.storage.volumes.formats.hdf5_common import VERSIONS, close_read, describe, system_errors
from fathometer.storage.volumes.formats.place_metadata import text_of
from fathometer.storage.volumes.levels import info_at, own_box, whole_steps
from fathometer.storage.volumes.open_raw import open_raw
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

GROUP, COARSE, CHECKS = "wavelet", "coarse", "checks"
PARTS = ("values", "high", "low")  # of a share
FORMAT = "CDF 9/7 by blocks, 1"  # attribute of the group
EDGE, EDGE_2D = 64, 512  # cells of a block along each axis
COARSEST = 2  # a block's corner has at most 2 to this power cells along each axis
BATCH = 64  # blocks that are coded together, about
NOTHING: Box = (0, 0, 0), (0, 0, 0)

Lists = tuple[list[NDArray[Any]], list[NDArray[Any]], list[NDArray[Any]]]  # values, high and low, by share


@dataclass(frozen=True)
class Layout:
    """How a volume lies in a file.

    Attributes:
        cells: of a step along x, y, z; in two dimensions one along y. steps: how many. shares: denominators, falling.
        flat: whether the volume has two dimensions. stepped: whether it has an axis of steps.
    """

    cells: Index3
    steps: int
    shares: tuple[int, ...]
    flat: bool = False
    stepped: bool = False

    @classmethod
    def of(cls, info: VolumeInfo, shares: Sequence[int]) -> Layout:
        """Of a volume of two or three axes, and perhaps one of steps before them."""
        shape = info.shape[info.stepped :]
        steps = info.shape[0] if info.stepped else 1
        return cls(solid(shape, 1), steps, tuple(shares), len(shape) == 2, info.stepped)

    def of_axes(self, lengths: Sequence[int]) -> tuple[int, ...]:
        """Those along the volume's axes, of numbers along x, y, z."""
        return tuple(lengths[:: 2 if self.flat else 1])

    @cached_property
    def edge(self) -> Index3:
        """Cells of a block along x, y, z; the last ones have what remains."""
        x, y, z = (min(n, EDGE_2D if self.flat else EDGE) for n in self.cells)
        return x, y, z

    @cached_property
    def halvings(self) -> Index3:
        """Of a block along x, y, z: until at most 2^COARSEST cells are left."""
        x, y, z = (max(0, (n - 1).bit_length() - COARSEST) for n in self.edge)
        return x, y, z

    @property
    def levels(self) -> int:
        """The coarsest level."""
        return max(self.halvings)

    @cached_property
    def blocks(self) -> Index3:
        """Along x, y, z."""
        x, y, z = (-(-n // m) for n, m in zip(self.cells, self.edge, strict=True))
        return x, y, z

    @property
    def cut(self) -> tuple[Index3, Index3, Index3, list[int]]:
        """The first arguments of the kernels: cells, edge, halvings, shares."""
        return self.cells, self.edge, self.halvings, list(self.shares)

    @cached_property
    def begins(self) -> NDArray[np.int64]:
        """[block and the end, share, part]: where the parts of a block begin in a step, in elements."""
        sizes = np.zeros((math.prod(self.blocks), len(self.shares), len(PARTS)), np.int64)
        _native.wavelet_sizes(*self.cut, (0, 0, 0), self.blocks, sizes)
        return np.concatenate([np.zeros_like(sizes[:1]), np.cumsum(sizes, axis=0)])

    @cached_property
    def corner(self) -> Index3:
        """Coarsest cells along x, y, z, of all blocks."""
        return cells_at(self.cells, self.levels, self.halvings)

    def info_at(self, info: VolumeInfo, level: int) -> VolumeInfo:
        """Metadata of a level: cells are the first of those that they stand for."""
        return info_at(info, level, self.of_axes(self.halvings))

    def cells_of(self, first: Index3, count: Index3, level: int) -> Box:
        """The cells of a level that a box of blocks has: half-open, along x, y, z."""
        whole = cells_at(self.cells, level, self.halvings)
        lo, hi = (
            tuple(
                min(block * (m >> min(level, h)), n) if block < blocks else n
                for block, m, h, n, blocks in zip(end, self.edge, self.halvings, whole, self.blocks, strict=True)
            )
            for end in (first, tuple(a + n for a, n in zip(first, count, strict=True)))
        )
        return lo, hi

    def place_of(self, number: int) -> str:
        """The first cell of a block, in words."""
        index = np.unravel_index(number, self.blocks)
        return f"cells from {self.of_axes([int(i) * m for i, m in zip(index, self.edge, strict=True)])}"

    @cached_property
    def datasets(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and type of each dataset, by its name in the group."""
        corner = (*([self.steps] if self.stepped else []), *self.of_axes(self.corner))
        checks = (self.steps, math.prod(self.blocks), len(self.shares), self.levels + 1)
        lists = {
            f"1:{share}/{part}": ((self.steps * int(length),), np.dtype("<f4" if part == "values" else "u1"))
            for share, lengths in zip(self.shares, self.begins[-1], strict=True)
            for part, length in zip(PARTS, lengths, strict=True)
        }
        return {COARSE: (corner, np.dtype("<f4")), CHECKS: (checks, np.dtype("<u8")), **lists}


def solid(lengths: Sequence[int], missing: int) -> Index3:
    """Numbers along x, y, z; in two dimensions `missing` along y."""
    return int(lengths[0]), int(lengths[1]) if len(lengths) == 3 else missing, int(lengths[-1])


def index3(numbers: Sequence[int]) -> Index3:
    """Numbers along x, y, z."""
    x, y, z = numbers
    return int(x), int(y), int(z)


def cells_at(cells: Sequence[int], level: int, halvings: Sequence[int]) -> Index3:
    """Cells of a level along x, y, z."""
    x, y, z = (-(-n // (1 << min(level, most))) for n, most in zip(cells, halvings, strict=True))
    return x, y, z


class Coded:
    """What the kernel makes of a box of blocks: lists of values, high and low by share, the corner, checks.

    begins: [share, part, block and the end] of the lists.
    """

    def __init__(self, layout: Layout, first: Index3, count: Index3) -> None:
        places = [np.arange(a, a + n) for a, n in zip(first, count, strict=True)]
        numbers = np.ravel_multi_index(np.meshgrid(*places, indexing="ij"), layout.blocks).reshape(-1)
        sizes = layout.begins[numbers + 1] - layout.begins[numbers]
        begins = np.concatenate([np.zeros_like(sizes[:1]), np.cumsum(sizes, axis=0)])
        self.begins = np.ascontiguousarray(begins.transpose(1, 2, 0))
        self._where = layout.cut, first, count
        totals = self.begins[:, :, -1]
        self.lists: Lists = (
            [np.zeros(total, np.float32) for total in totals[:, 0]],
            [np.zeros(total, np.uint8) for total in totals[:, 1]],
            [np.zeros(total, np.uint8) for total in totals[:, 2]],
        )
        self.corner = np.zeros(extent(layout.cells_of(first, count, layout.levels)), np.float32)
        self.checks = np.zeros((len(numbers), len(layout.shares), layout.levels + 1), np.uint64)

    def encode(self, values: NDArray[np.float32], step: int) -> int:
        """Code the blocks' values (x, y, z); the first block with one that is not finite, -1: none."""
        cut, first, count = self._where
        return _native.wavelet_encode(
            *cut, step, first, count, values, self.corner, *self.lists, self.begins, self.checks
        )

    def decode(self, step: int, lo: Sequence[int], result: NDArray[np.float32]) -> None:
        """Fill a box of cells from `lo` on."""
        cut, first, count = self._where
        at = (int(lo[0]), int(lo[1]), int(lo[2]))
        _native.wavelet_decode(
            *cut, step, first, count, 0, self.corner, *self.lists, self.begins, self.checks, at, result
        )


class WaveletSink:
    """A file of coefficients being written. Each rank transforms and codes blocks of its own, some at a time."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        self._path, self._info, self._comm = path, info, comm
        self.compression = Compression()
        self._layout = Layout.of(info, strategy.shares)
        described: tuple[int, dict[str, int]] = 0, {}
        with collective_errors(comm), atomic.writing(path), system_errors(), ledger.io():
            if comm.rank == 0:
                described = self._describe(part)
                with part.open("r+b") as file:
                    atomic.reserve(file.fileno(), described[0])
        with ledger.communication():
            size, self._offsets = comm.bcast(described)
        self.compression.stored_bytes = size if comm.rank == 0 else 0
        by_offset = replace(strategy, datatype="contiguous")  # MPI's types of arrays end at 2 GiB
        self._file = open_raw(RawArray(part, 0, (size,), np.dtype("u1")), by_offset, comm, write=True)

    def _describe(self, part: Path) -> tuple[int, dict[str, int]]:
        """On rank 0: make the file but for the values; its size, and where each dataset begins."""
        import h5py

        layout = self._layout
        coarse = layout.info_at(self._info, layout.levels)
        offsets = {}
        with h5py.File(part, "w", libver=VERSIONS) as file:
            group = file.create_group(GROUP)
            own = {"shape": self._info.shape, "shares": layout.shares, "stepped": self._info.stepped}
            for key, value in {"format": FORMAT, "volume": json.dumps(own), **attributes_of(self._info)}.items():
                group.attrs[key] = value
            for name, (shape, dtype) in layout.datasets.items():
                properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
                dataset = group.create_dataset(name, shape, dtype, dcpl=properties)
                if dataset.size:
                    offsets[name] = int(dataset.id.get_offset())
            describe(group[COARSE], coarse, "coarse-")
            file.flush()  # what fails while it is closed is told by h5py alone
        return part.stat().st_size, offsets

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty. The
        blocks of all ranks must fill whole steps."""
        stepped = self._info.stepped
        first, last = whole_steps(self._path, self._info.shape, stepped, block, lo, self._comm)
        nothing = np.empty((0, 0, 0), np.float32)
        for step in range(first, last):
            has = block.size > 0 and (not stepped or lo[0] <= step < lo[0] + len(block))
            values = (block[step - lo[0]] if stepped else block) if has else nothing
            self._write_step(values.reshape(solid(values.shape, 1)), solid(lo[int(stepped) :], 0), step)

    def _write_step(self, values: NDArray[Any], lo: Index3, step: int) -> None:
        """Write a step's values (x, y, z), of which each rank has a box: blocks change hands, layers of them along x at
        a time, as many as keep the threads at work."""
        layout, comm = self._layout, self._comm
        box = own_box(layout.blocks, comm)
        begin, own = index3(box[0]), index3(extent(box))
        corner_box = layout.cells_of(begin, own, layout.levels) if math.prod(own) else NOTHING
        corner = np.empty(extent(corner_box), np.float32)
        together = -(-BATCH // (layout.blocks[1] * layout.blocks[2]))
        held = lo, tuple(a + n for a, n in zip(lo, values.shape, strict=True))
        for layer in range(0, int(allreduce(comm, own[0], "MAX")), together):
            first, count = (begin[0] + layer, *begin[1:]), (min(together, own[0] - layer), *own[1:])
            some = min(count) > 0
            cells = layout.cells_of(first, count, 0) if some else NOTHING
            here = comm.size == 1 and overlap(held, cells) == cells
            part = values[within(cells, lo)] if here else exchange(comm, values, lo, *cells)
            pieces: list[tuple[int, NDArray[Any]]] = []
            with collective_errors(comm), atomic.writing(self._path):
                if some:
                    coded = self._coded(np.ascontiguousarray(part), first, count, cells[0], step)
                    coarse = layout.cells_of(first, count, layout.levels)
                    corner[within(coarse, corner_box[0])] = coded.corner
                    pieces = self._pieces(coded, first, count, step)
            self._put(pieces)
        # The corner, a small part of all, goes through rank 0.
        wanted = ((0, 0, 0), layout.corner) if comm.rank == 0 else NOTHING
        corner = exchange(comm, corner, corner_box[0], *wanted)
        self._put([(self._offsets[COARSE] + step * corner.nbytes, corner)] if comm.rank == 0 else [])

    def _coded(self, values: NDArray[np.float32], first: Index3, count: Index3, lo: Sequence[int], step: int) -> Coded:
        """Blocks, coded; with what the code of their values loses, where that is wanted. InputError where a value is
        not finite."""
        layout, own = self._layout, self.compression
        coded, begin = Coded(layout, first, count), ledger.now()
        with ledger.phase("compress"):
            bad = coded.encode(values, step)
        own.compress_seconds += ledger.now() - begin
        own.plain_bytes += values.nbytes
        if bad >= 0:
            index = [a + int(i) for a, i in zip(first, np.unravel_index(bad, count), strict=True)]
            raise InputError(
                f"{self._path}: filter=wavelet: the block of "
                f"{layout.place_of(int(np.ravel_multi_index(index, layout.blocks)))} holds a value that is no finite "
                "number, or too large for the transform; allowed: finite numbers"
            )
        if own.find_errors:
            with own.finding_errors():
                found = np.empty_like(values)
                coded.decode(step, lo, found)
                own.compare(values, found)
        return coded

    def _pieces(self, coded: Coded, first: Index3, count: Index3, step: int) -> list[tuple[int, NDArray[Any]]]:
        """Bytes and their places in the file: those of a list at once where blocks follow each other here and there."""
        layout, pieces = self._layout, []
        for mine, number, many in runs(layout.blocks, count, first):
            at = step * math.prod(layout.blocks) + number
            pieces.append((self._offsets[CHECKS] + at * coded.checks[0].nbytes, coded.checks[mine : mine + many]))
            for (s, share), (p, part) in itertools.product(enumerate(layout.shares), enumerate(PARTS)):
                begin, end = coded.begins[s, p, [mine, mine + many]]
                name, data = f"1:{share}/{part}", coded.lists[p][s][begin:end]
                if data.size:
                    (length,), dtype = layout.datasets[name]
                    cell = step * (length // layout.steps) + int(layout.begins[number, s, p])
                    pieces.append((self._offsets[name] + cell * dtype.itemsize, data))
        return sorted(pieces, key=lambda piece: piece[0])

    def _put(self, pieces: Sequence[tuple[int, NDArray[Any]]]) -> None:
        """Collective. Write this rank's pieces; all ranks make as many calls, also after one that failed, and agree on
        the outcome."""
        errors, nothing = [], np.empty(0, np.uint8)
        for number in range(int(allreduce(self._comm, len(pieces), "MAX"))):
            offset, piece = pieces[number] if number < len(pieces) else (0, nothing)
            try:
                self._file.write(np.frombuffer(atomic.octets(np.ascontiguousarray(piece)), np.uint8), (offset,))
            except OSError as error:
                errors.append(error)
        with collective_errors(self._comm), atomic.writing(self._path):
            if errors:
                raise errors[0]

    def flush(self) -> None:
        """Collective. Have what was written on the device, where the strategy asks for it."""
        self._file.flush()

    def close(self) -> None:
        """Collective. Close the file."""
        self._file.close()

    def abandon(self, error: FathometerError) -> None:
        """Collective. Close the file; the error is raised elsewhere."""
        self._file.close()


def is_wavelet(file: Any) -> bool:
    """Whether an open HDF5 file holds a volume as coefficients."""
    import h5py

    group = file.get(GROUP)
    return isinstance(group, h5py.Group) and str(group.attrs.get("format", "")).startswith("CDF 9/7 by blocks")


class WaveletVolume(BlockReader):
    """A volume of coefficients, whole or at a level or share, for one rank. It closes the h5py file that it gets."""

    def __init__(self, path: Path, key: str | None, file: Any) -> None:
        self._file, self.key = file, "values" if key is None else key
        whole, shares = _described(path, file[GROUP])
        self._layout = layout = Layout.of(whole, shares)
        self._level, self._share = self._wanted(path, self.key)
        super().__init__(path, layout.info_at(whole, self._level))
        self._offsets = {}
        size = path.stat().st_size
        # Before the parts of each block are counted: so many checks must be there.
        if math.prod(layout.blocks) * layout.steps * (layout.levels + 1) * 8 > size:
            raise InputError(f"{path}: {GROUP} is damaged: a volume of {whole.shape} cells is not in {size} bytes")
        for name, (wanted, dtype) in layout.datasets.items():
            found = file[GROUP].get(name)
            shape = getattr(found, "shape", None)  # a group has none
            if shape is None or found.file != file:
                raise InputError(f"{path}:{GROUP}/{name}: no such dataset; needed: {wanted} of {dtype}")
            if shape != wanted or found.dtype != dtype or found.chunks is not None:
                chunks = "" if found.chunks is None else " in chunks"
                raise InputError(
                    f"{path}:{GROUP}/{name}: found {shape} of {found.dtype}{chunks}; needed: {wanted} of {dtype}, "
                    "contiguous"
                )
            if found.size:
                begin = found.id.get_offset()
                if begin is None or begin + found.size * dtype.itemsize > size:
                    raise InputError(f"{path}:{GROUP}/{name}: its values are not all in the file")
                self._offsets[name] = int(begin)
        self._planes: tuple[tuple[int, int, int], NDArray[np.float32]] = (-1, 0, 0), np.empty((0, 0, 0), np.float32)
        self._handle = os.open(path, os.O_RDONLY)

    @property
    def shares(self) -> tuple[int, ...]:
        """Those that the file has."""
        return self._layout.shares

    @property
    def coarsest(self) -> int:
        """The coarsest level that can be read."""
        return self._layout.levels

    def _wanted(self, path: Path, key: str) -> tuple[int, int]:
        """Level and number of shares by a key."""
        number = r"([1-9]\d*)"
        form = rf"values|levels/{number}(?:/shares/{number})?|shares/{number}"
        match = re.fullmatch(form, key.strip("/"), re.ASCII)
        shares = self._layout.shares
        if match is None:
            raise InputError(f"{path}:{key}: no such volume (it holds: values, levels/1, shares/{shares[0]}, ...)")
        level, share = int(match[1] or 0), int(match[2] or match[3] or shares[-1])
        if level > self._layout.levels:
            raise InputError(f"{path}: level {level}: allowed: 0 to {self._layout.levels}")
        if share not in shares:
            raise InputError(f"{path}: share 1:{share}: allowed: {', '.join(f'1:{s}' for s in shares)}")
        return level, shares.index(share) + 1

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        result = np.empty([side.stop - side.start for side in box], np.float32)
        if not result.size:
            return result
        stepped = self.info.stepped
        lo = solid([side.start for side in box[int(stepped) :]], 0)
        for number, step in enumerate(range(box[0].start, box[0].stop) if stepped else (0,)):
            values = result[number] if stepped else result
            self._read_step(step, lo, values.reshape(solid(values.shape, 1)))
        return result

    def _read_step(self, step: int, lo: Index3, result: NDArray[np.float32]) -> None:
        """Fill a box of the level's cells from `lo` on, of a step."""
        layout, ends = self._layout, list[tuple[int, int]]()
        for axis, (a, n) in enumerate(zip(lo, result.shape, strict=True)):
            cells = layout.edge[axis] >> min(self._level, layout.halvings[axis])
            last = layout.blocks[axis] - 1
            ends.append((min(a // cells, last), min((a + n - 1) // cells, last) + 1) if last else (0, 1))
        for x, y, z in itertools.product(range(*ends[0]), range(*ends[1]), range(*ends[2], BATCH)):
            self._decode(step, (x, y, z), (1, 1, min(BATCH, ends[2][1] - z)), lo, result)

    def _decode(self, step: int, first: Index3, count: Index3, lo: Index3, result: NDArray[np.float32]) -> None:
        """Fill what blocks that follow each other along z have of the result."""
        layout = self._layout
        number = int(np.ravel_multi_index(first, layout.blocks))
        parts = [self._lists_of_block(step, block) for block in range(number, number + count[2])]
        lists = [[np.concatenate([one[share][p] for one in parts]) for share in range(self._share)] for p in range(3)]
        begins = [
            [[0, *itertools.accumulate(len(one[share][p]) for one in parts)] for p in range(len(PARTS))]
            for share in range(self._share)
        ]
        bad = _native.wavelet_decode(
            *layout.cut,
            step,
            first,
            count,
            self._level,
            self._coarse(step, layout.cells_of(first, count, layout.levels)),
            lists[0],
            lists[1],
            lists[2],
            np.array(begins, np.int64),
            self._checks(step, number, count[2]),
            lo,
            result,
        )
        if bad >= 0:
            place = layout.place_of(number + bad)
            raise InputError(f"{self.path}: is damaged: coefficients of the block of {place} fail their check")

    def _lists_of_block(self, step: int, block: int) -> list[list[NDArray[Any]]]:
        """What the level needs of the lists of a block, by share: values, high and low.

        Of a level that are the coefficients before some place M in scan order. How many of a list these are, its high
        parts tell: the i-th place, h + (low bits), sets the bit h + i. So before the clear bit number M >> bits (from
        0) all places below M have theirs, with perhaps some more, and before the clear bit ahead of it none other.
        """
        layout = self._layout
        index = np.unravel_index(block, layout.blocks)
        shape = [min(m, n - int(i) * m) for i, m, n in zip(index, layout.edge, layout.cells, strict=True)]
        needed, corner = (math.prod(cells_at(shape, level, layout.halvings)) for level in (self._level, layout.levels))
        left = needed - corner  # at most so many are in the list of all that is left
        found = []
        for s, share in enumerate(layout.shares[: self._share]):
            begins = layout.begins[block, s]
            some, high, low = map(int, layout.begins[block + 1, s] - begins)
            names = [f"1:{share}/{part}" for part in PARTS]
            places: NDArray[Any] | None = None
            if self._level and share == 1:
                some = min(some, left)
            elif self._level and some:
                bits = (math.prod(shape) // some).bit_length() - 1  # low ones of each place
                before = needed >> bits
                places = self._read(names[1], step, begins[1], min(high, (min(some, needed) + before) // 8 + 1))
                row = np.unpackbits(places, bitorder="little")
                clear = np.flatnonzero(row == 0)
                some = int(clear[before]) - before if len(clear) > before else min(some, len(row) - len(clear))
                left -= int(clear[before - 1]) - before + 1 if 0 < before <= len(clear) else 0
                low = (some * bits + 7) // 8
            if places is None:
                places = self._read(names[1], step, begins[1], high)
            found.append(
                [self._read(names[0], step, begins[0], some), places, self._read(names[2], step, begins[2], low)]
            )
        return found

    def _coarse(self, step: int, box: Box) -> NDArray[np.float32]:
        """Cells of the corner (x, y, z); whole planes of it, a small part of all, are kept for the next blocks."""
        key = step, box[0][0], box[1][0]
        if self._planes[0] != key:
            _, y, z = self._layout.corner
            first, many = box[0][0], box[1][0] - box[0][0]
            self._planes = key, self._read(COARSE, step, first * y * z, many * y * z).reshape(many, y, z)
        return np.ascontiguousarray(self._planes[1][within(box, (box[0][0], 0, 0))])

    def _checks(self, step: int, number: int, count: int) -> NDArray[np.uint64]:
        """Of some blocks: [block, share, level]."""
        shape = self._layout.datasets[CHECKS][0][2:]
        data = self._read(CHECKS, step, number * math.prod(shape), count * math.prod(shape))
        return np.asarray(data.reshape(count, *shape), np.uint64)

    def _read(self, name: str, step: int, begin: int, count: int) -> NDArray[Any]:
        """Elements of a dataset from that one on of a step."""
        shape, dtype = self._layout.datasets[name]
        data = np.empty(count, dtype)
        if count:
            of_step = math.prod(shape) // self._layout.steps
            offset = self._offsets[name] + (step * of_step + int(begin)) * dtype.itemsize
            if atomic.read_at(self._handle, atomic.octets(data), offset) < data.nbytes:
                raise InputError(f"{self.path}: ends before the end of {GROUP}/{name}")
        return data

    def close(self) -> None:
        """Close the file."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)
        close_read(self.path, self._file)


def _described(path: Path, group: Any) -> tuple[VolumeInfo, tuple[int, ...]]:
    """The whole volume by the attributes of the group, and its shares. InputError where they are not understood."""
    if (found := text_of(group.attrs.get("format"))) != FORMAT:
        raise InputError(f"{path}: {GROUP}: found format {found!r}; allowed: {FORMAT!r}")
    said = text_of(group.attrs.get("volume"))
    damage = f"{path}: {GROUP} is damaged: its attribute volume says {shortened(said)}"
    try:
        own = json_values(said)
        shape, shares = tuple(map(int, own["shape"])), tuple(map(int, own["shares"]))
        stepped = bool(own["stepped"])
    except (InputError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(damage) from error
    most = 1 << 40
    fits = len(shape) - stepped in (2, 3) and min(shape) >= 1 and max(shape) < most
    falling = bool(shares) and sorted(set(shares), reverse=True) == [*shares] and 1 <= shares[-1] <= shares[0] < most
    if not fits or not falling:
        raise InputError(damage)
    whole, _ = stated(f"{path}:{GROUP}", shape, np.dtype(np.float32), dict(group.attrs))
    if whole.stepped != stepped:
        raise InputError(f"{damage}; labels {whole.labels} do not fit that")
    return whole, shares
