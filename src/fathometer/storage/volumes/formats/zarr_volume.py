"""Zarr version 3 volumes: a folder that is a group, with a sharded array. `folder.zarr:array`.

The array is called as the folder ("values" in those of older versions); the group names it in its attribute "array".

Shards are slabs of equal thickness along the slowest axis, one a rank. Ranks send each other the parts of their blocks
that lie in others' shards, so that each shard is one file written by one rank. Chunks carry a checksum. Where there is
a spacing, each axis has an array of coordinates in m (of two-way time in s).
"""

from __future__ import annotations

import base64
import contextlib
import errno
import importlib.util
import itertools
import json
import math
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.storage import atomic
from fathometer.storage.reading import decoding, reading, words_of
from fathometer.storage.volumes.block import BlockReader, Volume, VolumeInfo, check_shape, check_values
from fathometer.storage.volumes.boxes import Box, extent, overlap, surrounding, within
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.formats.axis_metadata import (
    CONVENTIONS,
    VALUES,
    Dimension,
    array_name,
    attributes_of,
    axis_names,
    coordinate_attributes,
    coordinates,
    long_name,
    stated,
)
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.formats.reference_system import in_system
from fathometer.storage.volumes.levels import FOLDER, info_at
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

ARRAY = "array"  # attribute of a group: the name of its array
GROUP = {"attributes": {"written_by": "fathometer"}, "zarr_format": 3, "node_type": "group"}
MARK = Mark("zarr.json", b'{\n "attributes": {\n  "written_by": "fathometer"')  # how GROUP begins as it is written
CHUNK_CELLS = 64  # along each axis, at most
INSTALL = "pip install 'zarr>=3'"


def new_files(path: Path, info: VolumeInfo) -> list[atomic.NewFile]:
    """The folder."""
    return [atomic.NewFile(path, folder=MARK)]


def missing(name: str, ranks: int) -> str:
    """What this machine lacks, with how to install it; "": nothing."""
    return "" if importlib.util.find_spec("zarr") else f"Zarr needs the package zarr: {INSTALL}"


def source(volume: Volume, comm: MPI.Intracomm, strategy: Strategy) -> None:
    """None: each rank reads the shards that it needs by itself."""


