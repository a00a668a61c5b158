"""Results of a reactive flow in space: HDF5 volumes of each field and time, and an XDMF file that describes them.

    out/fields/pH-0003.h5     a field at the third time, in the order z, y, x with x contiguous
    out/flow.xdmf             all of them, for ParaView, VisIt and their like

Volumes are written by the strategies of storage/volumes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.apps.reactive.chemistry.activity import LN10
from fathometer.apps.reactive.chemistry.constraint_checks import ACID
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.value_range import ValueRange
from fathometer.storage import atomic
from fathometer.storage.probe import HDF5, probe_together
from fathometer.storage.reading import decoding, reading
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.hdf5 import DATASET
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import write_volume

FOLDER, DESCRIPTION = "fields", "flow.xdmf"
LABELS = ("z", "y", "x")


@dataclass(frozen=True)
class Field:
    """A field that is written. kind: of [output] fields; name: of the field; number: of species or mineral; unit: of
    its values."""

    kind: str
    name: str
    number: int
    unit: str

    def file(self, index: int) -> str:
        """Path of the volume of a time, below the folder of the results."""
        return f"{FOLDER}/{self.stem}-{index:04d}.h5"

    @property
    def stem(self) -> str:
        """What its files' names begin with."""
        return re.sub(r"[^A-Za-z0-9()+-]", "_", self.name)


def fields_of(system: ChemicalSystem, kinds: Sequence[str]) -> list[Field]:
    """The fields of some kinds, in their order; without H+ there is no pH."""
    found: list[Field] = []
    for kind in kinds:
        match kind:
            case "totals":
                found += [Field(kind, f"total {name}", j, "mol/kg") for j, name in enumerate(system.primary)]
            case "molalities":
                names = (*system.primary, *system.secondary)
                found += [Field(kind, f"molality {name}", j, "mol/kg") for j, name in enumerate(names)]
            case "pH" if ACID in system.primary:
                found.append(Field(kind, "pH", system.primary.index(ACID), "1"))
            case "minerals":
                found += [Field(kind, f"volume {name}", k, "1") for k, name in enumerate(system.minerals)]
            case "saturation":
                found += [Field(kind, f"saturation {name}", k, "1") for k, name in enumerate(system.minerals)]
            case "strength":
                found.append(Field(kind, "ionic strength", 0, "mol/kg"))
    return found


@dataclass(frozen=True, eq=False)
class CellState:
    """What fields are made of, in some cells: (x, y, z, …).

    Attributes:
        ln_c, totals: (…, n), of the primary species. minerals: (…, k), mol per m³ of bulk.
        ln_activity: (…, n + m). strength: (…).
    """

    ln_c: Floats
    totals: Floats
    minerals: Floats
    ln_activity: Floats
    strength: Floats


def values_of(field: Field, system: ChemicalSystem, state: CellState) -> npt.NDArray[np.float32]:
    """A field's values in some cells, (x, y, z)."""
    n = len(system.primary)
    match field.kind:
        case "totals":
            values = state.totals[..., field.number]
        case "molalities":
            values = np.exp(_ln_molalities(system, state)[..., field.number])
        case "pH":
            values = -state.ln_activity[..., field.number] / LN10
        case "minerals":
            values = state.minerals[..., field.number] * system.molar_volume[field.number]
        case "saturation":
            product = state.ln_activity[..., :n] @ system.mineral_stoichiometry[field.number]
            values = product / LN10 - system.mineral_log_k[field.number]
        case _:
            values = state.strength
    return np.asarray(values, np.float32)


def _ln_molalities(system: ChemicalSystem, state: CellState) -> Floats:
    """ln c of all species: activity less its coefficient."""
    from fathometer.apps.reactive.chemistry.activity import ln_gamma

    shape = state.strength.shape
    gamma, _ = ln_gamma(system, np.sqrt(state.strength.reshape(-1)))
    return np.asarray(state.ln_activity - gamma.reshape(*shape, -1))


