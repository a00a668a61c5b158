"""The ocean file: the TOML input of an ocean. Its tables are the only definition of the keys; grid and depths are in
grid_keys.py, tables within sections in keys.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import model_validator

from fathometer.apps.ocean.grid_keys import BathymetryTable, GridTable
from fathometer.apps.ocean.keys import (
    SALINITIES,
    TEMPERATURES,
    HeatFlux,
    Height,
    HeightTable,
    NoiseTable,
    NoWind,
    ProfileTable,
    RestoringTable,
    Salinity,
    SurfaceTable,
    Temperature,
    WindTable,
    ZonalWind,
    require_within,
)
from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile, load_input
from fathometer.config.quantities import Coordinate, Diffusivity, SimulatedTime
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FolderName, Loose
from fathometer.runs.restart_hint import DIRECTORY
from fathometer.storage.sections import StrategyName

FIELDS = ("temperature", "salinity", "velocity", "vertical_velocity", "height", "streamfunction")
MOST_TIMES = 10_000  # of results
MOST_STEPS = 10**12

Rotation = Annotated[float, Ge(-100), Le(100)]  # 1/s, or 1/(m s); tanks turn fast
Drag = Annotated[float, Ge(1e-12), Le(100)]
WaterDensity = Annotated[float, Ge(100), Le(25_000)]  # of any liquid, and not in g/cm³
LINEAR = ("expansion", "contraction", "reference_temperature", "reference_salinity")


class RotationTable(Table):
    """The rotation of the earth; on a plane f + beta (y - y0), on a sphere 2 rate sin(latitude)."""

    f: Rotation | None = key("Coriolis parameter at y0, on a plane; left out: 0", "1/s", None)
    beta: Rotation | None = key("its derivative by y, on a plane; left out: 0", "1/(m s)", None)
    y0: Coordinate | None = key("where f is as given, on a plane; left out: in the middle of the grid", "m", None)
    rate: Rotation | None = key("angular velocity, on a sphere; left out: 7.292115e-5", "1/s", None)


class WaterTable(Table):
    """Density of the water."""

    equation_of_state: Literal["linear", "wright"] = key(
        "linear: density (1 - expansion (T - reference_temperature) + contraction (S - reference_salinity)); wright: "
        "of temperature, salinity and pressure, Wright (1997)",
        "",
        "linear",
    )
    density: WaterDensity = key("of reference", "kg/m³", 1026.0)
    gravity: Annotated[float, Ge(1e-4), Le(1e4)] = key("acceleration", "m/s²", 9.81)
    expansion: Annotated[float, Ge(-1), Le(1)] = key("by temperature, linear", "1/K", 2e-4)
    contraction: Annotated[float, Ge(-1), Le(1)] = key("by salinity, linear", "", 8e-4)
    reference_temperature: Temperature = key("at which density is that of reference, linear", "°C", 10.0)
    reference_salinity: Salinity = key("at which density is that of reference, linear", "", 35.0)

    @model_validator(mode="after")
    def _of_one_equation(self) -> Self:
        if self.equation_of_state != "linear" and (found := [name for name in LINEAR if name in self.model_fields_set]):
            raise ValueError(
                f'{found[0]}: found with equation_of_state = "{self.equation_of_state}"; allowed: with "linear"'
            )
        return self


class MixingTable(Table):
    """Friction and diffusion."""

    viscosity: Diffusivity = key("along levels", "m²/s", 0.0)
    diffusivity: Diffusivity = key("along levels", "m²/s", 0.0)
    vertical_viscosity: Diffusivity = key("implicit in time", "m²/s", 1e-3)
    vertical_diffusivity: Diffusivity = key("implicit in time", "m²/s", 1e-5)
    convective_diffusivity: Diffusivity = key("vertical, where the water above is heavier", "m²/s", 0.1)
    bottom_drag: Literal["none", "linear", "quadratic"] = key(
        "stress at the bottom over density: none; drag_coefficient times velocity; that times speed", "", "none"
    )
    drag_coefficient: Drag | None = key("linear in m/s, quadratic a number such as 1e-3", "m/s or 1", None)
    advect_momentum: bool = key("false: linear momentum equations", "", True)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.bottom_drag != "none" and self.drag_coefficient is None:
            unit = "m/s" if self.bottom_drag == "linear" else "a number without unit"
            raise ValueError(f'drag_coefficient: missing; needed with bottom_drag = "{self.bottom_drag}" ({unit})')
        if self.bottom_drag == "none" and self.drag_coefficient is not None:
            raise ValueError('drag_coefficient: found with bottom_drag = "none"; allowed: with "linear" or "quadratic"')
        return self


class InitialTable(Table):
    """The water at the beginning, at rest."""

    temperature: Temperature | ProfileTable = key("everywhere, by depth and latitude, or a file", "°C", 10.0)
    salinity: Salinity | ProfileTable = key("everywhere, by depth and latitude, or a file", "", 35.0)
    surface_height: Height | HeightTable = key("of the surface", "m", 0.0)
    noise: NoiseTable | None = key("random differences of temperature; left out: none", "", None)

    @model_validator(mode="after")
    def _physical(self) -> Self:
        require_within("temperature", self.temperature, *TEMPERATURES, " °C")
        require_within("salinity", self.salinity, *SALINITIES)
        return self


class ForcingTable(Table):
    """What acts at the surface."""

    wind: WindTable = section("stress of the wind; left out: none", lambda: NoWind(kind="none"))  # type: ignore[arg-type]
    temperature: RestoringTable | None = key("restoring of temperature; left out: none", "", None)
    salinity: RestoringTable | None = key("restoring of salinity; left out: none", "", None)
    heat_flux: HeatFlux | SurfaceTable | None = key("into the water, everywhere, by latitude or a file", "W/m²", None)
    specific_heat: Annotated[float, Ge(100), Le(1e5)] = key("of the water, for heat_flux", "J/(kg K)", 3992.0)

    @model_validator(mode="after")
    def _physical(self) -> Self:
        require_within("temperature", self.temperature, *TEMPERATURES, " °C")
        require_within("salinity", self.salinity, *SALINITIES)
        return self


class BarotropicTable(Table):
    """The surface, implicit in time, by conjugate gradients."""

    solver: Literal["pcg", "chronopoulos-gear", "pipelined"] = key(
        "conjugate gradients with two sums over all ranks an iteration; with one; with one that is hidden behind the "
        "next product",
        "",
        "chronopoulos-gear",
    )
    preconditioner: Literal["diagonal", "block"] = key("block: the matrix of each tile, solved exactly", "", "block")
    tile: Annotated[int, Ge(1), Le(64)] = key("cells of a tile along x and y; blocks begin at multiples", "cells", 8)
    tolerance: Annotated[float, Gt(0), Lt(1), Allowed("a number above 0 and below 1")] = key(
        "of the residual, relative to that of the right-hand side", "", 1e-13
    )
    most_iterations: Count = key("a solve that needs more ends the run", "", 1000)
    iterations: Count | None = key("exactly so many, whatever the residual; left out: until the tolerance", "", None)
    check_every: Count = key("iterations between looks at the residual", "", 10)
    sums: Literal["mpi", "exact"] = key(
        "exact: rounded once, so that results are the same bits on any number of ranks", "", "mpi"
    )
    implicitness: Annotated[float, Ge(0.5), Le(1)] = key("of the surface; 0.5: second order, no damping", "", 0.6)
    replace_every: Count = key("iterations after which the pipelined solver computes its residual anew", "", 50)

    def solver_keys(self) -> dict[str, Any]:
        """What the solver is told."""
        return self.model_dump(exclude={"implicitness"})


class DecompositionTable(Table):
    """How the grid is cut over the ranks. Blocks all of land are left out."""

    ranks: Annotated[tuple[Count, Count], Loose] | None = key(
        "ranks along x and y, a block for each; left out: as blocks fit", "", None
    )
    block: Annotated[tuple[Count, Count], Loose] | None = key(
        "cells of a block along x and y, rounded to whole tiles; left out: chosen", "cells", None
    )
    order: Literal["curve", "grid"] = key(
        "in which blocks go to ranks; curve: along a space-filling curve, so that a rank's are neighbours", "", "curve"
    )


class TimeTable(Table):
    """Time steps of equal length."""

    step: SimulatedTime = key("length of a step", "s")
    end: SimulatedTime | None = key("of the simulation, rounded up to whole steps", "s", None)
    steps: Count | None = key("in place of end", "", None)

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.end is None) == (self.steps is None):
            found = "neither of them" if self.end is None else "both of them"
            raise ValueError(f"end, steps: found {found}; needed: one of them")
        if (self.end or 0.0) > MOST_STEPS * self.step or (self.steps or 0) > MOST_STEPS:
            raise ValueError(f"{'steps' if self.steps else 'end'}: found more than {MOST_STEPS} steps; allowed: fewer")
        return self

    @property
    def count(self) -> int:
        """Steps of the simulation."""
        if self.steps is not None:
            return self.steps
        assert self.end is not None
        return max(1, math.ceil(self.end / self.step * (1 - 1e-12)))


class StorageTable(Table):
    """How results move between ranks and files: of no consequence for what is in them."""

    write: StrategyName = key("auto: the usual way of the format", "", "auto")


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the ocean file", "", DIRECTORY)
    every: SimulatedTime | None = key(
        "interval of fields, rounded to whole steps; left out: at the beginning and the end", "s", None
    )
    every_steps: Count | None = key("the same in steps, in place of every", "", None)
    fields: Annotated[
        tuple[Literal["temperature", "salinity", "velocity", "vertical_velocity", "height", "streamfunction"], ...],
        Loose,
        MinLen(1),
        Allowed("a list of " + ", ".join(f'"{name}"' for name in FIELDS)),
    ] = key("what is written", "", ("temperature", "salinity", "velocity", "height"))
    course_steps: Count = key("steps between rows of the time series", "", 10)
    restart_steps: Count = key(
        "steps between restart files, from which --resume goes on; one is also written every five minutes", "", 1000
    )

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if self.every is not None and self.every_steps is not None:
            raise ValueError("every_steps: found together with every; allowed: one of them")
        twice = next((name for name in self.fields if self.fields.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f'fields: found "{twice}" more than once; allowed: each field once')
        return self


class OceanFile(InputFile):
    """The input of an ocean."""

    grid: GridTable = key("the cells")
    bathymetry: BathymetryTable = key("the depth of the water, and where there is none")
    rotation: RotationTable = section("the rotation of the earth", RotationTable)
    water: WaterTable = section("density of the water", WaterTable)
    mixing: MixingTable = section("friction and diffusion", MixingTable)
    initial: InitialTable = section("the water at the beginning", InitialTable)
    forcing: ForcingTable = section("what acts at the surface", ForcingTable)
    barotropic: BarotropicTable = section("the solver for the surface", BarotropicTable)
    decomposition: DecompositionTable = section("how the grid is cut over the ranks", DecompositionTable)
    time: TimeTable = key("time steps")
    storage: StorageTable = section("how results are written", StorageTable)
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def field_steps(self) -> int:
        """Steps between fields."""
        if self.output.every_steps is not None:
            return self.output.every_steps
        if self.output.every is not None:
            return max(1, round(min(self.output.every / self.time.step, MOST_STEPS)))
        return self.time.count

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        sphere = self.grid.kind == "sphere"
        for name in ("f", "beta", "y0") if sphere else ("rate",):
            if getattr(self.rotation, name) is not None:
                allowed = "rate" if sphere else "f, beta, y0"
                raise ValueError(f"[rotation] {name}: found on a {self.grid.kind}; allowed: {allowed}")
        if not sphere:
            for where, table in self._zonal_tables():
                if not getattr(table, "file", None) and not table.is_linear:
                    raise ValueError(f"{where}: found equator and pole on a plane; allowed: south and north")
            if isinstance(self.forcing.wind, ZonalWind):
                raise ValueError('[forcing] wind.kind: found "zonal" on a plane; allowed: on a sphere')
        if self.time.count > MOST_TIMES * self.field_steps:
            name = "every" if self.output.every is not None else "every_steps"
            least = math.ceil(self.time.count / MOST_TIMES) * (self.time.step if name == "every" else 1)
            raise ValueError(
                f"[output] {name}: found {getattr(self.output, name):g}; allowed: from {least:g} on, for fields at "
                f"{MOST_TIMES} times at most"
            )
        return self

    def _zonal_tables(self) -> list[tuple[str, Any]]:
        """Tables of values by latitude, with their places."""
        found: list[tuple[str, Any]] = [("[forcing] heat_flux", self.forcing.heat_flux)]
        for name in ("temperature", "salinity"):
            found.append((f"[initial] {name}.surface", getattr(getattr(self.initial, name), "surface", None)))
            found.append((f"[forcing] {name}.target", getattr(getattr(self.forcing, name), "target", None)))
        return [(where, table) for where, table in found if isinstance(table, Table)]


def load_ocean(path: Path | str, settings: Sequence[str] = ()) -> OceanFile:
    """Read and check an ocean file (TOML); see load_input."""
    return load_input(OceanFile, path, "the ocean file", settings)
