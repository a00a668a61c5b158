"""Means over the globe, extremes, and the spectrum of kinetic energy: the same bits on any number of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.apps.atmosphere.solver.equations import Primitive
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.base import ledger
from fathometer.parallel.collectives import allgather, allreduce
from fathometer.parallel.gather import Gather

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """Of a state.

    mass: surface pressure, Pa, or depth, m. energy, kinetic: total and kinetic energy, J/m², of shallow water m³/s².
    least, most: of the mass. speed: largest, m/s.
    """

    mass: float
    energy: float
    kinetic: float
    least: float
    most: float
    speed: float


class Diagnostics:
    """Means of a model's weather, and its spectrum."""

    def __init__(self, model: SpectralModel) -> None:
        transform = model.transform
        self._model = model
        self._gather = Gather((transform.grid.pairs, 3), 0, np.float64, transform.comm)
        waves = len(transform.order)
        self._gather_waves = Gather((waves, waves, model.levels), 0, np.float64, transform.comm)
        self._ground = transform.to_grid(model.surface)[..., 0]

    def __call__(self, weather: Floats) -> Means:
        """Collective. weather: as of `SpectralModel.weather`."""
        model, levels = self._model, self._model.levels
        grid, comm = model.transform.grid, model.transform.comm
        with ledger.phase("diagnostics"):
            own = np.array([self._of_pair(pair, ground) for pair, ground in zip(weather, self._ground, strict=True)])
            weights = grid.weights[model.transform.pairs] / (2 * grid.longitudes)
            sums = self._gather(own.reshape(-1, 3) * weights[:, None]).sum(axis=0)
            mass = self._mass(weather)
            speed = np.sqrt((weather[..., :levels] ** 2 + weather[..., levels : 2 * levels] ** 2).max(initial=0.0))
            least = float(allreduce(comm, float(mass.min()), "MIN"))
            most, fastest = (float(allreduce(comm, float(value), "MAX")) for value in (mass.max(), speed))
        mean, energy, kinetic = map(float, sums)
        return Means(mean, energy, kinetic, least, most, fastest)

    def of_columns(self, values: Floats) -> list[float]:
        """Collective. Means of [pair, hemisphere, longitude, any] of this rank's pairs."""
        grid = self._model.transform.grid
        gather = Gather((grid.pairs, values.shape[-1]), 0, np.float64, self._model.transform.comm)
        weights = grid.weights[self._model.transform.pairs] / (2 * grid.longitudes)
        own = np.array([pair.reshape(-1, values.shape[-1]).sum(axis=0) for pair in values])
        return [float(value) for value in gather(own.reshape(-1, values.shape[-1]) * weights[:, None]).sum(axis=0)]

    def of_tracers(self, weather: Floats, tracers: Floats) -> list[tuple[float, float, float]]:
        """Collective. Mean by mass, least and largest value of each tracer, [pair, hemisphere, longitude, tracer x
        level]. weather: as of `SpectralModel.weather`."""
        equations, comm = self._model.equations, self._model.transform.comm
        with ledger.phase("diagnostics"):
            thick = mass = self._mass(weather)[..., None]
            if isinstance(equations, Primitive):
                thick = np.diff(equations.half(mass[..., 0]), axis=-1)
                mass = thick.sum(axis=-1, keepdims=True)
            parts = tracers.reshape(*tracers.shape[:-1], -1, self._model.levels)
            sums = (parts * thick[..., None, :]).sum(axis=-1)
            *means, total = self.of_columns(np.concatenate([sums, mass], axis=-1))
            ends = [(float(parts[..., n, :].min()), float(parts[..., n, :].max())) for n in range(len(means))]
            every = allgather(comm, ends)
        least = [min(low for low, _ in of_ranks) for of_ranks in zip(*every, strict=True)]
        most = [max(high for _, high in of_ranks) for of_ranks in zip(*every, strict=True)]
        return list(zip([mean / total for mean in means], least, most, strict=True))

    def _mass(self, weather: Floats) -> Floats:
        equations = self._model.equations
        if isinstance(equations, Primitive):
            return np.asarray(weather[..., -1])
        return np.asarray(weather[..., 2] / equations.planet.gravity)

    def _of_pair(self, weather: Floats, ground: Floats) -> tuple[float, float, float]:
        """Sums over a pair of latitudes: mass, energy, kinetic energy."""
        levels, equations = self._model.levels, self._model.equations
        planet = equations.planet
        u, v, heat = (weather[..., n * levels : (n + 1) * levels] for n in range(3))
        speeds = 0.5 * (u * u + v * v)
        mass = self._mass(weather)
        if isinstance(equations, Primitive):
            thick = np.diff(equations.half(mass), axis=-1)
            kinetic = (speeds * thick).sum() / planet.gravity
            energy = kinetic + ((planet.heat * heat * thick).sum() + (ground * mass).sum()) / planet.gravity
        else:
            kinetic = (speeds[..., 0] * mass).sum()
            energy = kinetic + (mass * (0.5 * planet.gravity * mass + ground)).sum()
        return float(mass.sum()), float(energy), float(kinetic)

    def spectrum(self) -> Floats:
        """Collective. [n, level]: kinetic energy of each total wavenumber, m²/s²."""
        model = self._model
        transform, levels = model.transform, model.levels
        n = transform.degrees.astype(np.float64)
        squares = np.abs(model.now[:, : 2 * levels]) ** 2
        both = squares[:, :levels] + squares[:, levels:]
        factor = np.zeros(len(n))
        inside = (n > 0) & (n <= transform.grid.truncation)
        # Functions have the norm 1 in -1 .. 1: means over the sphere are half of sums.
        factor[inside] = model.equations.planet.radius**2 / (4 * n[inside] * (n[inside] + 1))
        factor[transform.orders > 0] *= 2
        count = transform.grid.truncation + 1
        own = np.zeros((len(transform.waves), count, levels))
        begin = transform.sphere.begin
        for number, m in enumerate(transform.waves):
            rows = slice(begin[number], begin[number + 1] - 1)
            own[number, m:] = both[rows] * factor[rows, None]
        whole = self._gather_waves(own)
        return np.asarray(whole[np.argsort(transform.order)].sum(axis=0))
