"""The input file of an incompressible flow (TOML). Its tables are the only definition of the keys."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import model_validator

from fathometer.apps.flow.solver.model import LARGEST_COURANT
from fathometer.apps.flow.solver.sides import SIDES
from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import did_you_mean
from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile
from fathometer.config.quantities import Coordinate, Diffusivity, SimulatedTime
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FileName, FolderName, Loose
from fathometer.runs.restart_hint import DIRECTORY
from fathometer.storage.tecplot.layout import check_name
from fathometer.storage.tecplot.ways import Calls, Data, Header, Keeping

LEAST_CELLS, MOST_CELLS = 4, 1_000_000_000  # along an axis; in all
MOST_TIMES = 10_000  # of results, by an interval
FLOAT32_STEP = 2.0**-24  # between neighbours, over their size
LONGEST_KEY, LONGEST_VALUE = 35, 255  # characters of a hint, in Open MPI

LARGEST_SPEED = 1e8  # m/s
Speed = Annotated[float, Ge(-LARGEST_SPEED), Le(LARGEST_SPEED)]  # m/s
Kelvin = Annotated[float, Ge(-1e8), Le(1e8)]
Cells = Annotated[int, Ge(LEAST_CELLS), Le(1_000_000)]
Length = Annotated[float, Ge(1e-9), Le(1e9)]  # m
Vector = Annotated[tuple[Speed, ...], Loose, MinLen(2), MaxLen(3), Allowed("two or three numbers")]
Variable = Literal["x", "y", "z", "u", "v", "w", "p", "temperature", "vorticity"]


class GridTable(Table):
    """Cells of equal size in a box."""

    cells: Annotated[
        tuple[Cells, ...], Loose, MinLen(2), MaxLen(3), Allowed(f"two or three integers from {LEAST_CELLS} on")
    ] = key("along x and y, or x, y and z")
    size: Annotated[tuple[Length, ...], Loose, MinLen(2), MaxLen(3), Allowed("two or three lengths")] = key(
        "of the box, along the same axes", "m"
    )
    origin: Annotated[tuple[Coordinate, ...], Loose, MinLen(2), MaxLen(3)] | None = key(
        "the corner of the first cell, for results; left out: 0", "m", None
    )

    @property
    def dims(self) -> int:
        """2 or 3."""
        return len(self.cells)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Size of a cell along each axis, m."""
        return tuple(length / n for length, n in zip(self.size, self.cells, strict=True))

    @model_validator(mode="after")
    def _agree(self) -> Self:
        for name in ("size", "origin"):
            value = getattr(self, name)
            if value is not None and len(value) != self.dims:
                raise ValueError(f"{name}: found {len(value)} numbers; needed: {self.dims}, as cells has")
        if math.prod(self.cells) > MOST_CELLS:
            raise ValueError(f"cells: found {math.prod(self.cells)} in all; allowed: up to {MOST_CELLS}")
        return self


class FluidTable(Table):
    """The fluid."""

    viscosity: Diffusivity = key("kinematic", "m²/s")
    acceleration: Vector | None = key(
        "of all fluid, such as of a mean gradient of the pressure; left out: 0", "m/s²", None
    )


class TemperatureTable(Table):
    """A temperature, which the flow carries and which makes fluid rise (Boussinesq)."""

    diffusivity: Diffusivity = key("of the temperature", "m²/s")
    expansion: Annotated[float, Ge(-1), Le(1)] = key("of volume, by a kelvin", "1/K", 0.0)
    gravity: Vector | None = key("left out: 0", "m/s²", None)
    reference: Kelvin = key("at which nothing rises", "K", 0.0)
    initial: Kelvin = key("everywhere at the beginning", "K", 0.0)


class SideTable(Table):
    """A side of the box. Sides without an entry are periodic: each is joined to the one opposite."""

    side: Literal["x-", "x+", "y-", "y+", "z-", "z+"] = key("x-: where x is smallest, and so on")
    kind: Literal["wall", "slip", "inflow", "outflow"] = key(
        "wall: no slip; slip: nothing passes, free slip; inflow: fluid enters with a velocity; outflow: what comes "
        "leaves, at pressure 0"
    )
    velocity: Vector | None = key("of a wall, within its plane, or of an inflow; left out: 0", "m/s", None)
    profile: Literal["uniform", "parabolic"] = key(
        "of an inflow: parabolic: 0 at walls, with the mean `velocity`", "", "uniform"
    )
    profile_file: FileName | None = key(
        "NPY of velocities into the box, a value for each cell of the side (z, y), in place of profile", "", None
    )
    temperature: Kelvin | None = key("of the side; left out: insulated, of an inflow that of the beginning", "K", None)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        moving = self.velocity is not None and any(self.velocity)
        if self.kind in ("slip", "outflow") and self.velocity is not None:
            raise ValueError(f'velocity: found with kind = "{self.kind}"; allowed: of walls and inflows')
        axis = "xyz".index(self.side[0])
        if self.profile_file is not None and self.profile != "uniform":
            raise ValueError("profile: found beside profile_file; allowed: one of them")
        if self.profile_file is not None and self.velocity is not None and self.velocity[0]:
            raise ValueError(
                f"velocity: found {self.velocity[0]:g} m/s along x beside profile_file, which has it; allowed: 0"
            )
        if self.kind == "inflow" and self.profile_file is None and not moving:
            raise ValueError("velocity: missing; needed: that with which fluid enters")
        through = (*(self.velocity or ()), 0.0, 0.0, 0.0)[axis]
        if self.kind == "wall" and through:
            raise ValueError(f"velocity: found {through:g} m/s through the wall; allowed: 0 along {self.side[0]}")
        if self.kind != "inflow" and (self.profile != "uniform" or self.profile_file is not None):
            raise ValueError('profile: found; allowed: with kind = "inflow"')
        return self


