"""Registry of the volume formats: suffixes, strategies, how each is read and written, what it needs.

A new format is one module and an entry here.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.meant import did_you_mean, file_meant
from fathometer.base.removal import Mark, remove_file, remove_tree
from fathometer.storage.atomic import NewFile, require_mark
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.shared_writer import Opened
from fathometer.storage.traces.detect import holds_traces
from fathometer.storage.volumes.block import SPACE_AXES, Volume, VolumeInfo
from fathometer.storage.volumes.boxes import Box
from fathometer.storage.volumes.formats import blocks, hdf5, netcdf, raw_binary, zarr_volume
from fathometer.storage.volumes.formats.npy import open_npy
from fathometer.storage.volumes.formats.npz import NpzVolume
from fathometer.storage.volumes.formats.rsf import open_rsf
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.strategy import (
    AUTO,
    COLLECTIVE,
    INDEPENDENT,
    NONBLOCKING,
    PER_RANK,
    ROOT,
    SHARED,
    WAVELET,
    Strategy,
)

if TYPE_CHECKING:
    from mpi4py import MPI


class Source(Protocol):
    """A volume being read by several ranks; its calls are collective over them."""

    def read(self, box: Box) -> NDArray[Any]:
        """The values of a box of the volume, in any real dtype."""

    def close(self) -> None: ...


class Sink(Opened, Protocol):
    """A volume being written by several ranks; its calls are collective over them.

    Errors of one rank are OSErrors, MemoryErrors or FathometerErrors there, raised after all collective calls of the
    method, so that no rank hangs.
    """

    def write(self, block: NDArray[Any], lo: Sequence[int]) -> None:
        """Write this rank's block, C-contiguous and of the volume's dtype, from cell `lo` on; it may be empty."""


@runtime_checkable
class LevelledSink(Sink, Protocol):
    """One that can have levels beside the volume."""

    def write_level(self, block: NDArray[Any], lo: Sequence[int], level: int) -> None:
        """As `write`, of a level from 1 on."""


@dataclass(frozen=True)
class Format:
    """One volume format.

    Attributes:
        name: for people. suffixes: of its files, lower case, with the dot.
        reads, writes: names of the strategies that it is read and written by, the default first; empty: not at all.
        opener: (path, key) to a volume for one rank.
        source: (volume, communicator, strategy) to its reader on several ranks; None: each rank reads by its volume.
        new_files: (path, info) to the files of a volume, the one that holds the array first.
        sink: (unfinished first file, path, info, communicator, strategy) to its writer.
        missing: (name of a strategy, ranks) to what this machine lacks, with how to install it; "": nothing.
        filters: compression filters that it is written with.
        axes: of a volume that is written, at most; with 4 the first is of steps. levels: whether box means are.
        note: remark for people. folder: of a volume that is a folder, the mark that it bears; None: it is files.
    """

    name: str
    suffixes: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    opener: Callable[[Path, str | None], Volume]
    source: Callable[[Volume, MPI.Intracomm, Strategy], Source | None]
    new_files: Callable[[Path, VolumeInfo], list[NewFile]] | None = None
    sink: Callable[[Path, Path, VolumeInfo, MPI.Intracomm, Strategy], Sink] | None = None
    missing: Callable[[str, int], str] = lambda name, ranks: ""
    filters: tuple[str, ...] = ("none",)
    axes: int = SPACE_AXES
    levels: bool = False
    note: str = ""
    folder: Mark | None = None

    def chosen(self, path: Path, strategy: Strategy, direction: str, ranks: int) -> Strategy:
        """The strategy, an `auto` replaced by the default; direction: "read" or "write".

        InputError where this format does not have it, or this machine lacks what it needs.
        """
        names = self.reads if direction == "read" else self.writes
        if not names:
            raise InputError(f"{path}: {self.name} is not written (allowed: {', '.join(writable_suffixes())})")
        coefficients = direction == "write" and WAVELET in self.filters and strategy.filter == WAVELET
        names = COEFFICIENTS if coefficients else names
        if strategy.name == AUTO:
            usual = Strategy.of(names[0])
            strategy = replace(strategy, name=usual.name, datatype=usual.datatype)
        if strategy.name not in names:
            how = f"{strategy.name} with filter={WAVELET}" if coefficients else strategy.name
            raise InputError(
                f"{path}: {self.name} is not {'read' if direction == 'read' else 'written'} by {how} "
                f"(allowed: {', '.join(names)})"
            )
        if direction == "write" and strategy.filter not in self.filters:
            raise InputError(
                f"{path}: {self.name} is not written with filter={strategy.filter} (allowed: {', '.join(self.filters)})"
            )
        if direction == "write" and strategy.levels and not self.levels:
            holders = ", ".join(name for form in FORMATS if form.levels for name in form.suffixes)
            raise InputError(f"{path}: {self.name} is not written with levels (allowed: {holders})")
        if direction == "write" and strategy.filter != "none" and strategy.name == INDEPENDENT and not coefficients:
            raise InputError(
                f"{path}: filter={strategy.filter} with {INDEPENDENT}: ranks share compressed chunks "
                f"(allowed: {COLLECTIVE}, {ROOT})"
            )
        if missing := self.lacking(strategy, ranks):
            raise InputError(f"{path}: {missing}")
        return strategy

    def lacking(self, strategy: Strategy, ranks: int) -> str:
        """What this machine lacks for a strategy, with how to install it; "": nothing. Coefficients of wavelets are
        written without the format's library on several ranks."""
        return self.missing(SHARED if strategy.filter == WAVELET else strategy.name, ranks)


