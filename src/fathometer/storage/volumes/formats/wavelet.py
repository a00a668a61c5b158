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
from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import allreduce, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.storage import atomic
from fathometer.storage.volumes.block import BlockReader, VolumeInfo
from fathometer.storage.volumes.compression import Compression
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.formats.axis_metadata import attributes_of, axis_names, coordinates, stated
from fathometer.storage.volumes.levels import info_at, own_box, whole_steps
from fathometer.storage.volumes.open_raw import open_raw
from fathometer.storage.volumes.raw_array import RawArray
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

GROUP, COARSE, CHECKS = "wavelet", "coarse", "checks"
PARTS = ("values", "high", "low")  # of a share
FORMAT = "CDF 9/7 by blocks, 1"  # attribute of the group
EDGE = {3: 64, 2: 512}  # cells of a block along each axis, by dimensions
COARSEST = 2  # a block's corner has at most 2 to this power cells along each axis
BATCH = 64  # blocks that are decoded together

Lists = tuple[list[NDArray[Any]], list[NDArray[Any]], list[NDArray[Any]]]  # values, high and low, by share


@dataclass(frozen=True)
class Layout:
    """How a volume lies in a file: shape of a step (two or three axes), steps, shares."""

    shape: tuple[int, ...]
    steps: int
    shares: tuple[int, ...]

    @classmethod
    def of(cls, info: VolumeInfo, shares: Sequence[int]) -> Layout:
        """Of a volume."""
        return cls(info.shape[info.stepped :], info.shape[0] if info.stepped else 1, tuple(shares))

    @property
    def axes(self) -> tuple[int, ...]:
        """Of x, y, z those that it has."""
        return (0, 1, 2) if len(self.shape) == 3 else (0, 2)

    def solid(self, lengths: Sequence[int], missing: int = 1) -> Index3:
        """Along x, y, z; `missing` along y in two dimensions."""
        return int(lengths[0]), int(lengths[1]) if len(lengths) == 3 else missing, int(lengths[-1])

    @cached_property
    def cells(self) -> Index3:
        """Along x, y, z."""
        return self.solid(self.shape)

    @cached_property
    def edge(self) -> Index3:
        """Cells of a block along x, y, z."""
        most = EDGE[len(self.shape)]
        return self.solid([min(n, most) for n in self.shape])

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
        """As the kernels have it."""
        return self.cells, self.edge, self.halvings, list(self.shares)

    @cached_property
    def begins(self) -> NDArray[np.int64]:
        """[block and the end, share, part]: where the parts of a block begin in a step, in elements."""
        sizes = np.zeros((math.prod(self.blocks), len(self.shares), len(PARTS)), np.int64)
        _native.wavelet_sizes(*self.cut, (0, 0, 0), self.blocks, sizes)
        return np.concatenate([np.zeros_like(sizes[:1]), np.cumsum(sizes, axis=0)])

    @property
    def coarse(self) -> Index3:
        """Coarsest cells along x, y, z."""
        return self.solid(cells_at(self.shape, self.levels, self.halvings_of_axes))

    def numbers(self, first: Index3, count: Index3) -> NDArray[np.int64]:
        """Of the blocks of a box, z fastest."""
        places = [np.arange(a, a + n) for a, n in zip(first, count, strict=True)]
        return np.ravel_multi_index(np.meshgrid(*places, indexing="ij"), self.blocks).reshape(-1)

    def coarse_box(self, first: Index3, count: Index3) -> tuple[Index3, Index3]:
        """The coarsest cells of a box of blocks: the first, and how many along x, y, z."""
        cells = [m >> h for m, h in zip(self.edge, self.halvings, strict=True)]
        x, y, z = (a * m for a, m in zip(first, cells, strict=True))
        # The last block of an axis need not be a multiple of its coarsest cells.
        ends = [
            whole if a + n == blocks else (a + n) * m
            for a, n, m, whole, blocks in zip(first, count, cells, self.coarse, self.blocks, strict=True)
        ]
        return (x, y, z), (ends[0] - x, ends[1] - y, ends[2] - z)

    def empty_lists(self, first: Index3, count: Index3) -> tuple[Lists, NDArray[np.float32], NDArray[np.uint64]]:
        """Room for what the kernel makes of a box of blocks: values, high and low by share; the corner (x, y, z);
        checks."""
        numbers = self.numbers(first, count)
        sizes = (self.begins[numbers + 1] - self.begins[numbers]).sum(axis=0)
        values, high, low = (
            [np.zeros(int(total), np.float32 if part == "values" else np.uint8) for total in sizes[:, p]]
            for p, part in enumerate(PARTS)
        )
        coarse = np.zeros(self.coarse_box(first, count)[1], np.float32)
        return (values, high, low), coarse, np.empty((len(numbers), len(self.shares), self.levels + 1), np.uint64)

    @property
    def halvings_of_axes(self) -> list[int]:
        """Of the axes that it has."""
        return [self.halvings[axis] for axis in self.axes]

    def info_at(self, info: VolumeInfo, level: int) -> VolumeInfo:
        """Metadata of a level: cells are the first of those that they stand for."""
        return info_at(info, level, self.halvings_of_axes)

    @cached_property
    def datasets(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and type of each dataset, by its name in the group. The corner's shape has steps first."""
        checks = (self.steps, math.prod(self.blocks), len(self.shares), self.levels + 1)
        lists = {
            f"1:{share}/{part}": ((self.steps * int(length),), np.dtype("<f4" if part == "values" else "u1"))
            for share, lengths in zip(self.shares, self.begins[-1], strict=True)
            for part, length in zip(PARTS, lengths, strict=True)
        }
        corner = (self.steps, *(self.coarse[axis] for axis in self.axes))
        return {COARSE: (corner, np.dtype("<f4")), CHECKS: (checks, np.dtype("<u8")), **lists}


def cells_at(shape: Sequence[int], level: int, halvings: Sequence[int]) -> list[int]:
    """Cells of a level along each axis."""
    return [-(-n // (1 << min(level, most))) for n, most in zip(shape, halvings, strict=True)]


class WaveletSink:
    """A file of coefficients being written. Each rank transforms and codes blocks of its own."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        self._path, self._info, self._comm = path, info, comm
        self.compression = Compression()
        with collective_errors(comm):
            if info.dtype != np.float32:
                raise InputError(f"{path}: filter=wavelet: found {info.dtype}; allowed: float32")
        self._layout = Layout.of(info, strategy.shares)
        described: tuple[int, dict[str, int]] = 0, {}
        with collective_errors(comm), atomic.writing(path), ledger.io():
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
        with h5py.File(part, "w", libver=("earliest", "v110")) as file:
            group = file.create_group(GROUP)
            own = {"shape": self._info.shape, "shares": layout.shares, "stepped": self._info.stepped}
            for key, value in {"format": FORMAT, "volume": json.dumps(own), **attributes_of(self._info)}.items():
                group.attrs[key] = value
            for name, (shape, dtype) in layout.datasets.items():
                shape = coarse.shape if name == COARSE else shape  # without steps where there are none
                properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
                dataset = group.create_dataset(name, shape, dtype, dcpl=properties)
                if dataset.size:
                    offsets[name] = int(dataset.id.get_offset())
            for key, value in attributes_of(coarse).items():
                group[COARSE].attrs[key] = value
            for axis, name in enumerate(axis_names(coarse) if coarse.spacing is not None else ()):
                scale = group.create_dataset(f"coarse-{name}", data=coordinates(coarse, axis))
                scale.make_scale(name)
                scale.attrs["units"] = coarse.axis_units[axis]
                group[COARSE].dims[axis].attach_scale(scale)
        return part.stat().st_size, offsets

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty. The
        blocks of all ranks must fill whole steps."""
        stepped = self._info.stepped
        first, last = whole_steps(self._path, self._info.shape, stepped, block, lo, self._comm)
        for step in range(first, last):
            of_step = block if not stepped else block[step - lo[0] : step - lo[0] + 1]
            own = of_step.reshape(block.shape[1:]) if stepped and of_step.size else of_step
            if stepped and not of_step.size:
                own = np.empty((0,) * len(self._layout.shape), block.dtype)
            self._write_step(own, lo[int(stepped) :], step)

    def _write_step(self, values: NDArray[Any], lo: Sequence[int], step: int) -> None:
        layout, comm = self._layout, self._comm
        axes = layout.axes
        box = own_box([layout.blocks[axis] for axis in axes], comm)
        cells = [
            tuple(min(b * layout.edge[axis], layout.cells[axis]) for b, axis in zip(end, axes, strict=True))
            for end in box
        ]
        held = tuple(map(int, lo)), tuple(int(a) + n for a, n in zip(lo, values.shape, strict=True))
        if comm.size > 1 or held != (cells[0], cells[1]):
            values = exchange(comm, values, lo, *cells)
        with collective_errors(comm), atomic.writing(self._path):
            pieces, coarse, coarse_lo = self._encoded(np.ascontiguousarray(values), box, step)
        # The corner, a small part of all, goes through rank 0.
        whole = [layout.coarse[axis] for axis in axes]
        coarse = exchange(comm, coarse, coarse_lo, (0,) * len(axes), whole if comm.rank == 0 else (0,) * len(axes))
        if comm.rank == 0:
            pieces.append((self._offsets[COARSE] + step * coarse.nbytes, coarse))
        nothing = np.empty(0, np.uint8)
        for number in range(int(allreduce(comm, len(pieces), "MAX"))):
            offset, piece = pieces[number] if number < len(pieces) else (0, nothing)
            self._file.write(np.frombuffer(atomic.octets(np.ascontiguousarray(piece)), np.uint8), (offset,))

    def _encoded(
        self, values: NDArray[np.float32], box: Sequence[Sequence[int]], step: int
    ) -> tuple[list[tuple[int, NDArray[Any]]], NDArray[np.float32], Sequence[int]]:
        """The bytes of this rank's blocks with their places in the file, in order of these, and the corner with its
        first cell."""
        layout = self._layout
        first, end = layout.solid(box[0], 0), layout.solid(box[1])
        count = (end[0] - first[0], end[1] - first[1], end[2] - first[2])
        axes = layout.axes
        if not values.size:
            return [], np.empty((0,) * len(axes), np.float32), (0,) * len(axes)
        numbers = layout.numbers(first, count)
        lists, coarse, checks = layout.empty_lists(first, count)
        begin = ledger.now()
        with ledger.phase("compress"):
            transform, choice, error, bad, largest, squares = _native.wavelet_encode(
                *layout.cut,
                step,
                first,
                count,
                values.reshape(layout.solid(values.shape)),
                coarse,
                *lists,
                checks,
                self.compression.find_errors,
            )
        seconds = ledger.now() - begin
        if bad >= 0:
            place = self._place_of(int(numbers[bad]))
            raise InputError(
                f"{self._path}: filter=wavelet: the block of {place} holds a value that is no finite number, or too "
                "large for the transform; allowed: finite numbers"
            )
        own = self.compression
        share = error / max(transform + choice + error, 1e-12)  # of the threads' time
        own.compress_seconds += seconds * (1 - share)
        own.error_seconds += seconds * share
        own.plain_bytes += values.nbytes
        if own.find_errors:
            own.add_errors(float(largest), float(squares), values.size)
        at, cells = layout.coarse_box(first, count)
        corner = coarse.reshape([cells[axis] for axis in axes])
        return self._pieces(numbers, count, lists, checks, step), corner, [at[axis] for axis in axes]

    def _place_of(self, number: int) -> str:
        layout = self._layout
        index = np.unravel_index(number, layout.blocks)
        return f"cells from {tuple(int(index[axis]) * layout.edge[axis] for axis in layout.axes)}"

    def _pieces(
        self,
        numbers: NDArray[np.int64],
        count: Index3,
        lists: Lists,
        checks: NDArray[np.uint64],
        step: int,
    ) -> list[tuple[int, NDArray[Any]]]:
        """Runs of bytes of blocks that follow each other along z, and where they belong."""
        layout, pieces = self._layout, []
        shapes = layout.datasets
        lengths = layout.begins[numbers + 1] - layout.begins[numbers]
        done = np.concatenate([np.zeros_like(lengths[:1]), np.cumsum(lengths, axis=0)])
        for row in range(0, len(numbers), count[2]):
            last = row + count[2]
            at = self._offsets[CHECKS] + (step * math.prod(layout.blocks) + int(numbers[row])) * checks[0].nbytes
            pieces.append((at, checks[row:last]))
            for (s, share), (p, part) in itertools.product(enumerate(layout.shares), enumerate(PARTS)):
                name, data = f"1:{share}/{part}", lists[p][s][done[row, s, p] : done[last, s, p]]
                if data.size:
                    (length,), dtype = shapes[name]
                    cell = step * (length // layout.steps) + int(layout.begins[numbers[row], s, p])
                    pieces.append((self._offsets[name] + cell * dtype.itemsize, data))
        return sorted(pieces, key=lambda piece: piece[0])

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
        self._file = file
        group = file[GROUP]
        self.key = key or "values"
        if group.attrs["format"] != FORMAT:
            raise InputError(f"{path}: {GROUP}: found format {group.attrs['format']!r}; allowed: {FORMAT!r}")
        with_damage = f"{path}: {GROUP} is damaged"
        try:
            own = json.loads(group.attrs["volume"])
            shape, shares = tuple(map(int, own["shape"])), tuple(map(int, own["shares"]))
            stepped = bool(own["stepped"])
            fits = len(shape) - stepped in EDGE and min(shape) >= 1 and sorted(set(shares), reverse=True) == [*shares]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{with_damage}: its attribute volume is not understood") from error
        if not fits or not shares or shares[-1] < 1:
            raise InputError(f"{with_damage}: its attribute volume says {own}")
        whole, _ = stated(f"{path}:{GROUP}", shape, np.dtype(np.float32), dict(group.attrs))
        if whole.stepped != stepped:
            raise InputError(f"{with_damage}: labels {whole.labels} do not fit the shape {shape}")
        self._layout = layout = Layout.of(whole, shares)
        self._level, self._share = self._wanted(path, self.key)
        super().__init__(path, layout.info_at(whole, self._level))
        self._offsets = {}
        size = path.stat().st_size
        for name, (wanted, dtype) in layout.datasets.items():
            wanted = wanted[1:] if name == COARSE and not stepped else wanted
            found = group.get(name)
            if found is None or found.shape != wanted or found.dtype != dtype or found.chunks is not None:
                what = "no such dataset" if found is None else f"found {found.shape} of {found.dtype}"
                raise InputError(f"{path}:{GROUP}/{name}: {what}; needed: {wanted} of {dtype}, contiguous")
            if found.size:
                begin = found.id.get_offset()
                if begin is None or begin + found.size * dtype.itemsize > size:
                    raise InputError(f"{path}:{GROUP}/{name}: its values are not all in the file")
                self._offsets[name] = int(begin)
        self._corner: tuple[int, NDArray[np.float32]] = -1, np.empty((0, 0, 0), np.float32)
        self._handle = os.open(path, os.O_RDONLY)

    def _wanted(self, path: Path, key: str) -> tuple[int, int]:
        """Level and number of shares by a key."""
        match = re.fullmatch(r"values|(?:levels/(\d+))?/?(?:shares/(\d+))?", key.strip("/"))
        shares = self._layout.shares
        if match is None:
            raise InputError(f"{path}:{key}: no such volume (it holds: values, levels/1, shares/{shares[0]}, ...)")
        level, share = int(match[1] or 0), int(match[2] or shares[-1])
        if level > self._layout.levels:
            raise InputError(f"{path}: level {level}: allowed: 0 to {self._layout.levels}")
        if share not in shares:
            raise InputError(f"{path}: share 1:{share}: allowed: {', '.join(f'1:{s}' for s in shares)}")
        return level, shares.index(share) + 1

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from."""
        return [self.path]

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        stepped = len(box) > len(self._layout.shape)
        result = np.empty([side.stop - side.start for side in box], np.float32)
        if not result.size:
            return result
        layout, space = self._layout, box[int(stepped) :]
        lo = layout.solid([side.start for side in space], 0)
        for number, step in enumerate(range(box[0].start, box[0].stop) if stepped else (0,)):
            values = result[number] if stepped else result
            self._read_step(step, lo, values.reshape(layout.solid(values.shape)))
        return result

    def _read_step(self, step: int, lo: Index3, result: NDArray[np.float32]) -> None:
        """Fill a box of the level's cells from `lo` on, of a step."""
        layout, ends = self._layout, list[tuple[int, int]]()
        for axis, (a, n) in enumerate(zip(lo, result.shape, strict=True)):
            cells = layout.edge[axis] >> min(self._level, layout.halvings[axis])
            last = layout.blocks[axis] - 1
            ends.append((min(a // cells, last), min((a + n - 1) // cells, last) + 1) if last else (0, 1))
        rows = itertools.product(range(*ends[0]), range(*ends[1]), range(*ends[2], BATCH))
        for x, y, z in rows:
            self._decode(step, (x, y, z), (1, 1, min(BATCH, ends[2][1] - z)), lo, result)

    def _decode(self, step: int, first: Index3, count: Index3, lo: Index3, result: NDArray[np.float32]) -> None:
        """Fill what blocks have of the result."""
        layout, level = self._layout, self._level
        number = int(np.ravel_multi_index(first, layout.blocks))
        numbers = range(number, number + count[2])
        at, cells = layout.coarse_box(first, count)
        where = tuple(slice(a, a + n) for a, n in zip(at, cells, strict=True))
        lists, begins = self._lists(step, numbers)
        # Of what the box has of these blocks alone, so that blocks beside it are left as they are.
        bad = _native.wavelet_decode(
            *layout.cut,
            step,
            first,
            count,
            level,
            np.ascontiguousarray(self._coarse(step)[where]),
            *lists,
            begins,
            self._checks(step, numbers),
            lo,
            result,
        )
        if bad >= 0:
            index = np.unravel_index(bad % math.prod(layout.blocks), layout.blocks)
            place = tuple(int(index[axis]) * layout.edge[axis] for axis in layout.axes)
            raise InputError(
                f"{self.path}: is damaged: coefficients of the block of cells from {place} fail their check"
            )

    def _lists(self, step: int, numbers: range) -> tuple[Lists, list[NDArray[np.int64]]]:
        """What the level needs of the lists of some blocks: values, high and low by share; and where each block's begin
        in these."""
        parts = [self._lists_of_block(step, block) for block in numbers]  # by block, share, part
        lists = [
            [np.concatenate([part[share][which] for part in parts]) for share in range(self._share)]
            for which in range(len(PARTS))
        ]
        ends = [
            np.array(
                [[0, *itertools.accumulate(len(part[share][which]) for part in parts)] for which in range(len(PARTS))],
                np.int64,
            )
            for share in range(self._share)
        ]
        return (lists[0], lists[1], lists[2]), ends

    def _lists_of_block(self, step: int, block: int) -> list[list[NDArray[Any]]]:
        """The same of one block: of each share values, high and low. Of a level those before its last place in scan
        order: how many are not known before the high parts are read."""
        layout = self._layout
        index = np.unravel_index(block, layout.blocks)
        shape = [min(e, n - int(i) * e) for i, e, n in zip(index, layout.edge, layout.cells, strict=True)]
        cells = math.prod(shape)
        needed, corner = (math.prod(cells_at(shape, level, layout.halvings)) for level in (self._level, layout.levels))
        left = needed - corner  # at most so many are in the share of all that is left
        found = []
        for s, share in enumerate(layout.shares[: self._share]):
            begins = layout.begins[block, s]
            some, high, low = map(int, layout.begins[block + 1, s] - begins)
            names = [f"1:{share}/{part}" for part in PARTS]
            places: NDArray[Any] | None = None
            if self._level and share == 1:
                some = min(some, left)
            elif self._level and some:
                bits = (cells // some).bit_length() - 1  # low ones of each place
                before = needed >> bits  # clear bits before those of the places that are needed end
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

    def _coarse(self, step: int) -> NDArray[np.float32]:
        """The corner of all blocks of a step (x, y, z), a small part of all; that of the last step is kept."""
        if self._corner[0] != step:
            cells = self._layout.coarse
            self._corner = step, self._read(COARSE, step, 0, math.prod(cells)).reshape(cells)
        return self._corner[1]

    def _checks(self, step: int, numbers: range) -> NDArray[np.uint64]:
        """Of some blocks: [block, share, level]."""
        shape = self._layout.datasets[CHECKS][0][2:]
        of_block = math.prod(shape)
        data = self._read(CHECKS, step, numbers.start * of_block, len(numbers) * of_block)
        return np.asarray(data.reshape(len(numbers), *shape), np.uint64)

    def _read(self, name: str, step: int, begin: int, count: int) -> NDArray[Any]:
        """Elements of a dataset from that one on of a step."""
        shape, dtype = self._layout.datasets[name]
        data = np.empty(count, dtype)
        if count:
            offset = (
                self._offsets[name] + (step * (math.prod(shape) // self._layout.steps) + int(begin)) * dtype.itemsize
            )
            if atomic.read_at(self._handle, atomic.octets(data), offset) < data.nbytes:
                raise InputError(f"{self.path}: ends before the end of {GROUP}/{name}")
        return data

    def close(self) -> None:
        """Close the file."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)
        self._file.close()
