"""The flow file: the TOML input of a reactive flow. Its tables are the only definition of the keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from annotated_types import Ge, Le, MinLen
from pydantic import model_validator

from fathometer.apps.reactive.chemistry.constraints import ConstraintTable
from fathometer.base.meant import did_you_mean
from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile, load_input
from fathometer.config.quantities import CellSize, Coordinate, Density, Diffusivity, Distance, SimulatedTime, Tolerance
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FileName, FolderName, Loose
from fathometer.runs.restart_hint import DIRECTORY
from fathometer.storage.sections import StrategyName

ALL = "all"  # the region of all cells
MOST_TIMES = 10_000  # of results, by an interval
FIELDS = ("totals", "molalities", "pH", "minerals", "saturation", "strength")

Name = Annotated[str, MinLen(1), Allowed("a name")]
Names = Annotated[tuple[Name, ...], Loose]
Interval = Annotated[tuple[Coordinate, Coordinate], Loose]
SideName = Literal["x-", "x+", "y-", "y+", "z-", "z+"]
Cells = Annotated[int, Ge(1), Le(1_000_000)]
Porosity = Annotated[float, Ge(1e-6), Le(1)]
Conductivity = Annotated[float, Ge(1e-30), Le(1e3)]  # m/s, hydraulic
VolumeFlux = Annotated[float, Ge(-100), Le(100)]  # m/s
Surface = Annotated[float, Ge(1e-12), Le(1e9)]  # m² a mole
Head = Annotated[float, Ge(-1e5), Le(1e5)]  # m


class GridTable(Table):
    """Cells of equal size."""

    cells: Annotated[tuple[Cells, Cells, Cells], Loose] = key("along x, y and z; 1 along axes that do not matter")
    spacing: Annotated[tuple[CellSize, CellSize, CellSize], Loose] = key("size of a cell along x, y and z", "m")
    origin: Annotated[tuple[Coordinate, Coordinate, Coordinate], Loose] = key(
        "the corner of the first cell, for regions and results", "m", (0.0, 0.0, 0.0)
    )


class ChemistryTable(Table):
    """Species and reactions."""

    file: FileName | None = key("the chemistry file; left out: the one that comes with the program", "", None)
    primary: Annotated[Names, MinLen(1), Allowed("a list of at least one name")] = key(
        "primary species, whose totals are transported; all others are formed of them"
    )
    secondary: Names | None = key("species that are formed; left out: all that can be", "", None)
    minerals: Names = key("that dissolve and precipitate", "", ())
    activity: Literal["davies", "debye-hueckel", "ideal"] = key("model of activity coefficients", "", "davies")
    specific_area: dict[str, Surface] = key("of each mineral's surface", "m²/mol", {})
    nucleation_area: dict[str, Annotated[float, Ge(0), Le(1e9)]] = key(
        "of each mineral, per m³ of bulk: where it begins to grow though there is none; left out: 0", "m²/m³", {}
    )


class MediumTable(Table):
    """The porous medium and the water in it."""

    porosity: Porosity = key("volume of water per volume of bulk; constant in time", "", 0.25)
    conductivity: Conductivity | None = key("hydraulic conductivity, for flow from heads", "m/s", None)
    diffusivity: Diffusivity = key("of all species, in the pores", "m²/s", 1e-9)
    dispersivity: Annotated[tuple[Distance, Distance], Loose] = key("along and across the flow", "m", (0.0, 0.0))
    density: Density = key("water in a volume of pores", "kg/m³", 1000.0)


class RegionTable(Table):
    """A box: the cells whose centres are in it."""

    name: Name = key("by which other tables name it")
    x: Interval | None = key("from, to; left out: everything", "m", None)
    y: Interval | None = key("from, to; left out: everything", "m", None)
    z: Interval | None = key("from, to; left out: everything", "m", None)
    porosity: Porosity | None = key("in place of that of [medium]; later regions replace earlier ones", "", None)
    conductivity: Conductivity | None = key("in place of that of [medium]", "m/s", None)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for name in ("x", "y", "z"):
            values = getattr(self, name)
            if values is not None and not values[0] < values[1]:
                raise ValueError(f"{name}: found {list(values)}; allowed: [from, to], the first one below the second")
        if self.name == ALL:
            raise ValueError(f'name: found "{ALL}", which is the region of all cells; allowed: another name')
        return self


class WaterTable(Table):
    """A water, from what is known of each primary species."""

    name: Name = key("by which other tables name it")
    species: dict[str, ConstraintTable] = key("of each primary species one of total, free, pH, charge, mineral, gas")


class InitialTable(Table):
    """What is in a region at the beginning; later entries replace earlier ones."""

    region: Name = key('a region, or "all"', "", ALL)
    water: Name = key("the water in its pores")
    minerals: dict[str, Annotated[float, Ge(0), Le(1)]] = key("volume of each mineral per volume of bulk", "", {})


class BoundaryTable(Table):
    """A side of the grid, or what of it is in a region. Sides without an entry are closed."""

    side: SideName = key("x-: where x is smallest, and so on")
    region: Name = key('the part of the side that is in a region, or "all"', "", ALL)
    kind: Literal["fixed", "open", "inflow", "closed"] = key(
        "fixed: the water outside is held, by advection and diffusion; open: what flows out leaves, no diffusion; "
        "inflow: water enters with what is in it, no diffusion; closed: nothing passes"
    )
    water: Name | None = key("the water outside; of an open side: of what may flow in", "", None)
    head: Head | None = key("hydraulic head, for flow from heads", "m", None)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind in ("fixed", "inflow") and self.water is None:
            raise ValueError(f'water: missing; needed: the water outside of a side of kind "{self.kind}"')
        if self.kind == "closed" and (self.water is not None or self.head is not None):
            raise ValueError('kind: found "closed" with water or head; allowed: neither of them')
        return self


class FlowTable(Table):
    """The flow of water, which is constant in time."""

    flux: Annotated[tuple[VolumeFlux, VolumeFlux, VolumeFlux], Loose] | None = key(
        "volume of water through an area, along x, y and z; left out: from heads where boundaries have some, else 0",
        "m/s",
        None,
    )


class TransportTable(Table):
    """How species move with the water."""

    scheme: Literal["upwind", "central", "limited"] = key(
        "value of advection between cells; upwind: order 1, central: order 2, for less than 2 of the grid's Péclet "
        "number; limited: order 2 without overshoots (van Leer)",
        "",
        "limited",
    )


class TimeTable(Table):
    """Time steps, implicit: each as long as Newton's method allows."""

    end: SimulatedTime = key("of the simulation", "s")
    step: SimulatedTime = key("the first one; with adaptive = false all of them", "s")
    adaptive: bool = key("longer and shorter steps, by Newton's iterations", "", True)
    largest_step: SimulatedTime | None = key("left out: the whole simulation", "s", None)
    smallest_step: SimulatedTime | None = key(
        "the run ends when this one fails; left out: 1e-6 of the first", "s", None
    )
    growth: Annotated[float, Ge(1), Le(10)] = key("of a step after one of few iterations", "", 1.5)
    target_iterations: Count = key("of Newton's method: with more the next step is shorter", "", 8)
    most_steps: Count | None = key("the run ends with results after so many; left out: at the end", "", None)