RAW = (SHARED, COLLECTIVE, INDEPENDENT, NONBLOCKING, ROOT)
COEFFICIENTS = (SHARED, COLLECTIVE, INDEPENDENT, NONBLOCKING)  # ways to write those of filter=wavelet
MPIIO = (COLLECTIVE, INDEPENDENT, NONBLOCKING, ROOT)
RAW_SUFFIXES = (".bin", ".raw", ".dat", ".f32", ".float", ".direct", ".h@", ".rsf@")  # of numbers without a header
STEPPED = SPACE_AXES + 1

FORMATS = (
    Format(
        name="RSF",
        suffixes=(".rsf",),
        reads=RAW,
        writes=RAW,
        opener=open_rsf,
        source=raw_binary.source,
        new_files=raw_binary.rsf_files,
        sink=raw_binary.sink,
        axes=STEPPED,
    ),
    Format(
        name="NPY",
        suffixes=(".npy",),
        reads=RAW,
        writes=RAW,
        opener=open_npy,
        source=raw_binary.source,
        new_files=raw_binary.npy_files,
        sink=raw_binary.sink,
        axes=STEPPED,
    ),
    Format("NPZ", (".npz",), (SHARED, ROOT), (), NpzVolume, raw_binary.source, note="each rank reads all of it"),
    Format(
        name="SEG-Y",
        suffixes=(".segy", ".sgy"),
        reads=RAW,
        writes=RAW,
        opener=SegyVolume,
        source=raw_binary.source,
        new_files=raw_binary.segy_files,
        sink=raw_binary.segy_sink,
    ),
    Format(
        name="NetCDF",
        suffixes=(".nc",),
        reads=RAW,
        writes=MPIIO,
        opener=netcdf.NetcdfVolume,
        source=netcdf.source,
        new_files=netcdf.new_files,
        sink=netcdf.NetcdfSink,
        missing=netcdf.missing,
        axes=STEPPED,
    ),
    Format(
        name="HDF5",
        suffixes=(".h5", ".hdf5"),
        reads=(SHARED, COLLECTIVE, INDEPENDENT, ROOT),
        writes=(COLLECTIVE, INDEPENDENT, ROOT),
        opener=hdf5.open_hdf5,
        source=hdf5.source,
        new_files=hdf5.new_files,
        sink=hdf5.sink,
        missing=hdf5.missing,
        filters=("none", "zfp", "sperr", "blosc2", WAVELET),
        axes=STEPPED,
        levels=True,
    ),
    Format(
        name="Zarr",
        suffixes=(".zarr",),
        reads=(PER_RANK, ROOT),
        writes=(PER_RANK, ROOT),
        opener=zarr_volume.ZarrVolume,
        source=zarr_volume.source,
        new_files=zarr_volume.new_files,
        sink=zarr_volume.ZarrSink,
        missing=zarr_volume.missing,
        levels=True,
        folder=zarr_volume.MARK,
    ),
    Format(
        name="blocks",
        suffixes=(".blocks",),
        reads=(PER_RANK, ROOT),
        writes=(PER_RANK, ROOT),
        opener=blocks.BlocksVolume,
        source=blocks.source,
        new_files=blocks.new_files,
        sink=blocks.BlocksSink,
        note="a folder: an NPY for each rank, and index.json",
        folder=blocks.MARK,
    ),
)
BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}


