"""Fields of a model in time at output times: which of them are on disk, and the two kinds of files that hold them.

    out/fields/ocean-00000120.nc    NetCDF: all fields after 120 steps
    out/fields/pH-0003.h5           HDF5: a volume for each field and time, in the order z, y, x with x contiguous
    out/flow.xdmf                   description of these volumes, for ParaView, VisIt and their like

What an earlier run of this program has written goes, but for the times that a run goes on from; other files stay.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_file
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.runs.value_range import ValueRange
from fathometer.storage import atomic
from fathometer.storage.datasets.dataset import Dataset
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.datasets.writer import DatasetWriter
from fathometer.storage.probe import HDF5, probe_together
from fathometer.storage.reading import decoding, reading
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.hdf5 import DATASET
from fathometer.storage.volumes.formats.hdf5_common import file_to_read
from fathometer.storage.volumes.formats.netcdf_output import Boxes
from fathometer.storage.volumes.strategy import WAVELET, Strategy
from fathometer.storage.volumes.volume import write_volume

if TYPE_CHECKING:
    from mpi4py import MPI

FOLDER = "fields"
KIND = "fields"  # of file, in the account


class FieldSeries(ABC):
    """The field files of a run; methods are collective, but `files` and `require`.

    Args:
        output: folder of the results. names: of the fields. strategy: how they are written.

    Attributes:
        written: moments whose files are there, in their order: steps or times, as the kind of file has them.
        ranges: of this rank's values that were written, by field.
    """

    def __init__(self, output: Path, names: Iterable[str], comm: MPI.Intracomm, strategy: Strategy) -> None:
        self.output, self.folder, self.comm, self.strategy = output, output / FOLDER, comm, strategy
        self.written: list[float] = []
        self.ranges = {name: ValueRange() for name in names}

    @abstractmethod
    def files(self, written: Sequence[float]) -> list[Path]:
        """The files of some moments, which are the first ones."""

    @abstractmethod
    def is_written(self, step: int, time: float) -> bool:
        """Whether the files of this moment, the latest one, are there."""

    @abstractmethod
    def _check(self, paths: Sequence[Path]) -> None:
        """Raises FathometerError for a file that cannot be read."""

    @abstractmethod
    def _tidy(self) -> None:
        """On one rank: remove what this program has written and is none of `written`."""

    def require(self, written: Sequence[float]) -> None:
        """On one rank. Raises FathometerError where a file of one of the first moments is not there, or cut short."""
        paths = self.files(written)
        for path in paths:
            if not path.exists():
                raise FathometerError(f"{path}: is missing, which the run had written")
        self._check(paths)

    def begin(self, written: Sequence[float] = ()) -> None:
        """Begin, or go on where the files of some moments are there."""
        self.written = list(written)
        with collective_errors(self.comm):
            if self.comm.rank == 0:
                with atomic.writing(self.folder):
                    self.folder.mkdir(parents=True, exist_ok=True)
                    self._tidy()

    def close(self) -> None:
        """Close what is open between moments."""
        return


class NetcdfSeries(FieldSeries):
    """A NetCDF file for each moment, by the number of steps; fields as boxes of the ranks.

    Args:
        stem: what names of files begin with.
    """

    def __init__(self, output: Path, stem: str, names: Iterable[str], comm: MPI.Intracomm, strategy: Strategy) -> None:
        super().__init__(output, names, comm, strategy)
        self._stem, self._own = stem, re.compile(rf"{re.escape(stem)}-(\d{{8,}})\.nc")

    def path(self, step: float) -> Path:
        """The file after some steps."""
        return self.folder / f"{self._stem}-{round(step):08d}.nc"

    def files(self, written: Sequence[float]) -> list[Path]:
        """The files of some moments, which are the first ones."""
        return [self.path(step) for step in written]

    def is_written(self, step: int, time: float) -> bool:
        """Whether the files of this moment, the latest one, are there."""
        return self.written[-1:] == [step]

    def _check(self, paths: Sequence[Path]) -> None:
        for path in paths:
            DatasetFile(path).close()

    def _tidy(self) -> None:
        atomic.remove_parts(self.folder, self._own)
        for path in list(self.folder.iterdir()):
            if (match := self._own.fullmatch(path.name)) is not None and int(match[1]) not in self.written:
                remove_file(path)

    def write(self, step: int, dataset: Dataset, fields: Iterable[tuple[str, Boxes]]) -> None:
        """Write the file after some steps: what `dataset` says, and this rank's boxes of each field."""
        with (
            ledger.file(KIND, "write"),
            DatasetWriter(self.path(step), dataset, self.comm, self.strategy) as writer,
        ):
            for name, boxes in fields:
                writer.write(name, boxes)
        self.written.append(step)


@dataclass(frozen=True)
class VolumeGrid:
    """Equal cells: numbers of them, spacing and origin (m) along x, y and z."""

    cells: Index3
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]


