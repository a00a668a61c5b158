"""Forcing of columns of air on a rank: of the weather of the step before, since leapfrog steps are over two intervals.

Columns are handed out to threads in chunks. Each is computed alike wherever it lies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.atmosphere.solver.equations import Primitive
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.base import ledger

Floats = npt.NDArray[np.float64]
DAY = 86400.0
RESULTS: int = _native.ATMOSPHERE_RESULTS  # longwave to space, absorbed shortwave, ground, joined layers


@dataclass(frozen=True)
class Forcing:
    """What forces the air.

    relaxation: to the temperatures of Held & Suarez; else grey radiation with day and night. convection: dry
    convective adjustment. solar: constant, W/m². declination: of the sun, radians. chunk: columns.
    """

    relaxation: bool
    convection: bool
    solar: float
    declination: float
    chunk: int


class Physics:
    """Forcing on a rank's pairs of latitudes.

    Attributes:
        weather: of the step before, [pair, hemisphere, longitude, 3 levels + 1]. weather_now: room for that of this
            one.
        forcing: of winds and temperature, [pair, hemisphere, longitude, 3 levels]. results: [.., RESULTS].
    """

    def __init__(self, forcing: Forcing, equations: Primitive, transform: Transform) -> None:
        self._keys, self._transform = forcing, transform
        planet, grid = equations.planet, transform.grid
        self._kernel = _native.AtmospherePhysics(
            a=equations.a,
            b=equations.b,
            gas=planet.gas,
            kappa=planet.kappa,
            gravity=planet.gravity,
            relaxation=forcing.relaxation,
            convection=forcing.convection,
            solar=forcing.solar,
        )
        pairs = grid.sines[transform.pairs]
        shape = (len(pairs), 2, grid.longitudes)
        self.weather = np.zeros((*shape, 3 * equations.levels + 1))
        self.weather_now = np.zeros_like(self.weather)
        self.forcing = np.zeros((*shape, 3 * equations.levels))
        self.results = np.zeros((*shape, RESULTS))
        self._sines = np.repeat(np.stack([pairs, -pairs], axis=1).reshape(-1), grid.longitudes)
        self._longitude = np.tile(grid.longitude, 2 * len(pairs))

    def begin(self, weather: Floats) -> None:
        """Take over the weather of the beginning, as of `SpectralModel.weather`."""
        levels = self.forcing.shape[-1] // 3
        self.weather[..., : 3 * levels], self.weather[..., -1] = weather[..., : 3 * levels], weather[..., -1]

    def of_pair(self, pair: int) -> Floats:
        """Forcing on a pair of latitudes, by its number among all."""
        return np.asarray(self.forcing[pair - self._transform.pairs.start])

    def advance(self) -> None:
        """`weather_now`, which has been filled, is the weather of the step before the next one."""
        self.weather, self.weather_now = self.weather_now, self.weather

    def sun(self, time: float) -> Floats:
        """Cosine of the zenith angle of the sun over each column of the rank, at a time in s."""
        keys = self._keys
        cosines = np.sqrt((1 - self._sines) * (1 + self._sines))
        hour = self._longitude + 2 * math.pi * (time / DAY % 1.0)
        noon = cosines * math.cos(keys.declination)
        return np.asarray(self._sines * math.sin(keys.declination) + noon * np.cos(hour))

    def force(self, time: float, interval: float) -> None:
        """Forcing by the weather, which is of a time in s. interval: from there to the state that it leads to."""
        columns = len(self._sines)
        weather, forcing, results = (
            values.reshape(columns, -1) for values in (self.weather, self.forcing, self.results)
        )
        with ledger.phase("physics"):
            sun = self.sun(time)

            def chunk(first: int) -> None:
                own = slice(first, first + self._keys.chunk)
                self._kernel.force(
                    sine=self._sines[own],
                    sun=sun[own],
                    interval=interval,
                    weather=weather[own],
                    forcing=forcing[own],
                    results=results[own],
                )

            for _ in self._transform.workers.map(chunk, range(0, columns, self._keys.chunk)):
                pass
