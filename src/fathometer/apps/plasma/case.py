"""A plasma file made ready: what is solved, the beginning, how ranks share it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.plasma.plasma_file import PlasmaFile
from fathometer.apps.plasma.solver.geometry import FluxTube, Geometry, Modes
from fathometer.apps.plasma.solver.model import Plasma, PlasmaModel
from fathometer.apps.plasma.solver.velocity import Species, VelocityGrid
from fathometer.base.errors import InputError
from fathometer.storage.reading import readable

WIDTH = 1.5  # of the bell, rad
UPWIND = {True: 1.0, False: 0.1}  # with adiabatic electrons; kinetic ones answer to it at once
Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class PlasmaCase:
    """A plasma made ready; the same on all ranks."""

    file: PlasmaFile
    plasma: Plasma

    def facts(self) -> dict[str, Any]:
        """Grid and the rest that is known before the first step, as records have them."""
        tube, grid = self.plasma.tube, self.plasma.grid
        return {
            "grid": {
                "ky": tube.modes.ky.tolist(),
                "kx": tube.modes.waves,
                "theta": tube.points,
                "species": len(grid.species),
                "energies": grid.energies,
                "cosines": grid.cosines,
            },
            "nonlinear": self.plasma.nonlinear,
            "chain": self.file.modes.kind == "chain",
        } | ({"twist": self.file.twist, "kx_least": self.file.kx_least} if tube.modes.box else {})

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""
        values = self.file.resolved()
        names = ("geometry", "velocities", "modes", "species", "fields", "initial", "numerics")
        return {name: values.get(name) for name in names} | {"method": self.file.time.method}

    def begin(self, model: PlasmaModel) -> None:
        """The distribution function at the beginning: g of ions."""
        keys, grid = self.file.initial, self.plasma.grid
        ions = (grid.charge > 0)[model.share.own_velocities]
        own = model.share.own_modes
        for number, mode in enumerate(range(own.start, own.stop)):
            model.g[number][ions] = keys.amplitude * self._shape(mode)

    def _shape(self, mode: int) -> Complex:
        """[theta, kx]."""
        tube, keys = self.plasma.tube, self.file.initial
        theta, waves = tube.theta[:, None], tube.modes.waves
        match keys.kind:
            case "bell":
                along = theta + 2 * math.pi * (np.arange(waves) - waves // 2) - self.file.modes.theta0
                return np.asarray(np.exp(-((along / WIDTH) ** 2)), np.complex128)
            case "uniform":
                return np.ones((tube.points, waves), np.complex128)
            case "cosine":
                return np.asarray(np.cos(theta) * np.ones(waves), np.complex128)
        return self._noise(mode)

    def _noise(self, mode: int) -> Complex:
        """Random phases of each wave, along theta as cos²(theta/2)."""
        tube = self.plasma.tube
        modes, waves = tube.modes, tube.modes.waves
        random = np.random.default_rng([self.file.initial.seed, mode])
        phases = np.exp(2j * math.pi * random.uniform(size=waves))
        long = max(modes.ky.max(), np.abs(modes.kx).max()) / 4
        size = 1 / (1 + (modes.kx[mode] ** 2 + modes.ky[mode] ** 2) / max(long, 1e-300) ** 2)
        if modes.ky[mode] == 0 and modes.box:
            phases[:] = 0  # zonal flows come of the waves
        return np.asarray(np.cos(tube.theta / 2)[:, None] ** 2 * (phases * size))


def input_files(file: PlasmaFile) -> list[Path]:
    """The files that a run reads. Raises InputError where one cannot be opened."""
    return [readable(file.path)]


def case_bytes(file: PlasmaFile) -> int:
    """Memory that `case_of` takes."""
    return 0


def case_of(file: PlasmaFile) -> PlasmaCase:
    """The input made ready."""
    keys = file.geometry
    geometry = Geometry(keys.q, keys.shear, keys.epsilon, keys.alpha, keys.kind == "slab")
    species = [
        Species(
            one.name,
            one.charge,
            one.mass,
            one.temperature,
            one.density,
            one.density_gradient,
            one.temperature_gradient,
            one.collisions,
            UPWIND[file.fields.adiabatic_electrons] if one.upwind is None else one.upwind,
        )
        for one in file.species
    ]
    grid = VelocityGrid(species, file.velocities.energies, file.velocities.cosines, file.velocities.largest_energy)
    adiabatic = 1 / file.fields.electron_temperature if file.fields.adiabatic_electrons else 0.0
    tube = FluxTube(geometry, _modes(file), file.modes.theta)
    plasma = Plasma(tube, grid, adiabatic, file.fields.beta, file.nonlinear, file.numerics.damping)
    return PlasmaCase(file, plasma)


def _modes(file: PlasmaFile) -> Modes:
    keys = file.modes
    match keys.kind:
        case "chain":
            return Modes.chain(np.array(keys.ky), keys.turns, file.geometry.shear, keys.theta0)
        case "joined":
            return Modes.joined(np.array(keys.ky or [0.0]), np.array(keys.kx or [0.0]))
    assert keys.ky_number is not None
    assert keys.kx_number is not None
    assert keys.ky_least is not None
    return Modes.in_box(keys.ky_number, keys.kx_number, keys.ky_least, file.kx_least, file.twist)


def ranks_of(file: PlasmaFile, plasma: Plasma, ranks: int) -> tuple[int, int]:
    """P1 and P2. Raises InputError for ranks that do not share the work."""
    modes, velocities, points, waves = plasma.sizes
    most = min(velocities, points * waves)
    p2 = file.parallel.mode_ranks
    if p2 is None:
        fitting = [n for n in range(1, min(modes, ranks) + 1) if ranks % n == 0 and modes % n == 0]
        p2 = max((n for n in fitting if ranks // n <= most), default=max(fitting))
    elif ranks % p2:
        raise InputError(
            f"{file.path}: [parallel] mode_ranks: found {p2} with {ranks} ranks; needed: a divisor of the ranks, since "
            "P1 P2 is their number"
        )
    elif modes % p2:
        raise InputError(
            f"{file.path}: [parallel] mode_ranks: found {p2} with {modes} ky; needed: a divisor of the ky, which are "
            "shared alike"
        )
    p1 = ranks // p2
    if p1 > most:
        raise InputError(
            f"{file.path}: found {ranks} ranks, {p2} of them for ky and {p1} for velocities; allowed: up to {most} for "
            "velocities, and more for ky as far as their number has divisors"
        )
    return p1, p2