class VolumeSeries(FieldSeries):
    """An HDF5 volume for each field and moment, by its time, and their description.

    Args:
        description: name of the XDMF file. units: of the fields, by name. lo: first cell of this rank's block.

    Raises InputError for a strategy that writes coefficients, of which XDMF knows nothing.
    """

    def __init__(
        self,
        output: Path,
        description: str,
        grid: VolumeGrid,
        units: Mapping[str, str],
        lo: Sequence[int],
        comm: MPI.Intracomm,
        strategy: Strategy,
    ) -> None:
        if strategy.filter == WAVELET:
            raise InputError(
                f"[storage] write: found {strategy}; allowed: any other filter, or levels: the fields' description "
                "(XDMF) knows no coefficients"
            )
        super().__init__(output, units, comm, strategy)
        self._description, self._grid, self._units, self._lo = output / description, grid, units, tuple(lo)

    def files(self, written: Sequence[float]) -> list[Path]:
        """The files of some moments, which are the first ones."""
        return [self.output / volume_name(name, index) for index in range(len(written)) for name in self._units]

    def is_written(self, step: int, time: float) -> bool:
        """Whether the files of this moment, the latest one, are there."""
        return self.written[-1:] == [time]

    def _check(self, paths: Sequence[Path]) -> None:
        probe_together(paths, HDF5, "HDF5")
        for path in paths:
            with reading(path), decoding(path, "is damaged"), file_to_read(path):
                pass

    def _tidy(self) -> None:
        """Of an earlier run the volumes that its description names; of this one those of later times, which it has
        written without coming to its next state."""
        if not self.written:
            self._remove_described()
        own = re.compile(rf"(?:{'|'.join(re.escape(_stem(name)) for name in self._units)})-(\d{{4,}})\.h5")
        atomic.remove_parts(self.folder, own)
        for path in list(self.folder.iterdir()):
            if (match := own.fullmatch(path.name)) and int(match[1]) >= len(self.written):
                remove_file(path)
        if self.written:
            self._describe()

    def _remove_described(self) -> None:
        try:
            text = self._description.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return
        for name in re.findall(rf">({FOLDER}/[^</]+-\d{{4}}\.h5):/{DATASET}<", text):
            remove_file(self.output / name)
        remove_file(self._description)

    def write(self, time: float, fields: Iterable[tuple[str, npt.NDArray[Any]]]) -> None:
        """Write all fields at a time, s, and the description with it: this rank's cells (x, y, z) of each by name."""
        grid, index = self._grid, len(self.written)
        centre = tuple(o + 0.5 * h for o, h in zip(grid.origin, grid.spacing, strict=True))
        with ledger.file(KIND, "write"):
            for name, values in fields:
                info = VolumeInfo(
                    grid.cells[::-1],
                    np.dtype(np.float32),
                    grid.spacing[::-1],
                    centre[::-1],
                    ("z", "y", "x"),
                    self._units[name],
                )
                block = np.ascontiguousarray(np.asarray(values, np.float32).transpose(2, 1, 0))
                self.ranges[name].add(block)
                write_volume(
                    self.output / volume_name(name, index), info, block, self._lo[::-1], self.comm, self.strategy
                )
            self.written.append(time)
            with collective_errors(self.comm):
                if self.comm.rank == 0:
                    self._describe()

    def _describe(self) -> None:
        text = description(self._grid, list(self._units), self.written)
        atomic.write(self._description, text.encode())


def volume_name(field: str, index: int) -> str:
    """Path of a field's volume at a time, below the folder of the results."""
    return f"{FOLDER}/{_stem(field)}-{index:04d}.h5"


def _stem(field: str) -> str:
    return re.sub(r"[^A-Za-z0-9()+-]", "_", field)


def description(grid: VolumeGrid, fields: Sequence[str], times: Sequence[float]) -> str:
    """The XDMF text (version 3): a grid of equal cells at each time, values in the cells."""

    def numbers(values: Sequence[float]) -> str:
        return " ".join(f"{value!r}" for value in values)

    cells = " ".join(str(n) for n in grid.cells[::-1])
    nodes = " ".join(str(n + 1) for n in grid.cells[::-1])
    lines = [
        '<?xml version="1.0"?>',
        '<Xdmf Version="3.0">',
        "  <Domain>",
        '    <Grid Name="flow" GridType="Collection" CollectionType="Temporal">',
    ]
    for index, time in enumerate(times):
        lines += [
            f'      <Grid Name="step {index}" GridType="Uniform">',
            f'        <Time Value="{time!r}"/>',
            f'        <Topology TopologyType="3DCoRectMesh" Dimensions="{nodes}"/>',
            '        <Geometry GeometryType="ORIGIN_DXDYDZ">',
            f'          <DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">'
            f"{numbers(grid.origin[::-1])}</DataItem>",
            f'          <DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">'
            f"{numbers(grid.spacing[::-1])}</DataItem>",
            "        </Geometry>",
        ]
        for name in fields:
            lines += [
                f'        <Attribute Name={quoteattr(name)} AttributeType="Scalar" Center="Cell">',
                f'          <DataItem Dimensions="{cells}" NumberType="Float" Precision="4" Format="HDF">'
                f"{volume_name(name, index)}:/{DATASET}</DataItem>",
                "        </Attribute>",
            ]
        lines.append("      </Grid>")
    return "\n".join([*lines, "    </Grid>", "  </Domain>", "</Xdmf>", ""])
