"""A flow file made ready: the chemistry read, the waters found, the sides and regions as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.reactive.chemistry.assembly import Surface, system_of
from fathometer.apps.reactive.chemistry.constraints import Constraint, ConstraintTable, Pressure
from fathometer.apps.reactive.chemistry.data_file import GIVEN, Chemistry, read_chemistry
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.chemistry.speciation import water
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.apps.reactive.regions import Regions, filled
from fathometer.apps.reactive.solver import memory
from fathometer.apps.reactive.solver.flow import CLOSED, FIXED, INFLOW, OPEN, SIDES, Flow, Side
from fathometer.base.errors import InputError, naming
from fathometer.storage.reading import readable

KINDS: Mapping[str, int] = {"closed": CLOSED, "fixed": FIXED, "open": OPEN, "inflow": INFLOW}
ROUNDING = 1e-12  # of volumes


@dataclass(frozen=True, eq=False)
class FlowCase:
    """A reactive flow made ready; the same on all ranks.

    Attributes:
        waters: ln of the molalities of the primary species, by the names of the flow file.
    """

    file: FlowFile
    chemistry: Chemistry
    system: ChemicalSystem
    waters: Mapping[str, Floats]
    flow: Flow
    regions: Regions

    def initial(self, lo: Sequence[int], hi: Sequence[int]) -> tuple[Floats, Floats]:
        """What is in the cells lo to hi at the beginning: ln of molalities (x, y, z, n), minerals (x, y, z, k) in mol
        per m³ of bulk.

        Raises InputError where minerals take more than the pores leave.
        """
        shape = tuple(b - a for a, b in zip(lo, hi, strict=True))
        ln_c = np.empty((*shape, len(self.system.primary)))
        minerals = np.zeros((*shape, len(self.system.minerals)))
        for entry in self.file.initial:
            inside = self.regions.inside(entry.region, lo, hi)
            ln_c[inside] = self.waters[entry.water]
            volumes = np.array([entry.minerals.get(name, 0.0) for name in self.system.minerals])
            minerals[inside] = volumes / self.system.molar_volume
        space = 1 - self.flow.porosity(lo, hi)
        taken = minerals @ self.system.molar_volume
        full = np.argwhere(taken > space + ROUNDING)
        if full.size:
            place = tuple(full[0])
            cell = ", ".join(str(start + int(n)) for start, n in zip(lo, place, strict=True))
            raise InputError(
                f"{self.file.path}: [[initial]] minerals: found {taken[place]:g} of the volume of the cell {cell} "
                f"(x, y, z); allowed: up to {space[place]:g}, which its pores leave"
            )
        return ln_c, minerals

    def facts(self) -> dict[str, Any]:
        """Grid, chemistry and waters, as records have them."""
        system, grid = self.system, self.file.grid
        return {
            "grid": {"shape": grid.cells, "spacing_metres": grid.spacing, "origin_metres": grid.origin},
            "chemistry": {
                "file": str(self.chemistry.path),
                "title": self.chemistry.title,
                "primary": system.primary,
                "secondary": system.secondary,
                "minerals": system.minerals,
                "activity": system.activity,
            },
            "waters": {name: describe(system, ln_c) for name, ln_c in self.waters.items()},
        }

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on: all but times, where results go and how it is solved.

        The chemistry is that of the file's numbers, not of its name; fields are those that earlier times have.
        """
        values = self.file.resolved()
        kept = ("grid", "chemistry", "medium", "region", "water", "initial", "boundary", "flow", "transport")
        system = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self.system).items()
        }
        return (
            {name: values.get(name) for name in kept}
            | {"output": {"fields": list(self.file.output.fields)}}
            | {"constants": system}
        )


def case_of(file: FlowFile) -> FlowCase:
    """A flow file made ready.

    Raises InputError for what is wrong with the chemistry, its waters, regions or sides.
    """
    chemistry = read_chemistry(file.chemistry_file)
    constraints = {}
    for number, entry in enumerate(file.water, 1):
        with naming(f'{file.path}: [[water]] {number} "{entry.name}"'):
            constraints[entry.name] = _constraints(entry.species)
    gases = sorted({c.gas for of in constraints.values() for c in of.values() if isinstance(c, Pressure)})
    keys = file.chemistry
    surfaces = {name: Surface(keys.specific_area[name], keys.nucleation_area.get(name, 0.0)) for name in keys.minerals}
    with naming(f"{file.path}: [chemistry]"):
        system = system_of(chemistry, keys.primary, keys.minerals, gases, keys.activity, keys.secondary, surfaces)
    waters = {
        entry.name: water(system, constraints[entry.name], f'{file.path}: [[water]] {number} "{entry.name}"')
        for number, entry in enumerate(file.water, 1)
    }
    regions = Regions(file)
    return FlowCase(file, chemistry, system, waters, _flow(file, system, waters, regions), regions)


