"""An atmosphere file made ready: grid, equations, the beginning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.atmosphere.solver.equations import Equations, Primitive
from fathometer.apps.atmosphere.solver.starts import (
    BaroclinicWave,
    Jet,
    Resting,
    RossbyHaurwitz,
    Start,
    SteadyZonal,
)
from fathometer.apps.atmosphere.solver.transform import Grid
from fathometer.base.errors import InputError
from fathometer.storage.reading import readable


@dataclass(frozen=True, eq=False)
class AtmosphereCase:
    """An atmosphere made ready; the same on all ranks."""

    file: AtmosphereFile
    start: Start

    @property
    def grid(self) -> Grid:
        """Truncation and Gaussian grid."""
        return self.start.grid

    @property
    def equations(self) -> Equations:
        """Those of the beginning."""
        return self.start.equations

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Truncation, levels, latitudes, longitudes."""
        return self.grid.truncation, self.equations.levels, self.grid.latitudes, self.grid.longitudes

    def facts(self) -> dict[str, Any]:
        """Grid and the rest that is known before the first step, as records have them."""
        names = ("truncation", "levels", "latitudes", "longitudes")
        return {
            "grid": dict(zip(names, self.sizes, strict=True)),
            "shallow": self.equations.SHALLOW,
            "step_seconds": self.file.step,
            "damping": self.file.damping,
            "forcing": self.file.physics.forcing,
        }

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""
        values = self.file.resolved()
        names = ("levels", "planet", "start", "numerics")
        physics = {name: value for name, value in values["physics"].items() if name != "columns"}
        kept = {name: values.get(name) for name in names}
        return kept | {"physics": physics, "grid": list(self.sizes), "step": self.file.step}


def input_files(file: AtmosphereFile) -> list[Path]:
    """The files that a run reads. Raises InputError where one cannot be opened."""
    return [readable(file.path)]


def case_bytes(file: AtmosphereFile) -> int:
    """Memory that `case_of` takes."""
    return 0


def case_of(file: AtmosphereFile) -> AtmosphereCase:
    """The input made ready."""
    return AtmosphereCase(file, _start(file))


def _start(file: AtmosphereFile) -> Start:
    keys, planet = file.start, file.air
    grid = Grid(file.grid.truncation, *file.grid.shape)
    match keys.kind:
        case "steady-zonal":
            return SteadyZonal(grid, planet)
        case "rossby-haurwitz":
            return RossbyHaurwitz(grid, planet)
        case "jet":
            return Jet(grid, planet, keys.disturbed)
    assert file.levels is not None
    equations = Primitive(planet, *file.levels.interfaces)
    if keys.kind == "resting":
        return Resting(grid, equations, keys.temperature, keys.seed)
    return BaroclinicWave(grid, equations, keys.disturbed)


def check_ranks(case: AtmosphereCase, ranks: int) -> None:
    """Raises InputError for more ranks than share the work."""
    most = min(case.grid.pairs, case.grid.truncation + 1)
    if ranks > most:
        raise InputError(
            f"{case.file.path}: found {ranks} ranks; allowed: up to {most}, with {case.grid.pairs} pairs of latitudes "
            f"and {case.grid.truncation + 1} wavenumbers along longitude"
        )


def check_step(case: AtmosphereCase, speed: float) -> None:
    """Raises InputError for a step in which the wind, at most `speed`, m/s, carries the shortest waves too far."""
    longest = case.equations.planet.radius / (case.grid.truncation * speed) if speed else math.inf
    if case.file.step > longest:
        raise InputError(
            f"{case.file.path}: [time] step: found {case.file.step:g} s with winds of {speed:.3g} m/s; allowed: up to "
            f"{longest:.3g} s"
        )
