"""The fields of a flow as Tecplot files: one for each time, or one with a zone for each time.

    out/fields/flow-0003.plt    after the beginning and the first two times
    out/fields/flow.plt         all times: its head grows as they come, values stay where they are

Values stand at the centres of cells, which are the nodes of Tecplot's grid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from fathometer.apps.flow.flow_file import IncompressibleFile
from fathometer.apps.flow.solver.model import FlowModel
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_file
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.field_series import KIND, FieldSeries
from fathometer.storage import atomic
from fathometer.storage.shared_writer import SharedWriter
from fathometer.storage.tecplot.layout import TecplotLayout, Zone, packed
from fathometer.storage.tecplot.reader import TecplotFile
from fathometer.storage.tecplot.ways import Way
from fathometer.storage.tecplot.writer import TecplotWriter
from fathometer.storage.volumes.strategy import Strategy

if TYPE_CHECKING:
    from mpi4py import MPI

OWN = re.compile(r"flow-(\d{4,})\.plt")
ONE = "flow.plt"
UNITS: Mapping[str, str] = {
    **dict.fromkeys("xyz", "m"),
    **dict.fromkeys("uvw", "m/s"),
    "p": "m²/s²",
    "temperature": "K",
    "vorticity": "1/s",
}
PLACES = ("x", "y", "z")
SPARE = 16  # zones of the one file beside those that are planned


def way_of(file: IncompressibleFile) -> Way:
    """How the input file has its Tecplot files written."""
    keys = file.output.tecplot
    return Way(keys.header, keys.file, keys.data, keys.calls, tuple(keys.hints.items()), keys.sync)


def layout_of(file: IncompressibleFile, zones: int) -> TecplotLayout:
    """What a file with place for so many zones holds."""
    keys = file.output.tecplot
    nx, ny, nz = (*file.grid.cells, 1)[:3]
    names = [keys.names.get(name, name) for name in file.variables]
    return TecplotLayout.of(keys.title, names, (nx, ny, nz), keys.precision, zones)


def zones_at(times: Sequence[float]) -> list[Zone]:
    """A zone for each of some times, s."""
    return [Zone(f"t = {time:.9g} s", time) for time in times]


class TecplotSeries(FieldSeries):
    """The Tecplot files of a flow; see FieldSeries, whose moments are times, s."""

    def __init__(self, file: IncompressibleFile, comm: MPI.Intracomm) -> None:
        shown = [name for name in file.variables if name not in PLACES]
        super().__init__(file.output_directory, shown, comm, Strategy())
        self._file = file
        # Runs that are ended in between and go on write one zone more each.
        self._layout = layout_of(file, len(file.output_times) + 1 + SPARE)
        self._one = file.output.tecplot.series == "file"
        self._writer: TecplotWriter | None = None  # of the one file
        self._reserving: BinaryIO | None = None  # the one file on rank 0, beside MPI

    def path(self, index: int) -> Path:
        """The file of a time, by its number."""
        return self.folder / (ONE if self._one else f"flow-{index:04d}.plt")

    def files(self, written: Sequence[float]) -> list[Path]:
        """The files of some moments, which are the first ones."""
        return list(dict.fromkeys(self.path(index) for index in range(len(written))))

    def is_written(self, step: int, time: float) -> bool:
        """Whether the file of this moment, the latest one, is there."""
        return self.written[-1:] == [time]

    def require(self, written: Sequence[float]) -> None:
        """On one rank. Raises FathometerError where a file of one of the first moments is not there, or cut short."""
        super().require(written)
        if self._one and written and not self._found_layout().holds(self.path(0), len(written)):
            raise FathometerError(f"{self.path(0)}: has fewer zones than the run had written")

    def _check(self, paths: Sequence[Path]) -> None:
        if not self._one:  # whose head may be torn
            for path in paths:
                TecplotFile(path)

    def _found_layout(self) -> TecplotLayout:
        """That of the one file. A run may have been killed while it wrote the head: then the place of its values tells
        whether it is that of this input."""
        try:
            return replace(self._layout, head_bytes=TecplotFile(self.path(0)).head_bytes)
        except InputError:
            if self._layout.holds(self.path(0), 1):
                return self._layout
            raise

    def _tidy(self) -> None:
        atomic.remove_parts(self.folder, OWN)
        for path in list(self.folder.iterdir()):
            match = OWN.fullmatch(path.name)
            later = match is not None and not self._one and int(match[1]) >= len(self.written)
            if later or (not self.written and (match is not None or path.name == ONE)):
                remove_file(path)
        if self._one and self.written:  # zones after the state from which the run goes on
            self._layout = self._found_layout()
            with self.path(0).open("r+b") as file:
                file.write(b"".join(packed(self._layout.head(zones_at(self.written)))))
                file.truncate(self._layout.bytes(len(self.written)))

    def begin(self, written: Sequence[float] = ()) -> None:
        """Begin, or go on where the files of some moments are there. Raises InputError where the one file has no place
        for all that are to come."""
        super().begin(written)
        self._layout = self.comm.bcast(self._layout)
        if self._one:
            last = written[-1] if written else -1.0
            self._layout.head(zones_at([*(written or [0.0]), *(t for t in self._file.output_times if t > last)]))

    def write(self, time: float, model: FlowModel) -> None:
        """Collective. Write a time, s, of a flow."""
        with ledger.file(KIND, "write"):
            nodes = self._nodes(model)
            lo, shape = model.block.lo, model.block.local_shape
            inside: Any = tuple(slice(1, 1 + n) for n in shape)
            index = len(self.written)
            if self._one:
                self._add([*self.written, time], nodes, inside, lo, shape)
            else:
                with _NewFile(self.path(index), layout_of(self._file, 1), self._file, model) as new:
                    new.write(time, nodes, inside)
        self.written.append(time)

    def _add(self, times: Sequence[float], nodes: Any, inside: Any, lo: Any, shape: Any) -> None:
        """Add the last of some zones to the one file."""
        path, layout = self.path(0), self._layout
        with collective_errors(self.comm), atomic.writing(path):
            if self.comm.rank == 0:
                self._reserving = self._reserving or path.open("r+b" if len(times) > 1 else "wb")
                atomic.reserve(self._reserving.fileno(), layout.bytes(len(times)))
        if self._writer is None:
            self._writer = TecplotWriter(path, layout, way_of(self._file), self.comm, lo, shape)
        self._writer.write(zones_at(times), nodes, inside)

    def close(self) -> None:
        """Close the one file."""
        writer, reserving, self._writer, self._reserving = self._writer, self._reserving, None, None
        if reserving is not None:
            reserving.close()
        if writer is not None:
            writer.close()

    def _nodes(self, model: FlowModel) -> npt.NDArray[Any]:
        """All variables of this rank's cells, [z, y, x, variable] with a halo of one cell, as solvers have them."""
        variables, shape = self._file.variables, model.block.local_shape
        nodes = np.zeros([*(n + 2 for n in shape), len(variables)], self._file.output.tecplot.precision)
        inside = nodes[1:-1, 1:-1, 1:-1]
        velocities = dict(zip("uvw", model.centred(), strict=False))
        for index, name in enumerate(variables):
            if name in velocities:
                values: Any = velocities[name]
            elif name == "p":
                values = model.pressure()
            elif name == "temperature":
                values = model.arrays[-1]
            elif name == "vorticity":
                values = model.vorticity()
            else:
                values = self._places(model, PLACES.index(name))
            inside[..., index] = values
            if name in self.ranges:
                self.ranges[name].add(inside[..., index])
        return nodes

    def _places(self, model: FlowModel, axis: int) -> npt.NDArray[np.float64]:
        cells = np.arange(model.block.lo[2 - axis], model.block.hi[2 - axis])
        origin = (*(self._file.grid.origin or ()), 0.0, 0.0, 0.0)[axis]
        places = origin + (cells + 0.5) * self._file.grid.spacing[axis]
        return np.asarray(places, np.float64).reshape([-1 if number == 2 - axis else 1 for number in range(3)])


class _NewFile(SharedWriter[Any]):
    """A file of one zone, which appears whole or not at all."""

    def __init__(self, path: Path, layout: TecplotLayout, file: IncompressibleFile, model: FlowModel) -> None:
        way = way_of(file)
        super().__init__(path, model.comm, way.sync)
        part = self._create(lambda: [atomic.NewFile(path, size=layout.bytes(1))])
        self._writer = TecplotWriter(part, layout, way, model.comm, model.block.lo, model.block.local_shape)

    def write(self, time: float, nodes: npt.NDArray[Any], inside: Any) -> None:
        """Collective. Write the zone, at a time, s."""
        self._writer.write(zones_at([time]), nodes, inside)

    def close(self) -> None:
        """Close the file and rename it into place."""
        self._writer.close()
        self._end()