def chunks_and_shards(shape: Sequence[int], ranks: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cells along each axis of a chunk and of a shard, which holds whole chunks; at most one shard a rank.

    >>> chunks_and_shards((300, 100, 50), 2)
    ((50, 50, 50), (150, 100, 50))
    """
    lengths = [-(-shape[0] // ranks), *shape[1:]]
    counts = [-(-n // CHUNK_CELLS) for n in lengths]
    chunks = [-(-n // count) for n, count in zip(lengths, counts, strict=True)]
    return tuple(chunks), tuple(chunk * count for chunk, count in zip(chunks, counts, strict=True))


class _Level:
    """An array of a group being written, and the shard of it that this rank writes."""

    def __init__(self, shape: Sequence[int], ranks: int, rank: int) -> None:
        self.chunks, self.shards = chunks_and_shards(shape, ranks)
        first, last = (min(number * self.shards[0], shape[0]) for number in (rank, rank + 1))
        self.shard: Box = (first, *[0] * (len(shape) - 1)), (last, *shape[1:])
        self.values: Any = None


class ZarrSink:
    """A Zarr group being written, and those of its levels in it; a shard is written by one rank at a time."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        self._path = path
        self._part, self._info, self._comm, self._strategy = part, info, comm, strategy
        self._array = _array_name(path, info)
        infos = [info_at(info, level) for level in range(strategy.levels + 1)]
        self._levels = [_Level(own.shape, comm.size, comm.rank) for own in infos]
        with collective_errors(comm), atomic.writing(path):
            if comm.rank == 0:
                atomic.require_space(part, sum(math.prod(own.shape) for own in infos) * info.dtype.itemsize)
                with ledger.io():
                    self._create(infos)
        import zarr

        # Chunks of zeros are stored, so that they can be told from chunks that are missing.
        with _system_errors(), zarr.config.set({"array.write_empty_chunks": True}):
            for number, level in enumerate(self._levels):
                level.values = zarr.open_array(part / _folder(number) / self._array, mode="r+")

    def _create(self, infos: Sequence[VolumeInfo]) -> None:
        import zarr

        with _system_errors():
            head = json.loads(json.dumps(GROUP))
            head["attributes"] |= {ARRAY: self._array, "Conventions": CONVENTIONS}
            if len(infos) > 1:
                head["attributes"]["ome"] = multiscales(self._array, infos[0], len(infos) - 1)
            self._write_head(head)
            group = zarr.open_group(self._part, mode="r+")
            for number, info in enumerate(infos):
                self._create_level(group.create_group(_folder(number)) if number else group, number, info)
            self._write_head(head | {"consolidated_metadata": _consolidated(self._part)})

    def _write_head(self, head: Mapping[str, Any]) -> None:
        (self._part / MARK.name).write_text(json.dumps(head, indent=1) + "\n")

    def _create_level(self, group: Any, number: int, info: VolumeInfo) -> None:
        from zarr.codecs import Crc32cCodec

        names = axis_names(info)
        group.create_array(
            self._array,
            shape=info.shape,
            dtype=info.dtype,
            chunks=self._levels[number].chunks,
            shards=self._levels[number].shards,
            compressors=[Crc32cCodec()],
            dimension_names=list(names),
            attributes={"long_name": long_name(self._path), **attributes_of(info)},
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
                    attributes=coordinate_attributes(info, axis),
                )
                array[:] = places

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty. Parts
        in other ranks' shards are sent to them."""
        self.write_level(block, lo, 0)

    def write_level(self, block: NDArray[Any], lo: Sequence[int], level: int) -> None:
        """As `write`, of a level."""
        own = self._levels[level]
        box = tuple(map(int, lo)), tuple(int(a + n) for a, n in zip(lo, block.shape, strict=True))
        parts = [part for other in allgather(self._comm, box) if (part := overlap(other, own.shard))]
        bounds = surrounding(parts) if parts else (own.shard[0], own.shard[0])
        values = exchange(self._comm, block, lo, *bounds)
        # At once where the parts fill their bounds, since each assignment rewrites the shard.
        full = sum(math.prod(extent(part)) for part in parts) == values.size
        with _system_errors(), ledger.io(bytes=values.nbytes):
            for part in [bounds] if full and parts else parts:
                own.values[within(part, (0,) * values.ndim)] = values[within(part, bounds[0])]

    def flush(self) -> None:
        """Collective. Have files and folders on the device, where the strategy asks for it."""
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
        """Collective. The library creates missing folders: metadata lost meanwhile must be looked for."""
        with collective_errors(self._comm), atomic.writing(self._path):
            for number in range(len(self._levels)):
                for path in (
                    self._part / _folder(number) / "zarr.json",
                    self._part / _folder(number) / self._array / "zarr.json",
                ):
                    path.stat()

    def abandon(self, error: FathometerError) -> None:
        """Nothing is open."""


def _folder(level: int) -> str:
    """Of the group of a level in that of the volume."""
    return f"{FOLDER}/{level}" if level else ""


def _array_name(path: Path, info: VolumeInfo) -> str:
    """Of a volume that is written."""
    name = array_name(path, info)
    return VALUES if name == FOLDER else name


def _stated_name(path: Path) -> str:
    """The name of the array of a group, by the group's own file; VALUES where it says none."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        name = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"][ARRAY]
        if isinstance(name, str) and name.isidentifier():
            return name
    return VALUES


def _has_level(path: Path, folder: str, name: str) -> bool:
    """Whether there is a level in a group's folder, with an array of that name."""
    return (path / folder / name / "zarr.json").is_file()


def _consolidated(part: Path) -> dict[str, Any]:
    """The metadata of all groups and arrays in a group, which it has in its own file too, so that one read finds them:
    as zarr consolidates, which would say so in a warning."""
    files = sorted(part.rglob("zarr.json"))
    found = {str(file.parent.relative_to(part)): json.loads(file.read_text()) for file in files if file.parent != part}
    return {"kind": "inline", "must_understand": False, "metadata": found}


def multiscales(name: str, info: VolumeInfo, levels: int) -> dict[str, Any]:
    """The attribute `ome` of a volume, the array `name`, and its levels (OME-NGFF 0.5, "multiscales"), by which viewers
    know them.

    Its axes of space are the volume's: also two-way time, since an axis of time would have to come first. Without a
    spacing lengths are in cells.
    """
    few, units = len(info.shape), {"m": "meter", "s": "second"}
    axes = [
        {"name": label, "type": "time" if info.stepped and axis == 0 else "space"}
        | ({"unit": units[unit]} if info.spacing else {})
        for axis, (label, unit) in enumerate(zip(axis_names(info), info.axis_units, strict=True))
    ]
    first = replace(info, spacing=info.spacing or (1.0,) * few, origin=info.origin or (0.0,) * few)
    datasets = []
    for level in range(levels + 1):
        own = info_at(first, level)
        scale = {"type": "scale", "scale": list(map(float, own.spacing or ()))}
        translation = {"type": "translation", "translation": list(map(float, own.origin or ()))}
        path = f"{_folder(level)}/{name}".strip("/")
        datasets.append({"path": path, "coordinateTransformations": [scale, translation]})
    return {"version": "0.5", "multiscales": [{"name": name, "axes": axes, "datasets": datasets, "type": "mean"}]}


class ZarrVolume(BlockReader):
    """One array of a Zarr group, or an array without a group, for one rank."""

    def __init__(self, path: Path, key: str | None) -> None:
        import zarr

        with reading(path):
            os.scandir(path).close()
            _files_below(path)
        level = (key or "").strip("/")
        own_name = _stated_name(path)
        is_level = re.fullmatch(rf"{FOLDER}/[1-9]\d*", level, re.ASCII) is not None and _has_level(
            path, level, own_name
        )
        with reading(path), decoding(path, "is not a readable Zarr folder"):
            # By the files of the arrays, not by what the group's own file says of them.
            node = zarr.open(path / level if is_level else path, mode="r", use_consolidated=False)
            arrays: dict[str, Any] = dict(node.arrays()) if isinstance(node, zarr.Group) else {}
        if isinstance(node, zarr.Group):
            volumes = [name for name, array in arrays.items() if array.ndim in (2, 3)]
            levels = next(k for k in itertools.count() if not _has_level(path, _folder(k + 1), own_name))
            if key is not None and level not in arrays:
                volumes += [_folder(k) for k in range(1, levels + 1)]
            name = choose_key(path, own_name if is_level else key, volumes or list(arrays))
            self._values: Any = arrays[name]
            self.key: str | None = f"{level}/{name}" if is_level else name
            self.levels = levels if self.key == own_name else 0
        elif key is not None:
            raise InputError(f"{path}:{key}: holds one array and takes no key")
        else:
            self.key, self._values = None, node
        with reading(path):
            dtype = np.dtype(self._values.dtype)
            check_values(str(path), dtype)
            own = dict(self._values.attrs)
            dimensions = [_dimension(axis, arrays) for axis in _names(self._values)]
            name, shape = f"{path}:{self.key}" if self.key else str(path), check_shape(str(path), self._values.shape)
            with _system_errors():
                info, stored = stated(name, shape, dtype, own, dimensions)
            info = in_system(info, own, lambda name: _attributes_in(arrays, name), dict(node.attrs), dimensions)
            super().__init__(path, replace(info, fills=(*info.fills, *_fills(self._values))), stored)
            self._check_chunks()

    def _check_chunks(self) -> None:
        """InputError where a chunk, or a shard, is not there and would be read as zeros."""
        if self._values.fill_value:  # NaN too; such values count as missing
            return
        values, folder = self._values, self.path / (self.key or "")
        there = {file.relative_to(folder).as_posix() for file in _files_below(folder)}
        counts = [-(-n // m) for n, m in zip(values.shape, values.shards or values.chunks, strict=True)]
        key_of = values.metadata.encode_chunk_key
        # One more than can be there: a damaged shape may have more than can be counted.
        numbers = np.unravel_index(np.arange(min(math.prod(counts), len(there) + 1)), counts)
        places = zip(*(number.tolist() for number in numbers), strict=True)
        if first := next((key for place in places if (key := key_of(place)) not in there), None):
            named = [(name, tuple(map(int, re.findall(r"\d+", name)[-len(counts) :]))) for name in there]
            present = sum(
                len(place) == len(counts) and all(map(int.__lt__, place, counts)) and key_of(place) == name
                for name, place in named
            )
            missing = f"{math.prod(counts) - present} of {math.prod(counts)} chunks are missing"
            raise InputError(
                f"{folder / first}: no such file; {missing}, and would be read as zeros (zeros that are meant "
                "are stored with write_empty_chunks of zarr)"
            )

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there: all files of the array's folder, and those beside the folders on the way to it."""
        folders = [self.path]
        for name in self.key.split("/") if self.key else ():
            folders.append(folders[-1] / name)
        with reading(self.path):
            beside = [file for folder in folders[:-1] for file in sorted(folder.iterdir()) if file.is_file()]
            return beside + _files_below(folders[-1])

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        with _system_errors():
            return np.asarray(self._values[box])


def _attributes_in(arrays: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Those of an array; None where there is none of that name."""
    return dict(arrays[name].attrs) if name in arrays else None


def _names(values: Any) -> list[str]:
    """The names of an array's dimensions, by version 3 or as xarray keeps them in version 2; "" of those without."""
    names = getattr(values.metadata, "dimension_names", None) or values.attrs.get("_ARRAY_DIMENSIONS")
    if not isinstance(names, (list, tuple)) or len(names) != values.ndim:
        return [""] * values.ndim
    return [name if isinstance(name, str) else "" for name in names]


def _dimension(name: str, arrays: Mapping[str, Any]) -> Dimension:
    """A dimension with its array of coordinates, the one of its name beside."""
    found = arrays.get(name)
    if found is None or found.ndim != 1:
        return Dimension(name)
    with _system_errors():
        return Dimension(name, found, dict(found.attrs))


def _fills(values: Any) -> list[float]:
    """What stands for missing data by an array's own fill value, unless it is 0, and as xarray keeps it."""
    fills = [float(values.fill_value)] if values.fill_value else []
    with contextlib.suppress(KeyError, TypeError, ValueError, struct.error):
        fills += struct.unpack("<d", base64.b64decode(values.attrs["_FillValue"], validate=True))
    return [fill for fill in fills if not math.isnan(fill)]


def _files_below(folder: Path) -> list[Path]:
    """All files in a folder and those below, links followed, each folder once; a link to nothing is none. InputError
    where there is anything else, such as a pipe, for whose writer the library would wait."""
    files: list[Path] = []
    seen: set[str] = set()
    for name, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(name)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        files += [Path(name) / file for file in names]
    files = [file for file in files if file.exists()]
    if odd := next((file for file in files if not file.is_file()), None):
        raise InputError(f"{odd}: is not a file")
    return sorted(files)


@contextlib.contextmanager
def _system_errors() -> Iterator[None]:
    """Turn errors of the library into OSErrors of one line."""
    try:
        yield
    except (FathometerError, OSError, MemoryError):
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"Zarr: {words_of(error)}") from error
