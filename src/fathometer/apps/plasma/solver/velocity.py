"""Velocities: species, energies and cosines of the pitch angle; rules of quadrature and matrices along the pitch.

A velocity v is in units of sqrt(T/m) of its species, its energy v²/2 in units of T. The index of a velocity is
(species, energy, cosine), the cosine fastest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre
from scipy.special import erf

Floats = npt.NDArray[np.float64]
FINE = 400  # nodes by which moments of the Maxwellian are integrated


@dataclass(frozen=True)
class Species:
    """Particles of one kind, with their gradients.

    Attributes:
        name: of them. charge: in elementary charges. mass, temperature, density: over those of the reference ions.
        density_gradient, temperature_gradient: R/L_n, R/L_T. collisions: frequency nu of collisions, v_i/R.
        upwind: over what damps a wave of two points of theta as fast as it is carried over one.
    """

    name: str
    charge: float = 1.0
    mass: float = 1.0
    temperature: float = 1.0
    density: float = 1.0
    density_gradient: float = 0.0
    temperature_gradient: float = 0.0
    collisions: float = 0.0
    upwind: float = 1.0

    @property
    def thermal_speed(self) -> float:
        """sqrt(T/m), over that of the reference ions."""
        return math.sqrt(self.temperature / self.mass)


def energy_rule(count: int, largest: float) -> tuple[Floats, Floats]:
    """Speeds and weights that integrate polynomials of v up to degree 2 `count` - 1 exactly, with the weight
    v² exp(-v²/2) up to the energy `largest`; the weights add up to 1. By Stieltjes' recurrence (Gautschi 2004)."""
    x, w = legendre.leggauss(FINE)
    end = math.sqrt(2 * largest)
    v = (x + 1) / 2 * end
    w = w * v**2 * np.exp(-(v**2) / 2)
    a, b = np.zeros(count), np.zeros(count)
    before, now, norm_before = np.zeros(FINE), np.ones(FINE), 1.0
    for k in range(count):
        norm = np.sum(w * now**2)
        a[k], b[k] = np.sum(w * v * now**2) / norm, norm / norm_before
        before, now, norm_before = now, (v - a[k]) * now - (b[k] * before if k else 0.0), norm
    root = np.sqrt(b[1:])
    nodes, vectors = np.linalg.eigh(np.diag(a) + np.diag(root, 1) + np.diag(root, -1))
    return nodes, vectors[0] ** 2


@dataclass(frozen=True)
class VelocityGrid:
    """Energies and cosines of all species.

    Attributes:
        species: which there are. energies, cosines: how many. largest_energy: v²/2 at most.
    """

    species: Sequence[Species]
    energies: int
    cosines: int
    largest_energy: float

    @cached_property
    def _rule(self) -> tuple[Floats, Floats]:
        return energy_rule(self.energies, self.largest_energy)

    @cached_property
    def _cosines(self) -> tuple[Floats, Floats]:
        x, w = legendre.leggauss(self.cosines)
        return x, w

    @property
    def count(self) -> int:
        """Velocities of all species."""
        return len(self.species) * self.energies * self.cosines

    def of_species(self, values: Sequence[float]) -> Floats:
        """A value of each species, by velocity."""
        return np.repeat(np.asarray(values, np.float64), self.energies * self.cosines)

    @cached_property
    def v(self) -> Floats:
        """Size, by velocity."""
        return np.tile(np.repeat(self._rule[0], self.cosines), len(self.species))

    @cached_property
    def xi(self) -> Floats:
        """Cosine of the pitch angle, by velocity."""
        return np.tile(self._cosines[0], len(self.species) * self.energies)

    @cached_property
    def weight(self) -> Floats:
        """Of the Maxwellian, by velocity: they add up to the density of each species."""
        one = np.outer(self._rule[1], self._cosines[1] / 2).reshape(-1)
        return np.concatenate([one * species.density for species in self.species])

    @cached_property
    def thermal(self) -> Floats:
        """sqrt(T/m) of the species, by velocity."""
        return self.of_species([species.thermal_speed for species in self.species])

    @cached_property
    def parallel(self) -> Floats:
        """Speed along the field line, by velocity."""
        return self.thermal * self.v * self.xi

    @cached_property
    def charge(self) -> Floats:
        """Z, by velocity."""
        return self.of_species([species.charge for species in self.species])

    @cached_property
    def temperature(self) -> Floats:
        """T, by velocity."""
        return self.of_species([species.temperature for species in self.species])

    @cached_property
    def mirror(self) -> Floats:
        """[cosine, cosine]: (1 - xi²)/2 d/dxi, its part that is skew for the weights of the cosines: with the part of
        streaming that is skew for 1/B it is all of the motion along the field line, and keeps the free energy."""
        x, w = self._cosines
        modes = legendre.legvander(x, self.cosines - 1)
        slopes = np.stack([legendre.legval(x, legendre.legder(row)) for row in np.eye(self.cosines)], axis=1)
        matrix = ((1 - x**2) / 2)[:, None] * (slopes @ np.linalg.inv(modes))
        return np.ascontiguousarray(0.5 * (matrix - (matrix.T * w) / w[:, None]))

    @cached_property
    def scattering(self) -> Floats:
        """[cosine, cosine]: Lorentz' operator, 1/2 d/dxi (1 - xi²) d/dxi. It keeps the density and the energy, not the
        momentum; Legendre's polynomial of degree l decays at the rate l (l + 1)/2."""
        x, w = self._cosines
        degrees = np.arange(self.cosines)
        modes = legendre.legvander(x, self.cosines - 1) * np.sqrt(degrees + 0.5)
        return np.ascontiguousarray((modes * (-0.5 * degrees * (degrees + 1))) @ (modes.T * w))

    @cached_property
    def frequencies(self) -> Floats:
        """Of pitch-angle scattering, [species, energy], v_i/R: nu (erf(x) - G(x)) / x³ of x = v/sqrt(2) by particles of
        the same kind (G: Chandrasekhar's function), and nu/x³ more of electrons by ions at rest (Helander & Sigmar
        2002, Collisional Transport in Magnetized Plasmas, section 3.3)."""
        x = self._rule[0] / math.sqrt(2)
        chandrasekhar = (erf(x) - 2 / math.sqrt(math.pi) * x * np.exp(-(x**2))) / (2 * x**2)
        like = (erf(x) - chandrasekhar) / x**3
        return np.stack([one.collisions * (like + (x**-3 if one.charge < 0 else 0.0)) for one in self.species])