class FieldFiles:
    """The volumes of a run and their description; methods are collective.

    Args:
        lo: first cell of this rank's block.
    """

    def __init__(
        self, file: FlowFile, system: ChemicalSystem, lo: Sequence[int], comm: MPI.Intracomm, times: Sequence[float]
    ) -> None:
        self._file, self._system, self._lo, self._comm = file, system, tuple(lo), comm
        self.fields = fields_of(system, file.output.fields)
        self.times = list(times)  # of what is already there
        self.ranges = {field.name: ValueRange() for field in self.fields}  # of this rank's cells, of all times
        with collective_errors(comm):
            if comm.rank == 0:
                (file.output_directory / FOLDER).mkdir(exist_ok=True)
                if not times:
                    _remove_earlier(file.output_directory)
                self._remove_later()
                if times:
                    self._describe()

    def write(self, time: float, state: CellState) -> None:
        """Write all fields at a time, and the description with it."""
        grid, folder = self._file.grid, self._file.output_directory
        strategy = Strategy.of(self._file.storage.write)
        for field in self.fields:
            info = VolumeInfo(
                grid.cells[::-1],
                np.dtype(np.float32),
                grid.spacing[::-1],
                tuple(o + 0.5 * h for o, h in zip(grid.origin, grid.spacing, strict=True))[::-1],
                LABELS,
                field.unit,
            )
            block = np.ascontiguousarray(values_of(field, self._system, state).transpose(2, 1, 0))
            self.ranges[field.name].add(block)
            write_volume(folder / field.file(len(self.times)), info, block, self._lo[::-1], self._comm, strategy)
        self.times.append(time)
        with collective_errors(self._comm):
            if self._comm.rank == 0:
                self._describe()

    def _describe(self) -> None:
        """On one rank: write the description of what is there."""
        text = description(self._file, self.fields, self.times)
        atomic.write(self._file.output_directory / DESCRIPTION, text.encode())

    def _remove_later(self) -> None:
        """On one rank: remove volumes of later times than are there, which a run has written that did not come to its
        next state, and what runs that were killed have left unfinished."""
        folder = self._file.output_directory / FOLDER
        volume = re.compile(rf"(?:{'|'.join(re.escape(field.stem) for field in self.fields)})-(\d{{4,}})\.h5")
        atomic.remove_parts(folder, volume)
        for path in list(folder.iterdir()):
            if (name := volume.fullmatch(path.name)) and int(name[1]) >= len(self.times):
                remove_file(path)


def require(file: FlowFile, system: ChemicalSystem, times: Sequence[float]) -> None:
    """Raises FathometerError where a volume of the first times is not there, or none."""
    import h5py

    fields = fields_of(system, file.output.fields)
    paths = [file.output_directory / field.file(index) for index in range(len(times)) for field in fields]
    for path in paths:
        if not path.exists():
            raise FathometerError(f"{path}: is missing, which the run had written")
    probe_together(paths, HDF5, "HDF5")
    for path in paths:
        with reading(path), decoding(path, "is damaged"):
            h5py.File(path, "r").close()


def _remove_earlier(folder: Path) -> None:
    """Remove the description of an earlier run and the volumes that it names."""
    path = folder / DESCRIPTION
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for name in re.findall(rf">({FOLDER}/[^</]+-\d{{4}}\.h5):/{DATASET}<", text):
        remove_file(folder / name)
    remove_file(path)


def description(file: FlowFile, fields: Sequence[Field], times: Sequence[float]) -> str:
    """The XDMF text (version 3): a grid of equal cells at each time, values in the cells."""
    grid = file.grid

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
        for field in fields:
            lines += [
                f'        <Attribute Name={quoteattr(field.name)} AttributeType="Scalar" Center="Cell">',
                f'          <DataItem Dimensions="{cells}" NumberType="Float" Precision="4" Format="HDF">'
                f"{field.file(index)}:/{DATASET}</DataItem>",
                "        </Attribute>",
            ]
        lines.append("      </Grid>")
    return "\n".join([*lines, "    </Grid>", "  </Domain>", "</Xdmf>", ""])