def case_bytes(file: FlowFile) -> int:
    """Memory that `case_of` takes."""
    return memory.case_bytes(file.grid.cells)


def input_files(file: FlowFile) -> list[Path]:
    """The flow file and its chemistry file. Raises InputError where one of them cannot be opened."""
    return [readable(path) for path in (file.path, file.chemistry_file or GIVEN)]


def _constraints(tables: Mapping[str, ConstraintTable]) -> dict[str, Constraint]:
    found = {}
    for species, table in tables.items():
        with naming(species):
            found[species] = table.constraint()
    return found


def _flow(file: FlowFile, system: ChemicalSystem, waters: Mapping[str, Floats], regions: Regions) -> Flow:
    medium = file.medium
    porosities = [(region.name, region.porosity) for region in file.region]
    conductivities = [(region.name, region.conductivity) for region in file.region]

    def porosity(lo: Sequence[int], hi: Sequence[int]) -> Floats:
        return filled(regions, lo, hi, medium.porosity, porosities)

    def conductivity(lo: Sequence[int], hi: Sequence[int]) -> Floats:
        assert medium.conductivity is not None
        return filled(regions, lo, hi, medium.conductivity, conductivities)

    flux = None if file.by_heads else file.flow.flux or (0.0, 0.0, 0.0)
    sides = _sides(file, list(waters), regions)
    if flux is not None:
        _check_flux(file, flux, sides)
    return Flow(
        shape=file.grid.cells,
        spacing=file.grid.spacing,
        system=system,
        density=medium.density,
        porosity=porosity,
        conductivity=conductivity if flux is None else None,
        flux=flux,
        diffusivity=medium.diffusivity,
        dispersivity=medium.dispersivity,
        sides=sides,
        waters=np.array(list(waters.values())),
        scheme=file.transport.scheme,
    )


def _sides(file: FlowFile, names: list[str], regions: Regions) -> dict[str, Side]:
    sides = {}
    for number, name in enumerate(SIDES):
        shape = [cells for axis, cells in enumerate(file.grid.cells) if axis != number // 2]
        head = np.full(shape, np.nan) if file.by_heads else None
        sides[name] = Side(np.full(shape, CLOSED, np.uint8), np.full(shape, -1, np.int64), head)
    for number, entry in enumerate(file.boundary, 1):
        faces = regions.on_side(entry.region, SIDES.index(entry.side) // 2, entry.side[1] == "+")
        if faces is None:
            raise InputError(
                f'{file.path}: [[boundary]] {number}: found the region "{entry.region}", which has no cell at the side '
                f"{entry.side}; allowed: regions that reach it"
            )
        side = sides[entry.side]
        side.kind[faces] = KINDS[entry.kind]
        side.water[faces] = -1 if entry.water is None else names.index(entry.water)
        if side.head is not None:
            side.head[faces] = np.nan if entry.head is None else entry.head
    return sides


def _check_flux(file: FlowFile, flux: Sequence[float], sides: Mapping[str, Side]) -> None:
    """What flows through the sides can: InputError otherwise."""
    for number, (name, side) in enumerate(sides.items()):
        inward = flux[number // 2] * (-1 if name[1] == "+" else 1)
        where = f"{file.path}: [flow] flux: found {flux[number // 2]:g} m/s along {name[0]}, which"
        if inward and (side.kind == CLOSED).any():
            raise InputError(
                f"{where} passes the side {name}, where it is closed; allowed: a [[boundary]] for all of it"
            )
        if inward > 0 and ((side.kind == OPEN) & (side.water < 0)).any():
            raise InputError(f"{where} enters through the side {name}; needed: the water of its [[boundary]]")
        if inward < 0 and (side.kind == INFLOW).any():
            raise InputError(f'{where} leaves through the side {name}, of the kind "inflow"; allowed: "open", "fixed"')
