"""Tracers of the air on a rank, carried by a semi-Lagrangian scheme that makes no new extremes.

    D/Dt q = 0:   q(x, n + 1) = q(x_D, n),   x_D = x - dt V(x_M, n + 1/2),   x_M half way between x_D and x

x_D lies on the great circle through x and x_M, found in three turns; V at n + 1/2 is 3/2 V(n) - 1/2 V(n - 1), in the
first step V(n). Paths are of second order in time and in space (winds are interpolated linearly), q by cubic
polynomials (native/atmosphere/tracers.cpp). The vertical coordinate is the nominal pressure of levels, in which air
moves by the mass flux through their interfaces.

A rank needs winds and tracers of pairs of latitudes as far as the wind reaches in a step, on either side: over a pole
lies the same ring, half way round, over the equator the other hemisphere of the same pair.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer import _native
from fathometer.apps.atmosphere.solver.equations import PRESSURE, Equations, Primitive
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel import overlap
from fathometer.parallel.collectives import arrived

Floats = npt.NDArray[np.float64]
WIDTH = 2  # pairs on either side that are needed where the wind crosses no whole interval of latitudes in a step


def wind_columns(levels: int) -> int:
    """Of what carries tracers."""
    return 3 * levels - 1


class Tracers:
    """Tracers on a rank's pairs of latitudes.

    Args:
        number: of tracers.

    Attributes:
        values: [pair, hemisphere, longitude, tracer x level]. winds: to be filled with those of now, m/s, and levels a
            second through the interfaces, [pair, hemisphere, longitude, 3 levels - 1]. before: of the step before.
        width: pairs on either side that were needed up to now.
    """

    def __init__(self, equations: Equations, transform: Transform, number: int) -> None:
        grid, levels = transform.grid, equations.levels
        self._transform, self._radius, self._levels, self.number = transform, equations.planet.radius, levels, number
        nominal = np.array([0.0, 1.0])
        if isinstance(equations, Primitive):
            nominal = equations.a / PRESSURE + equations.b
        self._kernel = _native.AtmosphereTracers(
            longitudes=grid.longitudes, latitudes=grid.latitudes, interfaces=nominal
        )
        self._interval = float(np.diff(grid.latitudes_northward).min())
        shape = (transform.pairs.stop - transform.pairs.start, 2, grid.longitudes)
        self.values, self._next = (np.zeros((*shape, number * levels)) for _ in range(2))
        self.winds, self.before = (np.zeros((*shape, wind_columns(levels))) for _ in range(2))
        self.width = WIDTH
        self._room = np.zeros((0, *shape[1:], wind_columns(levels) + number * levels))
        self._first = 0  # pair of the room

    def begin(self, fill: Callable[[int], Floats]) -> None:
        """Take over values [hemisphere, longitude, tracer x level] of pairs of latitudes, by their number among all."""
        for pair in range(len(self.values)):
            self.values[pair] = fill(self._transform.pairs.start + pair)

    def step(self, dt: float, first: bool) -> None:
        """Collective. Carry tracers over a step of dt, s, by `winds` and those of the step before; `first`: there are
        none. Raises FathometerError on all ranks where winds are no numbers, or blow half way round the planet."""
        levels, workers, pairs = self._levels, self._transform.workers, self._transform.pairs
        own = self._enlarge()

        def prepare(pair: int) -> float:
            middle = self.winds[pair] if first else 1.5 * self.winds[pair] - 0.5 * self.before[pair]
            own[pair, ..., : middle.shape[-1]], own[pair, ..., middle.shape[-1] :] = middle, self.values[pair]
            return float((middle[..., :levels] ** 2 + middle[..., levels : 2 * levels] ** 2).max())

        def carry(pair: int) -> None:
            self._kernel.carry(
                pair=pairs.start + pair,
                first=self._first,
                radius=self._radius,
                step=dt,
                room=self._room,
                result=self._next[pair],
            )

        with ledger.phase("tracers"):
            speeds = list(workers.map(prepare, range(len(self.values))))
            self._exchange(math.sqrt(max(speeds)) if np.isfinite(speeds).all() else math.inf, dt)
            for _ in workers.map(carry, range(len(self.values))):
                pass
        self.values, self._next = self._next, self.values
        self.winds, self.before = self.before, self.winds

    def _exchange(self, speed: float, dt: float) -> None:
        """Collective. Fill the room of other ranks' pairs, as many as the fastest wind of all needs."""
        comm = self._transform.comm
        mine, most = np.array([speed]), np.empty(1)
        begin = partial(comm.Iallreduce, mine, most, MPI.MAX)
        with arrived(comm, begin, os.sched_yield):
            # A vector that is a little off the tangent plane leads a little further than one in it.
            half = float(most[0]) * dt / (2 * self._radius)
            if not half < 1:
                raise FathometerError(
                    f"the wind is {most[0]:g} m/s: the air has come apart; a shorter [time] step or more [numerics] "
                    "damping may help"
                )
            crossed = int(2 * math.asin(half) / self._interval * (1 + 1e-9))
            self.width = max(self.width, crossed + WIDTH)
            self._enlarge()
            overlap.fill(self._room, self._transform.grid.pairs, self.width, comm)

    def _enlarge(self) -> Floats:
        """Room for `width` pairs on either side; a rank's own ones, which keep their values."""
        comm, pairs = self._transform.comm, self._transform.pairs
        low, high = overlap.wanted(self._transform.grid.pairs, comm.size, comm.rank, self.width)
        if len(self._room) < high - low:
            room = np.empty((high - low, *self._room.shape[1:]))
            if len(self._room):
                room[pairs.start - low : pairs.stop - low] = self._room[
                    pairs.start - self._first : pairs.stop - self._first
                ]
            self._room, self._first = room, low
        return self._room[pairs.start - low : pairs.stop - low]