class NewtonTable(Table):
    """Newton's method in each time step."""

    tolerance: Tolerance = key(
        "of the residual, relative to each component's largest total, root mean square", "", 1e-12
    )
    most_iterations: Annotated[int, Ge(1), Le(1_000_000)] = key("a step that needs more is cut", "", 25)


class PetscTable(Table):
    """PETSc's own options."""

    options: str = key('as on its command line: "-ksp_type bcgs -pc_type asm"', "", "")


class StorageTable(Table):
    """How results move between ranks and files: of no consequence for what is in them."""

    write: StrategyName = key("auto: the usual way of the format", "", "auto")


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the flow file", "", DIRECTORY)
    times: Annotated[tuple[SimulatedTime, ...], Loose] | None = key("of results; left out: the end alone", "s", None)
    every: SimulatedTime | None = key("interval of results, in place of times", "s", None)
    fields: Annotated[
        tuple[Literal["totals", "molalities", "pH", "minerals", "saturation", "strength"], ...], Loose
    ] = key(
        "what is written; minerals: volume per volume of bulk; saturation: log10 Omega",
        "",
        ("totals", "pH", "minerals"),
    )
    restart_steps: Count = key(
        "steps between restart files, from which --resume goes on; one is also written every five minutes", "", 100
    )

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if self.times is not None and self.every is not None:
            raise ValueError("every: found together with times; allowed: one of them")
        if self.times is not None and list(self.times) != sorted(set(self.times)):
            raise ValueError(f"times: found {list(self.times)}; allowed: each once, in order")
        return self


