"""The input file of an atmosphere (TOML). Its tables are the only definition of the keys."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Le, MaxLen, MinLen, MultipleOf
from pydantic import AfterValidator, model_validator
from scipy.fft import next_fast_len

from fathometer.apps.atmosphere.solver.equations import Planet, cam_levels, sigma_levels
from fathometer.apps.atmosphere.solver.physics import Forcing
from fathometer.apps.atmosphere.solver.starts import BaroclinicJet
from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile
from fathometer.config.table import Table, key, not_allowed, section
from fathometer.config.types import Count, FileName, FolderName, Loose
from fathometer.runs.restart_hint import DIRECTORY

DAY = 86400.0
MOST_TRACERS = 100
# Names that the field files, and the run's account of what is kept, have of their own.
TAKEN = (
    *("time", "latitude", "longitude", "level", "interface", "a", "b", "a_interface", "b_interface"),
    *("u", "v", "temperature", "surface_pressure", "depth", "vorticity", "mass", "energy"),
)
LONGEST = 1e6  # days
FIELDS = ("wind", "temperature", "pressure", "vorticity")
SUN = ("solar_constant", "declination")  # keys of radiation
JETS = ("disturbed",)  # of beginnings that are disturbed
SHALLOW = ("steady-zonal", "zonal", "rossby-haurwitz", "jet")  # beginnings of shallow water
FOLDS = 43200.0  # s, in which the shortest waves are damped by e where the damping is left out
LEAST_FOLDS = DAY  # in which damping may make waves of n = 2, those of the whole planet, fall by e
LONGEST_STEP = 51000.0  # s, over the truncation, where the step is left out
WHOLE = 1e-9  # of a step, by which an interval may miss a whole number of them
LEAST_SURFACE, MOST_SURFACE = 40000.0, 110000.0  # Pa: pressures at the ground that occur

Kind = Literal["baroclinic-wave", "baroclinic-jet", "resting", "steady-zonal", "zonal", "rossby-haurwitz", "jet"]
Days = Annotated[float, Ge(1e-6), Le(LONGEST)]
# Of all interfaces; whether they increase downward is looked at where both are known.
Pressures = Annotated[
    tuple[Annotated[float, Ge(-LEAST_SURFACE), Le(LEAST_SURFACE)], ...],
    *(Loose, MinLen(2), MaxLen(1001)),
    Allowed(f"a list of 2 to 1001 numbers from {-LEAST_SURFACE:g} to {LEAST_SURFACE:g}"),
]
Shares = Annotated[
    tuple[Annotated[float, Ge(0), Le(1)], ...],
    *(Loose, MinLen(2), MaxLen(1001)),
    Allowed("a list of 2 to 1001 numbers from 0 to 1"),
]


def _left_alone(table: Table, names: Iterable[str], where: str) -> None:
    """Raises ValueError for keys that mean nothing there and are not what they are where they are left out."""
    for name in names:
        if (found := getattr(table, name)) != (own := type(table).model_fields[name].default):
            raise ValueError(f"{name}: found {json.dumps(found)} with {where}; allowed: {json.dumps(own)}")


class GridTable(Table):
    """Spherical harmonics, and the Gaussian grid on which products are made."""

    truncation: Annotated[int, Ge(5), Le(2000)] = key("largest wavenumber, triangular")
    latitudes: Annotated[int, Ge(8), Le(4096)] | None = key(
        "even; left out: as few as make products without aliases, (3 truncation + 1) / 2 or some more", "", None
    )
    longitudes: Annotated[int, Ge(16), Le(8192)] | None = key("even; left out: twice as many as latitudes", "", None)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        least = -(-(3 * self.truncation + 1) // 2)
        latitudes, longitudes = self.shape
        for name, value, few in (("latitudes", latitudes, least), ("longitudes", longitudes, 2 * least)):
            if value < few or value % 2:
                raise ValueError(
                    f"{name}: found {value} with truncation = {self.truncation}; allowed: even numbers from "
                    f"{few + few % 2} on"
                )
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Latitudes and longitudes."""
        latitudes = self.latitudes
        if latitudes is None:
            latitudes = -(-(3 * self.truncation + 1) // 2)
            while latitudes % 2 or next_fast_len(2 * latitudes, real=True) != 2 * latitudes:
                latitudes += 1
        return latitudes, self.longitudes or 2 * latitudes


class LevelTable(Table):
    """Levels of the air, from the top down: pressures at their interfaces are a + b times that at the surface."""

    table: Literal["cam26"] | None = key("26 levels of the Community Atmosphere Model", "", None)
    count: Annotated[int, Ge(2), Le(1000)] | None = key("so many of equal pressure, a = 0", "", None)
    a: Pressures | None = key("at the interfaces; 0 at the ground", "Pa", None)
    b: Shares | None = key("at the interfaces; 0 at the top, 1 at the ground", "", None)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        ways = [name for name in ("table", "count", "a") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise ValueError(f"table, count, a: found {' and '.join(ways) or 'none'}; needed: one of them")
        if (self.a is None) != (self.b is None):
            raise ValueError("a, b: found one of them; needed: both, or none")
        if self.a is None or self.b is None:
            return self
        if len(self.a) != len(self.b):
            raise ValueError(f"b: found {len(self.b)} values; needed: {len(self.a)}, as of a")
        if (self.a[-1], self.b[-1]) != (0.0, 1.0):
            raise ValueError(f"a, b: found {self.a[-1]:g} and {self.b[-1]:g} at the end; needed: 0 and 1, the ground")
        if self.a[0] < 0 or self.b[0] != 0:
            raise ValueError(
                f"a, b: found {self.a[0]:g} and {self.b[0]:g} at the beginning; needed: 0 or more Pa, and 0"
            )
        if any(high < low for low, high in itertools.pairwise(self.b)):
            raise ValueError("b: found values that fall; needed: none less than the one above it")
        # Pressures have to increase under all surface pressures that occur.
        for surface in (LEAST_SURFACE, MOST_SURFACE):
            pressures = [a + b * surface for a, b in zip(self.a, self.b, strict=True)]
            for number, (low, high) in enumerate(itertools.pairwise(pressures)):
                if not high > low:
                    raise ValueError(
                        f"a, b: found {high:g} Pa under {low:g} Pa at interface {number + 1}, where {surface:g} Pa are "
                        "at the ground; needed: pressures that increase"
                    )
        return self

    @property
    def interfaces(self) -> tuple[np.ndarray, np.ndarray]:
        """a, Pa, and b."""
        if self.table is not None:
            return cam_levels()
        if self.count is not None:
            return sigma_levels(self.count)
        return np.array(self.a), np.array(self.b)


class PlanetTable(Table):
    """The planet and its air. Left out: the earth, as the publication of the beginning has it."""

    radius: Annotated[float, Ge(1e3), Le(1e9)] | None = key("of the sphere", "m", None)
    rotation: Annotated[float, Ge(-1), Le(1)] | None = key("rate; 0: it does not turn", "1/s", None)
    gravity: Annotated[float, Ge(0.01), Le(1000)] | None = key("at the surface", "m/s²", None)
    gas_constant: Annotated[float, Ge(1), Le(1e5)] | None = key("of dry air", "J/kg/K", None)
    kappa: Annotated[float, Ge(0.05), Le(0.6)] | None = key(
        "gas constant over heat capacity at constant pressure", "", None
    )


class StartTable(Table):
    """The state at the beginning."""

    kind: Kind = key(
        "baroclinic-wave: two jets (Jablonowski and Williamson 2006); baroclinic-jet: one (Polvani and others 2004); "
        "resting: air of one temperature, with a little noise; of shallow water: steady-zonal, zonal, rossby-haurwitz "
        "(Williamson and others 1992, cases 2, 5 and 6), jet (Galewsky and others 2004)"
    )
    disturbed: bool = key("of jets and baroclinic-wave: whether a disturbance makes them break up", "", True)
    temperature: Annotated[float, Ge(100), Le(1000)] = key("of resting air", "K", 280.0)
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = key("of the noise", "", 1)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        used = {"resting": ("temperature", "seed"), "baroclinic-wave": JETS, "baroclinic-jet": JETS, "jet": JETS}
        unused = [name for name in ("disturbed", "temperature", "seed") if name not in used.get(self.kind, ())]
        _left_alone(self, unused, f'kind = "{self.kind}"')
        return self


class GroundTable(Table):
    """Mountains, on top of the ground of the beginning."""

    file: FileName | None = key("NetCDF: heights on the Gaussian grid of the run, with their latitudes", "", None)
    variable: str = key("of the file", "", "surface_altitude")
    height: Annotated[float, Ge(-2e4), Le(2e4)] | None = key("of a hill", "m", None)
    radius: Annotated[float, Ge(0.01), Le(180)] | None = key("of the hill: where a cone ends, a bell is 1/e", "°", None)
    latitude: Annotated[float, Ge(-90), Le(90)] = key("of the hill", "°", 30.0)
    longitude: Annotated[float, Ge(-360), Le(360)] = key("of the hill", "°", 270.0)
    shape: Literal["bell", "cone"] = key("of the hill", "", "bell")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.height is None) != (self.radius is None):
            raise ValueError("height, radius: found one of them; needed: both, or none")
        return self


class PhysicsTable(Table):
    """What forces the air."""

    forcing: Literal["none", "held-suarez", "radiation"] = key(
        "held-suarez: temperatures are drawn to given ones; radiation: grey longwave, shortwave by day; both with "
        "friction near the ground",
        "",
        "none",
    )
    convection: bool | None = key(
        "layers whose potential temperature falls upward are mixed; left out: with radiation", "", None
    )
    solar_constant: Annotated[float, Ge(0), Le(1e6)] = key("of radiation", "W/m²", 1365.0)
    declination: Annotated[float, Ge(-90), Le(90)] = key("of the sun; 0: it stands over the equator", "°", 0.0)
    columns: Annotated[int, Ge(1), Le(65536)] = key("of a chunk, which a thread takes at a time", "", 64)
    layout: Literal["pairs", "blocks"] = key(
        "of columns on ranks: pairs of latitudes, as the dynamics has them; blocks of latitudes and longitudes",
        "",
        "pairs",
    )
    balance: Literal["none", "node", "all", "partner"] = key(
        "ranks that share out their columns: none; those of a node; all; two, of the other hemisphere half the way "
        "around, with pairs one near a pole and one near the equator",
        "",
        "none",
    )
    exchange: Literal["all-to-all", "point-to-point"] = key(
        "how columns come to the ranks that compute them, and back: MPI_Alltoallv; MPI_Isend and MPI_Irecv",
        "",
        "all-to-all",
    )

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.forcing == "none" and self.convection is not None:
            raise ValueError('convection: found with forcing = "none"; allowed: left out')
        unused = {"none": ("layout", "balance", "exchange", *SUN), "held-suarez": SUN, "radiation": ()}[self.forcing]
        _left_alone(self, unused, f'forcing = "{self.forcing}"')
        return self


def tracer_name(name: str) -> str:
    """The name of a tracer; ValueError for one that a variable of a NetCDF file cannot have, or that is taken."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name):
        raise not_allowed()
    if name in TAKEN:
        raise ValueError(f'found "{name}", which the run has itself; allowed: another name')
    return name


class TracerTable(Table):
    """A tracer, which the wind carries: how much of it there is in the air, or the water, at the beginning."""

    name: Annotated[
        str, AfterValidator(tracer_name), Allowed("a letter, then up to 63 letters of a to z, digits and underscores")
    ] = key("of its variable in field files")
    shape: Literal["bell", "cylinder", "uniform"] = key(
        "bell: of a cosine, down to `background`; cylinder: `value` within a radius; uniform: `value` everywhere"
    )
    radius: Annotated[float, Ge(0.01), Le(180)] | None = key("of bell and cylinder, where they end", "°", None)
    latitude: Annotated[float, Ge(-90), Le(90)] = key("of the middle", "°", 0.0)
    longitude: Annotated[float, Ge(-360), Le(360)] = key("of the middle", "°", 270.0)
    value: Annotated[float, Ge(-1e6), Le(1e6)] = key("in the middle", "", 1.0)
    background: Annotated[float, Ge(-1e6), Le(1e6)] = key("elsewhere", "", 0.0)
    top: Annotated[float, Ge(0), Le(1)] = key("of it in air, over the surface pressure", "", 0.0)
    bottom: Annotated[float, Ge(0), Le(1)] = key("of it, alike", "", 1.0)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.shape == "uniform":
            names = ("radius", "latitude", "longitude", "background", "top", "bottom")
            fields = type(self).model_fields
            if more := [name for name in names if getattr(self, name) != fields[name].default]:
                raise ValueError(f'{more[0]}: found with shape = "uniform"; allowed: left out')
        elif self.radius is None:
            raise ValueError(f'radius: missing; needed with shape = "{self.shape}"')
        if not self.top < self.bottom:
            raise ValueError(f"top, bottom: found {self.top:g} and {self.bottom:g}; needed: top less than bottom")
        return self


class TimeTable(Table):
    """Time steps: leapfrog, of equal length."""

    end: Days = key("of the simulation", "days")
    step: Annotated[float, Ge(1e-3), Le(DAY)] | None = key(
        "left out: 51 000 s over the truncation, or less such that a day has whole steps", "s", None
    )
    most_steps: Count | None = key("the run ends with results after so many; left out: at the end", "", None)


class NumericsTable(Table):
    """Damping and filter."""

    damping: Annotated[float, Ge(0), Le(1e25)] | None = key(
        "of waves, by a power of the wavenumber; left out: the shortest fall by e in 12 hours", "m⁴/s or m²/s", None
    )
    damping_power: Annotated[int, Ge(2), Le(4), MultipleOf(2)] = key(
        "2: as viscosity and conduction; 4: of short waves rather than long ones", "", 4
    )
    filter: Annotated[float, Ge(0), Le(0.5)] = key(
        "of Robert and Asselin, against a split of odd and even steps", "", 0.06
    )


class ParallelTable(Table):
    """How ranks share the work: wavenumbers along longitude, and pairs of latitudes."""

    protocol: Literal["alltoallw", "alltoallv", "pairwise"] = key(
        "of transposes: MPI_Alltoallw on subarrays, MPI_Alltoallv of buffers, a message to a rank at a time",
        "",
        "alltoallv",
    )


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the input file", "", DIRECTORY)
    every: Days | None = key("interval of results; left out: the end alone", "days", None)
    fields: Annotated[tuple[Literal["wind", "temperature", "pressure", "vorticity"], ...], Loose, MinLen(1)] = key(
        "that are written", "", FIELDS
    )
    course_steps: Count | None = key("steps between rows of the time series; left out: a quarter of a day", "", None)
    restart_steps: Count = key(
        "steps between restart files, from which --resume goes on; one is also written every five minutes", "", 1000
    )


class AtmosphereFile(InputFile):
    """The input of an atmosphere."""

    grid: GridTable = key("spherical harmonics and the Gaussian grid")
    levels: LevelTable | None = key("levels of the air; left out: shallow water", "", None)
    planet: PlanetTable = section("the planet and its air", PlanetTable)
    start: StartTable = key("the beginning")
    ground: GroundTable = section("mountains", GroundTable)
    physics: PhysicsTable = section("what forces the air", PhysicsTable)
    tracers: Annotated[tuple[TracerTable, ...], Loose, MaxLen(MOST_TRACERS)] = key("what the wind carries", "", ())
    time: TimeTable = key("time steps")
    numerics: NumericsTable = section("damping and filter", NumericsTable)
    parallel: ParallelTable = section("how ranks share the work", ParallelTable)
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def shallow(self) -> bool:
        """Whether it is shallow water."""
        return self.start.kind in SHALLOW

    @property
    def air(self) -> Planet:
        """The planet."""
        keys, earth = self.planet, Planet(6.37122e6, 7.292e-5) if self.shallow else Planet()
        if self.start.kind == "baroclinic-jet":
            earth = BaroclinicJet.EARTH
        pairs = (
            (keys.radius, earth.radius),
            (keys.rotation, earth.rotation),
            (keys.gravity, earth.gravity),
            (keys.gas_constant, earth.gas),
            (keys.kappa, earth.kappa),
        )
        return Planet(*(own if given is None else given for given, own in pairs))

    @property
    def step(self) -> float:
        """Seconds."""
        return self.time.step or DAY / math.ceil(DAY * self.grid.truncation / LONGEST_STEP)

    @property
    def forcing(self) -> Forcing | None:
        """What forces the air; None: nothing does."""
        keys = self.physics
        if keys.forcing == "none":
            return None
        relaxation = keys.forcing == "held-suarez"
        convection = not relaxation if keys.convection is None else keys.convection
        return Forcing(
            relaxation,
            convection,
            keys.solar_constant,
            math.radians(keys.declination),
            keys.columns,
            keys.layout,
            keys.balance,
            keys.exchange == "all-to-all",
        )

    @property
    def damping(self) -> float:
        """m⁴/s or m²/s, by its power."""
        if self.numerics.damping is not None:
            return self.numerics.damping
        return self._folding(self.grid.truncation, FOLDS)

    def _folding(self, wavenumber: int, seconds: float) -> float:
        """The damping by which waves of a total wavenumber fall by e in so many seconds."""
        square = wavenumber * (wavenumber + 1) / self.air.radius**2
        return 1 / (seconds * square ** (self.numerics.damping_power // 2))

    @property
    def steps(self) -> int:
        """To the end."""
        return round(self.time.end * DAY / self.step)

    @property
    def last_step(self) -> int:
        """With which a run ends."""
        return min(self.steps, self.time.most_steps or self.steps)

    @property
    def result_steps(self) -> int:
        """Between results."""
        return round((self.output.every or self.time.end) * DAY / self.step)

    @property
    def course_steps(self) -> int:
        """Between rows of the time series."""
        return self.output.course_steps or max(1, round(DAY / 4 / self.step))

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.shallow and self.levels is not None:
            raise ValueError(
                f'[levels]: found with [start] kind = "{self.start.kind}", which is shallow water; allowed: none'
            )
        if not self.shallow and self.levels is None:
            raise ValueError(f'[levels]: missing; needed with [start] kind = "{self.start.kind}"')
        if self.shallow and "temperature" in self.output.fields and "fields" in self.output.model_fields_set:
            raise ValueError("[output] fields: found temperature, which shallow water has not; allowed: all others")
        if self.shallow and self.physics.forcing != "none":
            raise ValueError(f'[physics] forcing: found "{self.physics.forcing}" with shallow water; allowed: "none"')
        for number, tracer in enumerate(self.tracers, 1):
            if tracer.name in [other.name for other in self.tracers[: number - 1]]:
                raise ValueError(f'[[tracers]] {number}: name: found "{tracer.name}" again; needed: one of its own')
            if self.shallow and (tracer.top, tracer.bottom) != (0.0, 1.0):
                raise ValueError(f"[[tracers]] {number}: top, bottom: found with shallow water; allowed: left out")
        most = self._folding(2, LEAST_FOLDS)
        if self.damping > most:
            power = self.numerics.damping_power
            raise ValueError(
                f"[numerics] damping: found {self.damping:g} m^{power}/s; allowed with damping_power = {power}: up to "
                f"{most:.3g}, by which waves of the whole planet fall by e in a day"
            )
        for name, days in (("[time] end", self.time.end), ("[output] every", self.output.every)):
            if days is None:
                continue
            steps = days * DAY / self.step
            if abs(steps - round(steps)) > WHOLE * max(1.0, steps) or round(steps) < 1:
                near = max(1, round(steps)) * self.step / DAY
                raise ValueError(
                    f"{name}: found {days:g} days, {steps:.6g} steps of {self.step:g} s; needed: a whole number of "
                    f"steps, such as {near:.10g} days, or another [time] step"
                )
        return self
