"""An atmosphere file made ready: grid, equations, the beginning."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.atmosphere.ground import degrees_from, heights_of
from fathometer.apps.atmosphere.solver.equations import Equations, Primitive
from fathometer.apps.atmosphere.solver.starts import (
    BaroclinicJet,
    BaroclinicWave,
    Jet,
    Resting,
    RossbyHaurwitz,
    Start,
    SteadyZonal,
    Weather,
    Zonal,
)
from fathometer.apps.atmosphere.solver.transform import Grid
from fathometer.base.errors import InputError
from fathometer.storage.reading import readable

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AtmosphereCase:
    """An atmosphere made ready; the same on all ranks."""

    file: AtmosphereFile
    start: Start
    heights: Floats

    @cached_property
    def _geopotential(self) -> Floats:
        """Of the mountains, [latitude, longitude] from south to north."""
        return self.heights * self.equations.planet.gravity

    def ground(self, pair: int) -> Floats:
        """Geopotential of the ground on a pair of latitudes, [hemisphere, longitude]."""
        return self.start.ground(pair) + self._mountains(pair)

    def _mountains(self, pair: int) -> Floats:
        return np.stack([self._geopotential[-1 - pair], self._geopotential[pair]])

    def weather(self, pair: int) -> Weather:
        """That of the beginning, with what mountains take up: less water, or as much less surface pressure as lies
        under them at the temperature of the lowest level."""
        u, v, heat, pressure = self.start.weather(pair)
        mountains = self._mountains(pair)
        if self.equations.SHALLOW:
            return u, v, heat - mountains[..., None], pressure
        return u, v, heat, pressure * np.exp(-mountains / (self.equations.planet.gas * heat[..., -1]))

    def tracers(self, pair: int) -> Floats:
        """Tracers of the beginning on a pair of latitudes, [hemisphere, longitude, tracer x level]."""
        latitude, longitude = self.grid.latitude(pair)[:, None], self.grid.longitude
        share = np.full((2, self.grid.longitudes, 1), 0.5)  # of the surface pressure
        if isinstance(self.equations, Primitive):
            pressure = self.weather(pair)[3]
            share = self.equations.full(pressure) / pressure[..., None]
        found = []
        for keys in self.file.tracers:
            part: Floats = np.ones((2, self.grid.longitudes))
            if keys.radius is not None:
                away = degrees_from(keys.latitude, keys.longitude, latitude, longitude) / keys.radius
                part = 0.5 * (1 + np.cos(np.pi * away)) if keys.shape == "bell" else part
                part = np.where(away < 1, part, 0.0)
            inside = (share >= keys.top) & (share <= keys.bottom)
            if keys.shape == "uniform":
                found.append(np.full(share.shape, keys.value))
            else:
                found.append(keys.background + (keys.value - keys.background) * part[..., None] * inside)
        return np.concatenate(found, axis=-1)

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
            "damping_power": self.file.numerics.damping_power,
            "forcing": self.file.physics.forcing,
            "tracers": [tracer.name for tracer in self.file.tracers],
        }

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""
        values = self.file.resolved()
        names = ("levels", "planet", "start", "ground", "numerics")
        shared = ("columns", "layout", "balance", "exchange")  # which change no bit
        physics = {name: value for name, value in values["physics"].items() if name not in shared}
        kept = {name: values.get(name) for name in names}
        if self.file.ground.file is not None:
            kept["heights"] = hashlib.sha1(self.heights.tobytes(), usedforsecurity=False).hexdigest()
        if self.file.tracers:
            kept["tracers"] = {str(number): keys for number, keys in enumerate(values["tracers"], 1)}
        return kept | {"physics": physics, "grid": list(self.sizes), "step": self.file.step}


def input_files(file: AtmosphereFile) -> list[Path]:
    """The files that a run reads. Raises InputError where one cannot be opened."""
    given = [] if file.ground.file is None else [file.directory / file.ground.file]
    return [readable(path) for path in (file.path, *given)]


def case_bytes(file: AtmosphereFile) -> int:
    """Memory that `case_of` takes: heights, their geopotential, and one array on the way there."""
    return 3 * 8 * math.prod(file.grid.shape)


def case_of(file: AtmosphereFile) -> AtmosphereCase:
    """The input made ready. Raises InputError for mountains that are no mountains, or stand above the water."""
    start = _start(file)
    case = AtmosphereCase(file, start, heights_of(file, start.grid))
    # Here and not where a rank's pairs are filled: all ranks have to end.
    if start.equations.SHALLOW and case.heights.any():
        for pair in range(start.grid.pairs):
            if not (case.weather(pair)[2] > 0).all():
                raise InputError(
                    f"{file.path}: [ground]: found {case.heights.max():.6g} m; allowed: mountains under the water"
                )
    return case


def _start(file: AtmosphereFile) -> Start:
    keys, planet = file.start, file.air
    grid = Grid(file.grid.truncation, *file.grid.shape)
    match keys.kind:
        case "steady-zonal":
            return SteadyZonal(grid, planet)
        case "zonal":
            return Zonal(grid, planet)
        case "rossby-haurwitz":
            return RossbyHaurwitz(grid, planet)
        case "jet":
            return Jet(grid, planet, keys.disturbed)
    assert file.levels is not None
    equations = Primitive(planet, *file.levels.interfaces)
    if keys.kind == "resting":
        return Resting(grid, equations, keys.temperature, keys.seed)
    if keys.kind == "baroclinic-jet":
        return BaroclinicJet(grid, equations, keys.disturbed)
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
