"""HDF5 volumes: `file.h5:group/dataset`. Each read takes the hyperslab of its block only.

Written chunked, as the dataset "values", with spacing, origin, labels and units as its attributes and, where there is a
spacing, dimension scales. Chunks do not depend on the number of ranks, so that neither does what a lossy filter loses.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allgather, allreduce, barrier, collective_errors
from fathometer.storage import atomic
from fathometer.storage.probe import HDF5, probe
from fathometer.storage.reading import decoding, readable, reading
from fathometer.storage.volumes.block import SPACE_AXES, BlockReader, Volume, VolumeInfo, check_shape, check_values
from fathometer.storage.volumes.boxes import Box, extent, slabs, within
from fathometer.storage.volumes.collective_file import (
    abort,
    allocate_block,
    await_others,
    check_opening,
    mpi_hints,
    opening,
)
from fathometer.storage.volumes.compression import Compression
from fathometer.storage.volumes.formats import filter_time
from fathometer.storage.volumes.formats.axis_metadata import (
    Dimension,
    stated,
)
from fathometer.storage.volumes.formats.dataset_key import choose_key
from fathometer.storage.volumes.formats.hdf5_common import (
    VERSIONS,
    close_read,
    describe,
    file_to_read,
    system_errors,
)
from fathometer.storage.volumes.formats.hdf5_files import check_complete, files_of_dataset
from fathometer.storage.volumes.formats.hdf5_groups import coordinates_beside, unit_of_group
from fathometer.storage.volumes.formats.place_metadata import text_of
from fathometer.storage.volumes.formats.reference_system import in_system
from fathometer.storage.volumes.formats.wavelet import GROUP, WaveletSink, WaveletVolume, is_wavelet
from fathometer.storage.volumes.levels import FOLDER, info_at
from fathometer.storage.volumes.spot_check import SpotCheck
from fathometer.storage.volumes.strategy import COLLECTIVE, ROOT, SHARED, WAVELET, Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

SIGNATURE = b"\x89HDF\r\n\x1a\n"  # of HDF5 files
USER_BLOCKS = (0, 512, 1024, 2048)  # bytes that may come before it; longer ones are not looked for
LARGEST_CALL = 1 << 30  # bytes
MOST_CHUNKS = 1 << 14  # of a call: the library takes some 7 kB of memory for each
DATASET = "values"
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"  # as NetCDF-4 names such a scale
LABELS, SCALES = "DIMENSION_LABELS", "DIMENSION_LIST"  # attributes of a dataset, by the dimension scales' standard
CHUNK_BYTES = 1 << 20
CHUNK_CELLS = {1: 1 << 18, 2: 512, 3: 64}  # along each axis but that of steps, at most, by dimensions: 1 MiB of float32
METADATA_BYTES = 1 << 18  # that the library writes before space for the values is reserved, at most
INSTALL = (
    "apt-get install libhdf5-openmpi-dev; HDF5_MPI=ON CC=mpicc HDF5_DIR=/usr/lib/$(gcc -dumpmachine)/hdf5/openmpi "
    "pip install --no-binary=h5py --no-build-isolation --force-reinstall --no-deps h5py==3.14.0"
)


def new_files(path: Path, info: VolumeInfo) -> list[atomic.NewFile]:
    """The file; the library writes its metadata, and crashes or hangs if the disk is full then: space is reserved."""
    return [atomic.NewFile(path, size=METADATA_BYTES)]


def parallel() -> bool:
    """Whether h5py was built with MPI."""
    import h5py

    return bool(h5py.get_config().mpi)


def missing(name: str, ranks: int) -> str:
    """What this machine lacks for a strategy, with how to install it; "": nothing."""
    if name in (SHARED, ROOT) or ranks == 1 or parallel():
        return ""
    return f"HDF5 on several ranks needs an h5py that knows MPI, unlike this one, or {ROOT}: {INSTALL}"


def filters_missing() -> str:
    """What this machine lacks for compression, with how to install it; "": nothing."""
    if importlib.util.find_spec("hdf5plugin"):
        return ""
    return "filter=zfp, sperr and blosc2 need hdf5plugin: pip install hdf5plugin"


def filter_options(strategy: Strategy) -> dict[str, Any]:
    """Arguments of create_dataset for the strategy's filter. OSError where hdf5plugin is missing."""
    if strategy.filter == "none":
        return {}
    if missing_package := filters_missing():
        raise OSError(errno.ENOSYS, missing_package)
    import hdf5plugin

    match strategy.filter:
        case "zfp":
            options = hdf5plugin.Zfp(rate=strategy.bits) if strategy.bits else hdf5plugin.Zfp(reversible=True)
        case "sperr":
            options = hdf5plugin.Sperr(rate=strategy.bits or 8)
        case _:
            options = hdf5plugin.Blosc2(cname="zstd", filters=hdf5plugin.Blosc2.SHUFFLE)
    return {**options, "fletcher32": True}  # checksum: damaged data must not be decompressed unnoticed


