"""Results of a reactive flow in space: which fields, made of what (runs/field_series.py has their files).

out/fields/pH-0003.h5     a field at the third time
out/flow.xdmf             all of them, for ParaView, VisIt and their like
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.apps.reactive.chemistry.activity import LN10
from fathometer.apps.reactive.chemistry.constraint_checks import ACID
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.runs.field_series import VolumeGrid, VolumeSeries, volume_name
from fathometer.storage.volumes.strategy import Strategy

DESCRIPTION = "flow.xdmf"


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
        return volume_name(self.name, index)


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


class FlowFields(VolumeSeries):
    """The volumes of a run and their description.

    Args:
        lo: first cell of this rank's block.

    Attributes:
        fields: that are written.
    """

    def __init__(self, file: FlowFile, system: ChemicalSystem, lo: Sequence[int], comm: MPI.Intracomm) -> None:
        self.fields, self._system = fields_of(system, file.output.fields), system
        super().__init__(
            file.output_directory,
            DESCRIPTION,
            VolumeGrid(file.grid.cells, file.grid.spacing, file.grid.origin),
            {field.name: field.unit for field in self.fields},
            lo,
            comm,
            Strategy.of(file.storage.write),
        )

    def write_state(self, time: float, state: CellState) -> None:
        """Collective. Write all fields at a time, s, of the state of this rank's cells."""
        self.write(time, ((field.name, values_of(field, self._system, state)) for field in self.fields))