class InitialTable(Table):
    """The velocity at the beginning; what divergence it has is taken away."""

    kind: Literal["rest", "uniform", "taylor-green", "beltrami"] = key(
        "taylor-green: sin(x) cos(y) cos(z), -cos(x) sin(y) cos(z), 0; beltrami: sin(z) + cos(y), sin(x) + cos(z), "
        "sin(y) + cos(x); over the box scaled to 2 π along each axis",
        "",
        "rest",
    )
    speed: Speed = key("amplitude of the last two", "m/s", 1.0)
    velocity: Vector | None = key('of kind "uniform"', "m/s", None)
    noise: Annotated[float, Ge(0), Le(1e8)] = key(
        "largest random velocity that is added; the same on any ranks", "m/s", 0.0
    )
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = key("of the noise", "", 1)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind == "uniform") != (self.velocity is not None):
            raise ValueError('velocity: allowed and needed with kind = "uniform"')
        return self


class TimeTable(Table):
    """Time steps, explicit."""

    end: SimulatedTime = key("of the simulation", "s")
    courant: Annotated[float, Gt(0), Le(LARGEST_COURANT)] = key(
        f"sum over axes of speed times step over spacing, at most; stable up to {LARGEST_COURANT:.3f}", "", 1.0
    )
    diffusion: Annotated[float, Gt(0), Le(1)] = key("step over the longest that is stable for diffusion", "", 0.9)
    step: SimulatedTime | None = key(
        "of all steps, but for the last one before a result; left out: as courant and diffusion allow", "s", None
    )
    most_steps: Count | None = key("the run ends with results after so many; left out: at the end", "", None)


class TecplotTable(Table):
    """How Tecplot files are written; all ways give the same bytes."""

    series: Literal["files", "file"] = key("files: one for each time; file: one with a zone for each time", "", "files")
    precision: Literal["float32", "float64"] = key("of values", "", "float32")
    title: str = key("in the file", "", "incompressible flow")
    names: dict[str, str] = key("of variables in the file, by their names here", "", {})
    header: Header = key("types: one structure datatype; elements: a call for each value", "", "types")
    file: Keeping = key("kept: opened once; step: for each time; call: for each call", "", "kept")
    data: Data = key(
        "packed: copied into a buffer first; views: datatypes of memory and of the file; memory: a datatype of memory "
        "alone; offsets: a call for each row",
        "",
        "packed",
    )
    calls: Calls = key("collective: all ranks together; independent: each for itself", "", "collective")
    hints: dict[str, str] = key("of MPI-IO, such as striping_factor, cb_nodes", "", {})
    sync: bool = key("files are on the device before they get their names", "", True)


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the input file", "", DIRECTORY)
    every: SimulatedTime | None = key("interval of results; left out: the end alone", "s", None)
    variables: Annotated[tuple[Variable, ...], Loose, MinLen(1)] | None = key(
        "of results; left out: all that there are; p: over density", "", None
    )
    course_steps: Count = key("steps between rows of the time series", "", 10)
    restart_steps: Count = key(
        "steps between restart files, from which --resume goes on; one is also written every five minutes", "", 1000
    )
    tecplot: TecplotTable = section("how Tecplot files are written", TecplotTable)


