"""Forcing of columns of air on a rank: of the weather of the step before, since leapfrog steps are over two intervals.

Ranks may compute columns of others (columns.py); threads take them in chunks. Each is computed alike wherever it lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.atmosphere.solver.columns import Columns, homes, owners
from fathometer.apps.atmosphere.solver.equations import Primitive
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.base import ledger
from fathometer.parallel.collectives import allgather

Floats = npt.NDArray[np.float64]
DAY = 86400.0
RESULTS: int = _native.ATMOSPHERE_RESULTS  # longwave to space, absorbed shortwave, ground, joined layers


@dataclass(frozen=True)
class Forcing:
    """What forces the air.

    relaxation: to the temperatures of Held & Suarez; else grey radiation with day and night. convection: dry
    convective adjustment. solar: constant, W/m². declination: of the sun, radians. chunk: columns. layout, balance: of
    columns on ranks. all_to_all: how they come there (columns.py).
    """

    relaxation: bool
    convection: bool
    solar: float
    declination: float
    chunk: int
    layout: str = "pairs"
    balance: str = "none"
    all_to_all: bool = True


def sun(sines: Floats, longitude: Floats, declination: float, time: float) -> Floats:
    """Cosine of the zenith angle of the sun at sines of latitudes and longitudes, at a time in s; declination: of the
    sun, radians, like longitudes."""
    cosines = np.sqrt((1 - sines) * (1 + sines))
    hour = longitude + 2 * math.pi * (time / DAY % 1.0)
    return np.asarray(sines * math.sin(declination) + cosines * math.cos(declination) * np.cos(hour))


class Physics:
    """Forcing on a rank's pairs of latitudes.

    Args:
        nodes: the node of each rank, by number.

    Attributes:
        weather: of the step before, [pair, hemisphere, longitude, 3 levels + 1]. weather_now: room for that of this
            one.
        forcing: of winds and temperature, [pair, hemisphere, longitude, 3 levels]. results: [.., RESULTS].
    """

    def __init__(
        self, forcing: Forcing, equations: Primitive, transform: Transform, nodes: Sequence[int] | None = None
    ) -> None:
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
        shape = (transform.pairs.stop - transform.pairs.start, 2, grid.longitudes)
        self.weather = np.zeros((*shape, 3 * equations.levels + 1))
        self.weather_now = np.zeros_like(self.weather)
        self.forcing = np.zeros((*shape, 3 * equations.levels))
        self.results = np.zeros((*shape, RESULTS))
        self._seconds: list[float] = []  # of each step
        ranks = transform.comm.size
        owner = owners(forcing.layout, forcing.balance, grid.pairs, grid.longitudes, nodes or [0] * ranks)
        home = homes("pairs", grid.pairs, grid.longitudes, ranks)
        self._columns = Columns(home, owner, transform.comm, forcing.all_to_all)
        rings, places = np.divmod(self._columns.numbers, grid.longitudes)
        self._sines = np.stack([grid.sines, -grid.sines], axis=1).reshape(-1)[rings]
        self._longitude = grid.longitude[places]

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
        """Cosine of the zenith angle of the sun over each column that the rank computes, at a time in s."""
        return sun(self._sines, self._longitude, self._keys.declination, time)

    def force(self, time: float, interval: float) -> None:
        """Collective. Forcing by the weather, which is of a time in s. interval: from there to the state that it leads
        to."""
        columns = len(self._sines)
        weather, forcing, results = (
            values.reshape(-1, values.shape[-1]) for values in (self.weather, self.forcing, self.results)
        )
        if self._columns.stay:
            self._compute(time, interval, weather, forcing, results)
            return
        weather, width = self._columns.bring(weather), forcing.shape[1]
        both = np.empty((columns, width + RESULTS))
        self._compute(time, interval, weather, both[:, :width], both[:, width:])
        self._columns.take_back(both, forcing, results)

    def _compute(self, time: float, interval: float, weather: Floats, forcing: Floats, results: Floats) -> None:
        """Forcing and results of the columns of this rank."""
        with ledger.phase("physics"):
            sun = self.sun(time)

            def chunk(first: int) -> None:
                part = slice(first, first + self._keys.chunk)
                wanted = [values[part] for values in (forcing, results)]
                # The kernel writes rows without gaps.
                found = [values if values.flags.c_contiguous else np.empty(values.shape) for values in wanted]
                self._kernel.force(
                    sine=self._sines[part],
                    sun=sun[part],
                    interval=interval,
                    weather=weather[part],
                    forcing=found[0],
                    results=found[1],
                )
                for values, made in zip(wanted, found, strict=True):
                    if made is not values:
                        values[...] = made

            begin = ledger.now()
            for _ in self._transform.workers.map(chunk, range(0, len(weather), self._keys.chunk)):
                pass
            self._seconds.append(ledger.now() - begin)

    def imbalance(self) -> float:
        """Collective. Time of computing columns on the slowest rank of each step, over the mean of the ranks."""
        found = np.array(allgather(self._transform.comm, self._seconds))
        mean = found.mean(axis=0).sum()
        return float(found.max(axis=0).sum() / mean) if mean else 1.0