class FlowFile(InputFile):
    """The input of a reactive flow."""

    grid: GridTable = key("the cells")
    chemistry: ChemistryTable = key("species and reactions")
    medium: MediumTable = section("the porous medium", MediumTable)
    region: Annotated[tuple[RegionTable, ...], Loose] = key("boxes with names", "", ())
    water: Annotated[tuple[WaterTable, ...], Loose, MinLen(1)] = key("waters with names")
    initial: Annotated[tuple[InitialTable, ...], Loose, MinLen(1)] = key("what is there at the beginning")
    boundary: Annotated[tuple[BoundaryTable, ...], Loose] = key("sides through which something passes", "", ())
    flow: FlowTable = section("the flow of water", FlowTable)
    transport: TransportTable = section("how species move with the water", TransportTable)
    time: TimeTable = key("time steps")
    newton: NewtonTable = section("Newton's method", NewtonTable)
    petsc: PetscTable = section("PETSc's own options", PetscTable)
    storage: StorageTable = section("how results are written", StorageTable)
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def output_times(self) -> list[float]:
        """Times of results, s, the end included."""
        end, keys = self.time.end, self.output
        times = list(keys.times or ())
        if keys.every is not None:
            times = [n * keys.every for n in range(1, math.ceil(end / keys.every * (1 - 1e-12)))]
        return [time for time in times if time < end] + [end]

    @property
    def chemistry_file(self) -> Path | None:
        """The user's chemistry file; None: the program's own."""
        return None if self.chemistry.file is None else self.directory / self.chemistry.file

    @property
    def by_heads(self) -> bool:
        """Whether the flow of water follows from heads."""
        return any(entry.head is not None for entry in self.boundary)

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        waters, regions = [water.name for water in self.water], [region.name for region in self.region]
        for kind, names in (
            ("water", waters),
            ("region", regions),
            ("chemistry] primary", list(self.chemistry.primary)),
        ):
            for name in names:
                if names.count(name) > 1:
                    where = f"[[{kind}]] name" if "]" not in kind else f"[{kind}"
                    raise ValueError(f'{where}: found "{name}" {names.count(name)} times; allowed: once')
        for table, entries in (("initial", self.initial), ("boundary", self.boundary)):
            for number, entry in enumerate(entries, 1):
                for kind, names in (("water", waters), ("region", [ALL, *regions])):
                    name = getattr(entry, kind)
                    if name is not None and name not in names:
                        allowed = f"{', '.join(names)}{did_you_mean(name, names)}"
                        raise ValueError(f'[[{table}]] {number} {kind}: found "{name}"; allowed: {allowed}')
        minerals = self.chemistry.minerals
        places = [("[chemistry] specific_area", self.chemistry.specific_area)]
        places += [("[chemistry] nucleation_area", self.chemistry.nucleation_area)]
        places += [(f"[[initial]] {number} minerals", entry.minerals) for number, entry in enumerate(self.initial, 1)]
        for where, values in places:
            for name in values:
                if name not in minerals:
                    allowed = ", ".join(minerals) or "none, as [chemistry] minerals names none"
                    raise ValueError(f'{where}: found "{name}"; allowed: {allowed}{did_you_mean(name, minerals)}')
        for name in minerals:
            if name not in self.chemistry.specific_area:
                raise ValueError(f'[chemistry] specific_area: found none of "{name}"; needed: m² of surface a mole')
        # Of each cell's own porosity: where the cells are known (case.py).
        porosity = min([self.medium.porosity, *(r.porosity for r in self.region if r.porosity is not None)])
        for number, entry in enumerate(self.initial, 1):
            if sum(entry.minerals.values()) > 1 - porosity * (1 - 1e-12):
                raise ValueError(
                    f"[[initial]] {number} minerals: found {sum(entry.minerals.values()):g} of the volume; allowed: up "
                    f"to {1 - porosity:g}, which the pores leave"
                )
        for time in self.output.times or ():
            if time > self.time.end:
                raise ValueError(
                    f"[output] times: found {time:g} s, after the end at {self.time.end:g} s; allowed: up to that"
                )
        every = self.output.every
        if every is not None and every * MOST_TIMES < self.time.end:
            raise ValueError(
                f"[output] every: found {every:g}; allowed: from {self.time.end / MOST_TIMES:g} s on, for results at "
                f"{MOST_TIMES} times at most"
            )
        if self.flow.flux is not None and self.by_heads:
            raise ValueError("[flow] flux: found together with heads in [[boundary]]; allowed: one of them")
        if self.by_heads and self.medium.conductivity is None:
            raise ValueError("[medium] conductivity: missing; needed for flow from heads (m/s)")
        if self.initial[0].region != ALL:
            raise ValueError(
                f'[[initial]] 1 region: found "{self.initial[0].region}"; needed: "{ALL}", as every cell '
                "has a water; later entries replace it in their regions"
            )
        return self


def load_flow(path: Path | str, settings: Sequence[str] = ()) -> FlowFile:
    """Read and check a flow file (TOML); see load_input."""
    return load_input(FlowFile, path, "the flow file", settings)
