"""Plasmas for tests: models made directly, input files as dictionaries, references."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from scipy.optimize import root
from scipy.special import ive, wofz

from fathometer.apps.plasma.solver.geometry import FluxTube, Geometry, Modes
from fathometer.apps.plasma.solver.model import Plasma, PlasmaModel
from fathometer.apps.plasma.solver.stepping import MARGIN, METHODS, Stepper, limits, measured_rate
from fathometer.apps.plasma.solver.velocity import Species, VelocityGrid

CYCLONE = Geometry(q=1.4, shear=0.786, epsilon=0.18)
IONS = {"name": "ions", "density_gradient": 2.22, "temperature_gradient": 6.92}
ELECTRONS = {"name": "electrons", "charge": -1.0, "mass": 0.01, "density_gradient": 2.22, "upwind": 0.1}


def linear(ky: list[float], energies: int = 16, cosines: int = 12, **more: Any) -> Plasma:
    """The Cyclone base case with adiabatic electrons."""
    grid = VelocityGrid([Species(**(IONS | more))], energies, cosines, 8.0)
    return Plasma(FluxTube(CYCLONE, Modes.chain(np.array(ky), 5, CYCLONE.shear, 0.0), 24), grid)


def box(ky: int = 4, kx: int = 9, electrons: bool = False, theta: int = 8, **more: Any) -> Plasma:
    """A small box; electrons: kinetic, with A."""
    species = [Species(**IONS, **more)] + ([Species(**ELECTRONS)] if electrons else [])
    modes = Modes.in_box(ky, kx, 0.2, 2 * np.pi * CYCLONE.shear * 0.2 / 2, 2)
    grid = VelocityGrid(species, 3, 4, 8.0)
    return Plasma(
        FluxTube(CYCLONE, modes, theta), grid, 0.0 if electrons else 1.0, 0.01 if electrons else 0.0, nonlinear=True
    )


def model_of(plasma: Plasma, **more: Any) -> PlasmaModel:
    """On this process alone."""
    return PlasmaModel(plasma, (1, 1), MPI.COMM_SELF, **more)


def noise(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    """Complex numbers around 0."""
    random = np.random.default_rng(seed)
    return random.normal(size=shape) + 1j * random.normal(size=shape)


def real_noise(plasma: Plasma, seed: int = 1) -> np.ndarray:
    """g of random real values, [ky, velocity, theta, kx]."""
    modes, velocities, points, waves = plasma.sizes
    found = noise((modes, velocities, points, waves), seed)
    last = (waves - 1) // 2
    found[0, :, :, last] = found[0, :, :, last].real
    found[0, :, :, :last] = np.conj(found[0, :, :, :last:-1])
    return found


def stepper_of(model: PlasmaModel, method: str = "rk4") -> tuple[Stepper, float]:
    """And the longest stable step."""
    stepper = METHODS[method](model)
    rate = max(sum(limits(model.plasma).values()), MARGIN * measured_rate(model))
    return stepper, stepper.reach / rate


def alfven_wave(k_perp: float, beta: float, mass_ratio: float) -> complex:
    """omega of the kinetic Alfven wave with the wave number 1/R along the field, R/v_i: a root of the dispersion
    relation of a homogeneous plasma with Maxwellian ions and electrons of one temperature."""

    def determinant(omega: complex) -> complex:
        matrix = np.zeros((2, 2), complex)
        for mass in (1.0, 1 / mass_ratio):
            speed, b = 1 / np.sqrt(mass), k_perp**2 * mass
            zeta = omega / (np.sqrt(2) * speed)
            z = zeta * 1j * np.sqrt(np.pi) * wofz(zeta)
            sign = 1.0
            parts = [-z * ive(0, b), omega * (-1 - z) * ive(0, b), omega**2 * (-1 - z) * ive(0, b)]
            matrix[0] += [sign - parts[0], parts[1]]
            matrix[1] += [-beta / 2 * parts[1], beta / 2 * parts[2]]
        matrix[1, 1] += k_perp**2
        return complex(np.linalg.det(matrix))

    begin = np.sqrt(2 / beta) * np.sqrt(1 + k_perp**2)
    both = root(lambda x: [f(determinant(x[0] + 1j * x[1])) for f in (np.real, np.imag)], [begin, -0.05], tol=1e-12)
    return complex(both.x[0], both.x[1])