class IncompressibleFile(InputFile):
    """The input of an incompressible flow."""

    grid: GridTable = key("the cells")
    fluid: FluidTable = key("the fluid")
    temperature: TemperatureTable | None = key("a temperature; left out: there is none", "", None)
    side: Annotated[tuple[SideTable, ...], Loose] = key("sides that are not periodic", "", ())
    initial: InitialTable = section("the beginning", InitialTable)
    time: TimeTable = key("time steps")
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def output_times(self) -> list[float]:
        """Times of results after the beginning, s, the end included."""
        end, every = self.time.end, self.output.every
        count = math.ceil(end / every * (1 - 1e-12)) if every is not None else 1
        return [n * (every or end) for n in range(1, count)] + [end]

    @property
    def variables(self) -> tuple[str, ...]:
        """Of the results."""
        return self.output.variables or self._there

    @property
    def _there(self) -> tuple[str, ...]:
        axes, velocities = "xyz"[: self.grid.dims], "uvw"[: self.grid.dims]
        heat = ("temperature",) if self.temperature is not None else ()
        return (*axes, *velocities, "p", *heat, "vorticity")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        self._check_vectors()
        self._check_sides()
        self._check_output()
        return self

    def _check_places(self) -> None:
        """Cells in the file must be told from each other by their places."""
        if self.output.tecplot.precision != "float32":
            return
        origin = self.grid.origin or (0.0,) * self.grid.dims
        for axis, h, n, o in zip("xyz", self.grid.spacing, self.grid.cells, origin, strict=False):
            far = max(abs(o), abs(o + n * h))
            if axis in self.variables and far * FLOAT32_STEP > 0.1 * h:
                raise ValueError(
                    f'[output.tecplot] precision: found "float32", in which cells {h:g} m apart at {axis} = {far:g} m '
                    'are not told apart; needed: "float64", an [grid] origin nearer 0, or [output] variables without '
                    "them"
                )

    def _check_vectors(self) -> None:
        vectors = {"[fluid] acceleration": self.fluid.acceleration, "[initial] velocity": self.initial.velocity}
        if self.temperature is not None:
            vectors["[temperature] gravity"] = self.temperature.gravity
        vectors |= {f"[[side]] {number} velocity": side.velocity for number, side in enumerate(self.side, 1)}
        for name, vector in vectors.items():
            if vector is not None and len(vector) != self.grid.dims:
                raise ValueError(f"{name}: found {len(vector)} numbers; needed: {self.grid.dims}, as [grid] cells has")

    def _check_sides(self) -> None:
        kinds: dict[str, str] = {}
        for number, side in enumerate(self.side, 1):
            if side.side not in SIDES[: 2 * self.grid.dims]:
                raise ValueError(f'[[side]] {number} side: found "{side.side}"; allowed: sides across axes of [grid]')
            if side.side in kinds:
                raise ValueError(f'[[side]] {number} side: found "{side.side}" twice; allowed: once')
            kinds[side.side] = side.kind
            if side.temperature is not None and self.temperature is None:
                raise ValueError(f"[[side]] {number} temperature: found; needed: [temperature]")
            if side.temperature is not None and side.kind == "outflow":
                raise ValueError(f'[[side]] {number} temperature: found with kind = "outflow"; allowed: of the others')
        for axis in "xyz"[: self.grid.dims]:
            low, high = kinds.get(f"{axis}-"), kinds.get(f"{axis}+")
            if (low is None) != (high is None):
                there = f"{axis}{'-' if high is None else '+'}"
                raise ValueError(f'[[side]]: found one of "{there}" alone; allowed: both sides across {axis}, or none')
            if "outflow" in (low, high) or "inflow" in (low, high):
                if {low, high} != {"inflow", "outflow"}:
                    raise ValueError(
                        f'[[side]]: found "{low}" at {axis}- and "{high}" at {axis}+, which leave no solution; '
                        "allowed: an inflow opposite an outflow"
                    )
                if axis != "x":
                    raise ValueError(f"[[side]]: found an inflow along {axis}; allowed: along x")

        walls = {axis: [kinds.get(f"{axis}{end}") == "wall" for end in "-+"] for axis in "yz"}
        for number, side in enumerate(self.side, 1):
            if side.profile == "parabolic" and not any(map(any, walls.values())):
                raise ValueError(
                    f'[[side]] {number} profile: found "parabolic" without walls beside it; needed: one across y or z'
                )

    def _check_output(self) -> None:
        there = self._there
        for name in self.output.variables or ():
            if name not in there:
                raise ValueError(
                    f'[output] variables: found "{name}"; allowed: {", ".join(there)}{did_you_mean(name, there)}'
                )
        if not set(self.variables) - set("xyz"):
            raise ValueError(
                f"[output] variables: found {', '.join(self.variables)} alone; needed: one of the flow, such as u"
            )
        if len(set(self.variables)) != len(self.variables):
            raise ValueError(f"[output] variables: found {list(self.variables)}; allowed: each once")
        self._check_places()
        for hint, value in self.output.tecplot.hints.items():
            for text, most in ((hint, LONGEST_KEY), (value, LONGEST_VALUE)):
                if not text.isprintable() or not text.isascii() or not 0 < len(text) <= most:
                    raise ValueError(
                        f"[output.tecplot] hints: found {hint!r} = {shortened(repr(value), 40)}; allowed: printable "
                        f"ASCII, keys of up to {LONGEST_KEY} and values of up to {LONGEST_VALUE} characters"
                    )
        names = self.output.tecplot.names
        for given in names:
            if given not in there:
                raise ValueError(
                    f'[output.tecplot] names: found "{given}"; allowed: {", ".join(there)}{did_you_mean(given, there)}'
                )
        every = self.output.every
        if every is not None and every * MOST_TIMES < self.time.end:
            raise ValueError(
                f"[output] every: found {every:g}; allowed: from {self.time.end / MOST_TIMES:g} s on, for results at "
                f"{MOST_TIMES} times at most"
            )
        in_file = [names.get(name, name) for name in self.variables]
        for text in (self.output.tecplot.title, *in_file):
            try:
                check_name(text)
            except InputError as error:
                raise ValueError(f"[output.tecplot]: {error}") from None
        if len(set(in_file)) != len(in_file):
            raise ValueError(f"[output.tecplot] names: found {in_file}; allowed: each once")