def format_of(path: Path) -> Format:
    """The format of a file by its suffix; InputError where that is unknown."""
    form = BY_SUFFIX.get(path.suffix.lower())
    if form is None:
        raise unknown_kind(path)
    return form


def format_to_read(path: Path) -> Format:
    """The format of a file that is to be read: HDF5 and, where the suffix is unknown, traces by their content, all
    others by their suffix. InputError where neither tells."""
    form = BY_SUFFIX.get(path.suffix.lower())
    if os.path.isfile(path):  # False also of a name that no file can have
        if hdf5.is_hdf5(path):
            return BY_SUFFIX[".h5"]
        if form is None and holds_traces(path):
            return BY_SUFFIX[".segy"]
    if form is None:
        raise unknown_kind(path)
    return form


class UnknownKind(InputError):
    """Neither its suffix nor its content tells what a file holds; hint: what to do about it, the message's end."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}{hint}")
        self.hint = hint


def unknown_kind(path: Path | str) -> UnknownKind:
    """The error for a file of no known kind, with what to do about it."""
    name, suffix = str(path), Path(path).suffix.lower()
    hint = did_you_mean(suffix, BY_SUFFIX) if suffix else ""
    if os.path.isdir(name):
        hint = "; it is a folder, name a file in it"
    elif suffix in RAW_SUFFIXES:
        hint = (
            "; numbers without a header are read through a text file, such as "
            f'{Path(name).with_suffix(".rsf").name}: n1=… n2=… d1=… d2=… in="{Path(name).name}" '
            "data_format=native_float, where n1 is the fastest axis"
        )
    elif not os.path.exists(name):
        hint = file_meant(name) or "; there is no file of this name"
    return UnknownKind(f"{name}: unknown kind of file (allowed: {', '.join(BY_SUFFIX)})", hint)


def require_replaceable(path: Path) -> None:
    """InputError where a volume would take the place of a folder that this program has not written."""
    form = BY_SUFFIX.get(path.suffix.lower())
    if form is not None and form.folder is not None:
        try:
            require_mark(path, form.folder)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None


def remove_volume(path: Path, root: Path) -> None:
    """Remove a volume that this program has written in the folder `root` or deeper. No error is raised."""
    form = BY_SUFFIX.get(path.suffix.lower())
    for part in parts_of(path):
        if form is None or form.folder is None:
            remove_file(part)
        else:
            with suppress(FathometerError):  # a folder of somebody else
                remove_tree(part, root, form.folder)


def writable_suffixes() -> list[str]:
    """Suffixes of the formats that can be written."""
    return [suffix for suffix, form in BY_SUFFIX.items() if form.writes]


def stepped_suffixes() -> list[str]:
    """Suffixes of the formats in which volumes with an axis of steps can be written."""
    return [suffix for suffix, form in BY_SUFFIX.items() if form.writes and form.axes == STEPPED]