def chunk_of(shape: Sequence[int], stepped: bool = False) -> tuple[int, ...]:
    """Cells of a chunk along each axis, as even as possible: chunks are stored whole, also beyond the volume's end.

    stepped: the first axis is of steps, which are written one after the other: a chunk holds one.

    >>> chunk_of((240, 65, 3))
    (60, 33, 3)
    """
    if stepped:
        return (1, *chunk_of(shape[1:]))
    most = CHUNK_CELLS[len(shape)]
    return tuple(-(-n // -(-n // most)) for n in shape)


def sink(part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> Hdf5Sink | WaveletSink:
    """The writer of a volume in HDF5."""
    return (WaveletSink if strategy.filter == WAVELET else Hdf5Sink)(part, path, info, comm, strategy)


class Hdf5Sink:
    """A dataset of HDF5 being written, and its levels beside it."""

    def __init__(self, part: Path, path: Path, info: VolumeInfo, comm: MPI.Intracomm, strategy: Strategy) -> None:
        import h5py

        check_opening(part, comm, os.O_RDWR)
        self._comm, self._strategy, self._part, self._path = comm, strategy, part, path
        self._shared = comm.size > 1
        self._spot_checks = [SpotCheck(CHUNK_BYTES) for _ in range(strategy.levels + 1)]
        self.compression: Compression | None = None
        self._failed_here = False  # a collective write, on this rank
        with collective_errors(comm), atomic.writing(path):
            options = filter_options(strategy)
            if options and filter_time.watch(strategy.filter) is not None:
                self.compression = Compression()
        # Where a rank cannot write what describes the file, the library leaves the others in it. So rank 0 writes that
        # alone, all chunks included, which ranks then only fill; compressed ones are described as they are written.
        before = self._shared and not options
        if before:
            with collective_errors(comm), atomic.writing(path), system_errors(), ledger.io():
                if comm.rank == 0:
                    with h5py.File(part, "w", libver=VERSIONS) as file:
                        self._create_all(file, info, options, early=True)
                        file.flush()  # what fails while it is closed is told by h5py alone
        self._open("r+" if before else "w")
        try:
            with collective_errors(comm), atomic.writing(path), system_errors(), ledger.io():
                # Not opened again where it is created: SPERR refuses its own chunks then.
                names = [_name(level) for level in range(strategy.levels + 1)]
                known = map(self._file.get, names) if before else self._create_all(self._file, info, options)
                self._values = list(known)
                # Chunks are stored whole. On several ranks the library may have allocated some of them already.
                missing = sum(_whole_chunks(values) - values.id.get_storage_size() for values in self._values)
        except FathometerError as error:
            if not self._shared:
                self._file.close()
                raise
            self._end(error)
        self._reserve(missing)

    def _open(self, mode: str) -> None:
        """Collective. Open the file on all ranks. Where some of them cannot, the others could not close it."""
        import h5py

        file: Any = None
        error: FathometerError | None = None
        try:
            with system_errors(), ledger.io():
                # Without a cache a chunk is compressed as it is written, and read back as it is stored.
                driver: dict[str, Any] = {"rdcc_nbytes": 0} if self._strategy.filter != "none" else {}
                if self._shared:
                    driver = {"driver": "mpio", "comm": self._comm, "info": mpi_hints(self._strategy.hints)}
                with opening(self._part, self._comm):
                    file = h5py.File(self._part, mode, libver=VERSIONS, **driver)
        except OSError as raised:
            error = atomic.failure(self._path, raised)
        ranks = allgather(self._comm, (error, file is not None))
        for failed in (failed for failed, _ in ranks if failed is not None):
            if any(opened for _, opened in ranks):
                self._end(failed)
            raise failed
        self._file = file

    def _create_all(self, file: Any, info: VolumeInfo, options: dict[str, Any], early: bool = False) -> list[Any]:
        """Describe the volume and its levels, which are returned; early: have all chunks in the file."""
        datasets = [self._create(file, DATASET, info, options, early)]
        if self._strategy.levels:
            file.create_group(FOLDER).attrs["of"] = DATASET
        for level in range(1, self._strategy.levels + 1):
            datasets.append(self._create(file, _name(level), info_at(info, level), options, early, f"-{level}"))
        return datasets

    def _create(
        self, file: Any, name: str, info: VolumeInfo, options: dict[str, Any], early: bool, suffix: str = ""
    ) -> Any:
        """Describe one dataset, which is returned. suffix: of the names of its coordinates, which lie beside it."""
        import h5py

        more: dict[str, Any] = {"chunks": chunk_of(info.shape, info.stepped), "fill_time": "never"}
        if early:
            more["dcpl"] = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            more["dcpl"].set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        values = file.create_dataset(name, info.shape, info.dtype, **more, **options)
        describe(values, info, suffix=suffix)
        return values

    def _reserve(self, more: int) -> None:
        """Reserve so many bytes more, so that a full disk is noticed now: in collective writes the library ends some
        ranks only. What compression leaves unused is given back by `close`."""
        failures = list[OSError]()
        if self._comm.rank == 0:
            try:
                with self._part.open("r+b") as file:
                    atomic.reserve(file.fileno(), self._part.stat().st_size + more)
            except OSError as error:
                failures.append(error)
        for failure in allgather(self._comm, failures)[0]:
            self.close()
            raise failure

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty."""
        self.write_level(block, lo, 0)

    def write_level(self, block: NDArray[Any], lo: Sequence[int], level: int) -> None:
        """Write this rank's block of a level, 0: of the volume itself; else as `write`."""
        values = self._values[level]
        try:
            with filter_time.counted(self.compression):
                _move(values, block, lo, self._comm, self._strategy, True)
        except OSError as error:
            self._failed_here = self._shared
            await_others(self._part, self._comm, atomic.failure(self._path, error))
            raise
        await_others(self._part, self._comm, None)
        if self._shared and self._strategy.filter == "none":
            self._spot_checks[level].record(block, lo)
        if self.compression is not None:
            self.compression.plain_bytes += block.nbytes
            if level == 0 and self._strategy.lossy and self.compression.find_errors:
                self._find_errors(block, lo)

    def _find_errors(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Read back what was written, chunk by chunk, and compare."""
        assert self.compression is not None
        hi = [a + n for a, n in zip(lo, block.shape, strict=True)]
        with self.compression.finding_errors(), system_errors():
            for part in _calls(self._values[0], lo, hi):
                with ledger.io():
                    found = self._values[0][tuple(map(slice, *part))]
                self.compression.compare(block[within(part, lo)], found)

    def flush(self) -> None:
        """Collective. Hand what was written to the system; have it on the device, where the strategy asks for it."""
        with system_errors(), ledger.flush():
            self._file.flush()
            if self._strategy.sync != "none":
                atomic.flush_file(self._part)

    def close(self) -> None:
        """Collective. Close the file; where ranks share it, some of what is in it is compared with what was written."""
        with collective_errors(self._comm), atomic.writing(self._path), system_errors(), ledger.io():
            if self._shared:
                self._file.close()
            else:  # without MPI the library keeps what compression left of the reserved space
                self._file.flush()
                size = self._file.id.get_filesize()
                self._file.close()
                os.truncate(self._part, size)
        if self._shared:
            with system_errors(), file_to_read(self._part) as file:
                for level, check in enumerate(self._spot_checks):
                    check.verify(partial(_value_at, file[_name(level)]))
        if self.compression is not None and self._comm.rank == 0:
            self.compression.stored_bytes = self._part.stat().st_size

    def _end(self, error: FathometerError) -> None:
        """Collective. End all ranks: what failed in the library on one of them would hang when the file is closed."""
        if self._comm.rank == 0:
            abort(self._part, self._comm, error)
        barrier(self._comm)

    def abandon(self, error: FathometerError) -> None:
        """Collective. Close the file. After a failed collective write that would hang: the ranks are aborted."""
        if not any(allgather(self._comm, self._failed_here)):
            with system_errors():
                self._file.close()
            return
        self._end(error)


def is_hdf5(path: Path) -> bool:
    """Whether a file begins as HDF5 does: its signature at byte 0, or behind a user's block of 512, 1024, … bytes."""
    with reading(path), path.open("rb") as file:
        begin = file.read(max(USER_BLOCKS) + len(SIGNATURE))
    return any(begin.startswith(SIGNATURE, place) for place in USER_BLOCKS)


def open_hdf5(path: Path, key: str | None) -> Volume:
    """A dataset of an HDF5 file, or the volume that it holds as wavelet coefficients. Raises as `open_volume`."""
    import h5py

    readable(path)
    with reading(path), ledger.io():
        probe(path, HDF5, "HDF5")
    with reading(path), decoding(path, "is not a readable HDF5 file"):
        file = h5py.File(path, "r")
    try:
        with reading(path), system_errors():
            coefficients = is_wavelet(file) and not (key or "").strip("/").startswith(f"{GROUP}/")
            return WaveletVolume(path, key, file) if coefficients else Hdf5Volume(path, key, file)
    except BaseException:
        close_read(path, file)
        raise


def _is_scale(dataset: Any) -> bool:
    """Whether a dataset is the coordinates of an axis. The library's own answer ends the process where a damaged
    attribute is of another type."""
    return text_of(dataset.attrs.get("CLASS")) == "DIMENSION_SCALE"


def _datasets(file: Any) -> dict[str, Any]:
    """All datasets of a file by their names."""
    import h5py

    datasets: dict[str, Any] = {}

    def collect(name: str | bytes, item: Any) -> None:
        if isinstance(item, h5py.Dataset):  # a name that is not UTF-8 is bytes
            datasets[name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")] = item

    file.visititems(collect)
    return datasets


def _is_level(file: Any, name: str) -> bool:
    """Whether a dataset is a level that this program has written beside the volume."""
    return name.startswith(f"{FOLDER}/") and text_of(file[FOLDER].attrs.get("of")) == DATASET


class Hdf5Volume(BlockReader):
    """One dataset of an HDF5 file. Spacing, origin, labels and unit are known of datasets written here, and as far as
    dimension scales (NetCDF-4) and attributes of CF and MATLAB tell them. It takes an open h5py file, and closes it."""

    def __init__(self, path: Path, key: str | None, file: Any) -> None:
        self._file = file
        with reading(path), system_errors():
            datasets = _datasets(file)
            # The coordinates of axes, as of NetCDF-4, are no volumes where there is anything else, nor are levels.
            wanted = (key or "").strip("/")
            names = (
                [name for name, item in datasets.items() if not _is_scale(item)] if wanted not in datasets else [wanted]
            )
            levels = [name for name in datasets if DATASET in datasets and _is_level(file, name)]
            if key is None:
                names = [name for name in names if name not in levels]
                names = [name for name in names if 2 <= datasets[name].ndim <= SPACE_AXES + 1] or names
            self.key = choose_key(path, key, names or list(datasets))
            self.levels = sum(not _is_scale(datasets[name]) for name in levels) if self.key == DATASET else 0
            self._values = datasets[self.key]
            _load_filters(self._values)
            name = f"{path}:{self.key}"
            check_values(name, self._values.dtype)
            fills = check_complete(self._values, self.key)  # before a shape that depends on other files
            shape = check_shape(name, self._values.shape or ())
            attributes = dict(self._values.attrs)
            dimensions = _dimensions(self._values, attributes)
            info, stored = stated(name, shape, self._values.dtype, attributes, dimensions)
            group = self._values.parent
            info = in_system(info, attributes, lambda name: _attributes_in(group, name), group.attrs, dimensions)
            info = replace(info, fills=fills, unit=info.unit or unit_of_group(self._values))
            super().__init__(path, info, stored)

    def files(self) -> list[Path]:
        """Every file that metadata or values are read from, in a fixed order, each once; also one that is missing and
        would count if it were there."""
        with reading(self.path), system_errors():
            return files_of_dataset(self._values, self.key)

    @property
    def name(self) -> str | bytes:
        """Of the dataset, with its groups, as the library knows it."""
        name: str | bytes = self._values.name
        return name

    def _block(self, box: tuple[slice, ...]) -> NDArray[Any]:
        lo, hi = [side.start for side in box], [side.stop for side in box]
        # Zeros: of chunks that were never written the library may leave memory as it is.
        block = np.zeros([b - a for a, b in zip(lo, hi, strict=True)], self._values.dtype)
        with system_errors():
            for part in _calls(self._values, lo, hi):
                self._values.read_direct(block, tuple(map(slice, *part)), within(part, lo))
        return block

    def close(self) -> None:
        close_read(self.path, self._file)


def _attributes_in(group: Any, name: str) -> Any:
    """Those of a dataset; None where there is none of that name."""
    import h5py

    return group[name].attrs if name and isinstance(group.get(name), h5py.Dataset) else None


def _dimensions(values: Any, attributes: Mapping[str, Any]) -> list[Dimension]:
    """The dimensions of a dataset. The library's own readers of labels and scales end the process where the attributes
    of these are of another type than it would write."""
    said = attributes.get(LABELS)
    labels = [""] * values.ndim
    if isinstance(said, np.ndarray) and said.shape == (values.ndim,):
        labels = [text_of(label) for label in said]
    if not _has_scales(values):
        beside = [] if any(labels) else coordinates_beside(values, attributes)
        return beside or [Dimension(label) for label in labels]
    return [_dimension(axis, label) for axis, label in zip(values.dims, labels, strict=True)]


def _has_scales(values: Any) -> bool:
    """Whether a dataset has scales of its axes in an attribute of the type that is theirs."""
    import h5py

    if SCALES not in values.attrs:
        return False
    attribute = values.attrs.get_id(SCALES)
    kind = attribute.get_type()
    is_list = isinstance(kind, h5py.h5t.TypeVlenID) and isinstance(kind.get_super(), h5py.h5t.TypeReferenceID)
    return bool(is_list and attribute.shape == (values.ndim,))


def _dimension(axis: Any, label: str) -> Dimension:
    """A dimension with its first scale; NetCDF-4 has scales that stand for a name alone."""
    scales = list(axis.values())
    if not scales:
        return Dimension(label)
    scale = scales[0]
    name = label or os.path.basename(str(scale.name))
    attributes = dict(scale.attrs)
    alone = scale.ndim != 1 or text_of(attributes.get("NAME")).startswith(NO_VARIABLE)
    return Dimension(name) if alone else Dimension(name, scale, attributes)


def _load_filters(values: Any) -> None:
    """Load hdf5plugin where a dataset is compressed by one of its filters."""
    import h5py

    properties = values.id.get_create_plist()
    codes = [properties.get_filter(number)[0] for number in range(properties.get_nfilters())]
    if not all(h5py.h5z.filter_avail(code) for code in codes):
        with contextlib.suppress(ImportError):
            import hdf5plugin  # noqa: F401


def _name(level: int) -> str:
    """Of the dataset of a level."""
    return f"{FOLDER}/{level}" if level else DATASET


def _whole_chunks(values: Any) -> int:
    """Bytes of a dataset whose chunks are stored as they are."""
    cells = math.prod(-(-n // chunk) * chunk for n, chunk in zip(values.shape, values.chunks, strict=True))
    return int(cells * values.dtype.itemsize)


def _value_at(values: Any, cell: tuple[int, ...]) -> bytes:
    return np.asarray(values[cell]).tobytes()


class Hdf5Source:
    """A dataset of HDF5 that ranks read together."""

    def __init__(self, volume: Hdf5Volume, comm: MPI.Intracomm, strategy: Strategy) -> None:
        import h5py

        check_opening(volume.path, comm, os.O_RDONLY)
        self._path, self._comm, self._strategy = volume.path, comm, strategy
        driver = {"driver": "mpio", "comm": comm, "info": mpi_hints(strategy.hints)} if comm.size > 1 else {}
        with system_errors(), ledger.io():
            self._file = h5py.File(volume.path, "r", **driver)
            self._values = self._file[volume.name]

    def read(self, box: Box) -> NDArray[Any]:
        """The values of a box of the volume, in any real dtype."""
        block = allocate_block(self._path, box, self._values.dtype, self._comm)
        _move(self._values, block, box[0], self._comm, self._strategy, False)
        return block

    def close(self) -> None:
        """Collective. Close the file."""
        close_read(self._path, self._file)


def source(volume: Volume, comm: MPI.Intracomm, strategy: Strategy) -> Hdf5Source | None:
    """Its reader on several ranks; None where each rank reads by itself."""
    if not isinstance(volume, Hdf5Volume) or strategy.name == SHARED:
        return None
    return Hdf5Source(volume, comm, strategy)


def _move(
    values: Any, block: NDArray[Any], lo: Sequence[int], comm: MPI.Intracomm, strategy: Strategy, write: bool
) -> None:
    """Collective. Write or read this rank's block, which may be empty, from cell `lo` of a dataset on; all ranks make
    the same number of calls."""
    import h5py

    # Ranks that share a compressed chunk would read the same bytes in one collective call: see
    # SharedVolume._without_overlap.
    compressed = values.id.get_create_plist().get_nfilters() > 0
    collective = strategy.name == COLLECTIVE and comm.size > 1 and (write or not compressed)
    hi = [a + n for a, n in zip(lo, block.shape, strict=True)]
    boxes: list[Box | None] = list(_calls(values, lo, hi))
    if collective:
        boxes += [None] * (int(allreduce(comm, len(boxes), "MAX")) - len(boxes))
    errors: list[OSError] = []
    access = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    if collective:
        access.set_dxpl_mpio(h5py.h5fd.MPIO_COLLECTIVE)
    with ledger.io(bytes=block.nbytes):
        for box in boxes:
            try:
                with system_errors():
                    _call(values, None if box is None else block[within(box, lo)], box, access, write)
            except OSError as error:
                errors.append(error)
    if errors:
        raise errors[0]


def _calls(values: Any, lo: Sequence[int], hi: Sequence[int]) -> Iterator[Box]:
    """The boxes, cut at borders of chunks, by which one call at a time moves a box of a dataset: of at most
    LARGEST_CALL bytes and MOST_CHUNKS chunks."""
    left = MOST_CHUNKS
    sides: list[list[tuple[int, int]]] = []
    for a, b, chunk in reversed(list(zip(lo, hi, values.chunks or values.shape, strict=True))):
        first = a // chunk * chunk
        taken = max(1, min(left, -(-(b - first) // chunk)))
        left //= taken
        starts = range(first, b, taken * chunk)
        sides.insert(0, [(max(a, start), min(b, start + taken * chunk)) for start in starts])
    for box in itertools.product(*sides):
        first_cells, last_cells = zip(*box, strict=True)
        yield from slabs(first_cells, last_cells, max(1, LARGEST_CALL // values.dtype.itemsize))


def _call(values: Any, part: NDArray[Any] | None, box: Box | None, access: Any, write: bool) -> None:
    import h5py

    space = values.id.get_space()
    if part is None or box is None:
        space.select_none()
        memory = h5py.h5s.create_simple((1,))
        memory.select_none()
        part = np.empty((1,), values.dtype)
    else:
        space.select_hyperslab(box[0], extent(box))
        memory = h5py.h5s.create_simple(part.shape)
    (values.id.write if write else values.id.read)(memory, space, part, dxpl=access)
