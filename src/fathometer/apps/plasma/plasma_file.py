"""The input file of plasma turbulence (TOML). Its tables are the only definition of the keys."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import model_validator

from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FolderName, Loose
from fathometer.runs.restart_hint import DIRECTORY

LONGEST = 1e9  # R/v_i
MOST_TIMES = 10_000  # of results, by an interval
NEUTRAL = 1e-6  # of a charge
CLOSED = 1e-6  # of a mode, by which the twist of a box may miss one
PROTOCOLS = ("alltoallw", "alltoallv", "pairwise")  # METHODS of parallel/transpose.py

WaveNumber = Annotated[float, Ge(1e-6), Le(1e6)]
Gradient = Annotated[float, Ge(-1e4), Le(1e4)]
Ratio = Annotated[float, Ge(1e-9), Le(1e9)]
Rate = Annotated[float, Ge(0), Le(1e6)]  # v_i/R
Time = Annotated[float, Ge(1e-9), Le(LONGEST)]  # R/v_i
Waves = Annotated[tuple[WaveNumber, ...], Loose, MinLen(1), MaxLen(4096), Allowed("a list of wave numbers")]


class GeometryTable(Table):
    """The magnetic field around a flux surface: circles, in which pressure shifts them (s-alpha)."""

    kind: Literal["s-alpha", "slab"] = key("slab: a straight field without drifts or mirror force", "", "s-alpha")
    q: Annotated[float, Ge(0.01), Le(1e3)] = key("safety factor", "", 1.4)
    shear: Annotated[float, Ge(-100), Le(100)] = key("magnetic shear", "", 0.786)
    epsilon: Annotated[float, Ge(0), Le(0.9)] = key("radius of the flux surface over R", "", 0.18)
    alpha: Annotated[float, Ge(-100), Le(100)] = key("gradient of the pressure, of the shift", "", 0.0)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.kind == "slab" and (self.epsilon or self.shear or self.alpha):
            raise ValueError('kind: found "slab" with epsilon, shear or alpha; needed: 0 for all of them')
        return self


class VelocityTable(Table):
    """Velocities of each species."""

    energies: Annotated[int, Ge(2), Le(64)] = key("at least two; 8 of them are 5 % off in growth rates", "", 16)
    cosines: Annotated[int, Ge(4), Le(256)] = key("of the pitch angle", "", 12)
    largest_energy: Annotated[float, Ge(1), Le(64)] = key("over the temperature", "T", 8.0)


class ModeTable(Table):
    """Where along the field line, and which waves across it."""

    kind: Literal["chain", "joined", "box"] = key(
        "chain: each ky alone, on a field line of several turns; joined: each ky and kx alone, on one turn that is "
        "joined to itself; box: ky and kx of a box, which act on each other"
    )
    theta: Annotated[int, Ge(7), Le(4096)] = key("points of a turn along the field line", "", 24)
    ky: Waves | None = key("of a chain, or joined ones; left out of joined ones: 0", "1/rho_i", None)
    kx: Waves | None = key("of joined ones; left out: 0", "1/rho_i", None)
    turns: Annotated[int, Ge(1), Le(999)] = key("of a chain; odd", "", 5)
    theta0: Annotated[float, Ge(-math.pi), Le(math.pi)] = key("of a chain: where it is least sheared", "rad", 0.0)
    ky_number: Annotated[int, Ge(2), Le(4096)] | None = key("of a box, with ky = 0", "", None)
    kx_number: Annotated[int, Ge(3), Le(16383)] | None = key("of a box, on both sides of 0; odd", "", None)
    ky_least: WaveNumber | None = key("of a box, but 0", "1/rho_i", None)
    kx_least: WaveNumber | None = key("of a box, but 0; left out: what `twist` leads to", "1/rho_i", None)
    twist: Annotated[int, Ge(1), Le(16383)] | None = key(
        "of a box: how many kx further the least ky goes on after a turn: 2 pi shear ky_least / kx_least", "", None
    )

    @model_validator(mode="after")
    def _agree(self) -> Self:
        keys = {"chain": ("ky",), "joined": (), "box": ("ky_number", "kx_number", "ky_least")}[self.kind]
        for name in keys:
            if getattr(self, name) is None:
                raise ValueError(f'{name}: missing; needed with kind = "{self.kind}"')
        others = {
            "chain": ("kx", "ky_number", "kx_number", "ky_least", "kx_least", "twist"),
            "joined": ("ky_number", "kx_number", "ky_least", "kx_least", "twist"),
            "box": ("ky", "kx"),
        }[self.kind]
        for name in others:
            if getattr(self, name) is not None:
                raise ValueError(f'{name}: found with kind = "{self.kind}"; allowed: left out')
        for name, value in (("turns", self.turns), ("kx_number", self.kx_number)):
            if value is not None and value % 2 == 0:
                raise ValueError(f"{name}: found {value}; allowed: odd numbers")
        if self.kind == "joined" and self.ky is None and self.kx is None:
            raise ValueError('ky, kx: missing; needed: one of them with kind = "joined"')
        return self


class SpeciesTable(Table):
    """Particles of one kind, whose motion is followed."""

    name: str = key("of them")
    charge: Annotated[float, Ge(-100), Le(100)] = key("in elementary charges", "e", 1.0)
    mass: Ratio = key("over that of the reference ions", "m_i", 1.0)
    temperature: Ratio = key("over that of the reference ions", "T_i", 1.0)
    density: Ratio = key("over that of electrons", "n_e", 1.0)
    density_gradient: Gradient = key("R/L_n", "", 0.0)
    temperature_gradient: Gradient = key("R/L_T", "", 0.0)
    collisions: Rate = key("frequency of pitch-angle scattering; 0: there is none", "v_i/R", 0.0)
    upwind: Annotated[float, Ge(0), Le(10)] | None = key(
        "damping of what theta does not resolve; 1: as fast as it is carried over a point; left out: 1, and 0.1 beside "
        "kinetic electrons",
        "",
        None,
    )

    @model_validator(mode="after")
    def _charged(self) -> Self:
        if not self.charge:
            raise ValueError("charge: found 0; allowed: all but that")
        return self


class FieldTable(Table):
    """The electromagnetic fields."""

    adiabatic_electrons: bool = key("electrons that are no species, and answer at once along the field line", "", True)
    electron_temperature: Ratio = key("of adiabatic electrons", "T_i", 1.0)
    beta: Annotated[float, Ge(0), Le(10)] = key("2 mu_0 n_e T_i / B²; 0: electrostatic", "", 0.0)


class InitialTable(Table):
    """The distribution function at the beginning, of ions."""

    kind: Literal["bell", "uniform", "cosine", "noise"] = key(
        "bell: around theta = 0, along a chain; uniform: the same everywhere; cosine: along theta; noise: random "
        "phases, less of short waves and none of zonal flows",
        "",
        "bell",
    )
    amplitude: Annotated[float, Gt(0), Le(1e6)] = key("over rho_i/R", "", 1.0)
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = key("of the noise", "", 1)


class TimeTable(Table):
    """Time steps, explicit."""

    end: Time = key("of the simulation", "R/v_i")
    method: Literal["rk4", "rk3"] = key("Runge and Kutta's of order 4, or of order 3 with an array less", "", "rk4")
    courant: Annotated[float, Gt(0), Le(1)] = key("step over the longest that is stable", "", 0.95)
    step: Time | None = key("of all steps; left out: as courant allows", "R/v_i", None)
    most_steps: Count | None = key("the run ends with results after so many; left out: at the end", "", None)
    tolerance: Annotated[float, Ge(0), Le(1)] = key(
        "a linear run ends when growth rates and frequencies of all modes have changed by no more for some time; 0: at "
        "the end",
        "v_i/R",
        0.0,
    )


class NumericsTable(Table):
    """What is solved, and how."""

    nonlinear: bool | None = key("whether modes act on each other; left out: in a box", "", None)
    damping: Rate = key("of the shortest waves across the field; it goes with their fourth power", "v_i/R", 0.0)


class ParallelTable(Table):
    """How ranks share the work: P = P1 P2, with modes over P2 ranks and velocities over P1."""

    mode_ranks: Count | None = key("P2; it divides ky and the number of ranks; left out: as large as can be", "", None)
    protocol: Literal["alltoallw", "alltoallv", "pairwise"] = key(
        "of transposes: MPI_Alltoallw on subarrays, MPI_Alltoallv of buffers, a message to a rank at a time",
        "",
        "alltoallv",
    )
    overlap: bool = key("transposes run while others work, by non-blocking calls", "", False)


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the input file", "", DIRECTORY)
    every: Time | None = key("interval of results; left out: the end alone", "R/v_i", None)
    course_steps: Count = key("steps between rows of the time series", "", 10)
    restart_steps: Count = key(
        "steps between restart files, from which --resume goes on; one is also written every five minutes", "", 1000
    )


class PlasmaFile(InputFile):
    """The input of plasma turbulence."""

    geometry: GeometryTable = section("the magnetic field", GeometryTable)
    velocities: VelocityTable = key("velocities of each species")
    modes: ModeTable = key("places along the field line, and waves across it")
    species: Annotated[tuple[SpeciesTable, ...], Loose, MinLen(1), MaxLen(16)] = key("particles")
    fields: FieldTable = section("the electromagnetic fields", FieldTable)
    initial: InitialTable = section("the beginning", InitialTable)
    time: TimeTable = key("time steps")
    numerics: NumericsTable = section("what is solved", NumericsTable)
    parallel: ParallelTable = section("how ranks share the work", ParallelTable)
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def output_times(self) -> list[float]:
        """Times of results after the beginning, R/v_i, the end included."""
        end, every = self.time.end, self.output.every
        count = math.ceil(end / every * (1 - 1e-12)) if every is not None else 1
        return [n * (every or end) for n in range(1, count)] + [end]

    @property
    def nonlinear(self) -> bool:
        """Whether modes act on each other."""
        wanted = self.numerics.nonlinear
        return self.modes.kind == "box" if wanted is None else wanted

    @property
    def twist(self) -> int:
        """Of a box: how many kx further the least ky goes on. 0: without shear."""
        modes, shear = self.modes, self.geometry.shear
        assert modes.ky_least is not None
        if not shear:
            return 0
        if modes.kx_least is None:
            assert modes.twist is not None
            return round(math.copysign(modes.twist, shear))
        return round(2 * math.pi * shear * modes.ky_least / modes.kx_least)

    @property
    def kx_least(self) -> float:
        """Of a box."""
        modes = self.modes
        assert modes.ky_least is not None
        # From the twist, so that it closes to the last bit.
        return 2 * math.pi * self.geometry.shear * modes.ky_least / self.twist if self.twist else modes.kx_least or 0.0

    @model_validator(mode="after")
    def _agree(self) -> Self:
        names = [one.name for one in self.species]
        if len(set(names)) != len(names):
            raise ValueError(f"[[species]] name: found {names}; allowed: each once")
        fields = self.fields
        electrons = [one.name for one in self.species if one.charge < 0]
        if fields.adiabatic_electrons and fields.beta:
            raise ValueError(
                f"[fields] beta: found {fields.beta:g} with adiabatic electrons, which carry no current; needed: "
                "adiabatic_electrons = false and electrons among [[species]], or beta = 0"
            )
        if fields.adiabatic_electrons and electrons:
            raise ValueError(
                f"[fields] adiabatic_electrons: found true beside the species {electrons[0]} of negative charge; "
                "needed: false, or ions alone"
            )
        charge = sum(one.charge * one.density for one in self.species)
        if fields.adiabatic_electrons and abs(charge - 1) > NEUTRAL:
            raise ValueError(
                f"[[species]] density: found a charge of {charge:g} in all, over that of electrons; needed: 1 beside "
                "adiabatic electrons"
            )
        if not fields.adiabatic_electrons:
            self._check_charges(charge)
        self._check_modes()
        self._check_time()
        return self

    def _check_charges(self, charge: float) -> None:
        if abs(charge) > NEUTRAL:
            raise ValueError(f"[[species]]: found a charge of {charge:g} in all; needed: 0 without adiabatic electrons")
        electrons = -sum(one.charge * one.density for one in self.species if one.charge < 0)
        if abs(electrons - 1) > NEUTRAL:
            raise ValueError(f"[[species]] density: found {electrons:g} of electrons; needed: 1, which others are over")
        gradient = sum(one.charge * one.density * one.density_gradient for one in self.species)
        if abs(gradient) > NEUTRAL * max(1.0, *(abs(one.density_gradient) for one in self.species)):
            raise ValueError(
                f"[[species]] density_gradient: found {gradient:g} of the charge in all; needed: 0, or the plasma is "
                "neutral at one place alone"
            )

    def _check_modes(self) -> None:
        modes, shear = self.modes, self.geometry.shear
        if modes.kind == "chain" and not shear:
            raise ValueError('[modes] kind: found "chain" without shear; needed: "joined"')
        if modes.kind == "joined" and modes.ky is not None and shear:
            raise ValueError(
                f'[modes] ky: found with kind = "joined" and a shear of {shear:g}; needed: "chain", or no shear'
            )
        if self.numerics.nonlinear and modes.kind != "box":
            raise ValueError(f'[numerics] nonlinear: found true with [modes] kind = "{modes.kind}"; needed: "box"')
        if modes.kind == "box":
            self._check_twist(shear)

    def _check_twist(self, shear: float) -> None:
        modes = self.modes
        assert modes.ky_least is not None
        if not shear:
            if modes.kx_least is None or modes.twist is not None:
                raise ValueError("[modes] twist: a field without shear has none; needed: kx_least alone")
            return
        if modes.kx_least is None and modes.twist is None:
            raise ValueError("[modes] twist: missing; needed: that, or kx_least")
        if modes.kx_least is None:
            return
        found = abs(2 * math.pi * shear * modes.ky_least / modes.kx_least)
        near = max(1, round(found))
        if abs(found - near) > CLOSED or (modes.twist is not None and modes.twist != near):
            fits = abs(2 * math.pi * shear * modes.ky_least / near)
            raise ValueError(
                f"[modes] kx_least: found {modes.kx_least:g}, with which a turn leads {found:.9g} kx further; needed: "
                f"a whole number{'' if modes.twist is None else ', that of twist'}, such as with {fits:.9g}"
            )

    def _check_time(self) -> None:
        every = self.output.every
        if every is not None and every * MOST_TIMES < self.time.end:
            raise ValueError(
                f"[output] every: found {every:g}; allowed: from {self.time.end / MOST_TIMES:g} R/v_i on, for results "
                f"at {MOST_TIMES} times at most"
            )
        if self.time.tolerance and self.nonlinear:
            raise ValueError(f"[time] tolerance: found {self.time.tolerance:g}; allowed: of linear runs")
        if self.initial.kind == "bell" and self.modes.kind != "chain":
            raise ValueError('[initial] kind: found "bell"; allowed: with [modes] kind = "chain"')
