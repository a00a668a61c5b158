"""The equations of a model of the atmosphere: levels, what is computed on the grid, what is implicit in time.

Primitive equations on hybrid levels (Simmons & Burridge 1981, Mon. Weather Rev. 109, 758), semi-implicit (Hoskins &
Simmons 1975, Q. J. R. Meteorol. Soc. 101, 637); or shallow water, as one level whose temperature is the geopotential of
its surface over the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fathometer import _native

Floats = npt.NDArray[np.float64]
REFERENCE = 300.0  # K, of the implicit part
PRESSURE = 1e5  # Pa

# 26 hybrid levels of the Community Atmosphere Model: A over 1000 hPa, and B, at the interfaces from the top down.
CAM_A = (
    *(0.002194067, 0.004895209, 0.009882418, 0.01805201, 0.02983724, 0.04462334, 0.06160587, 0.07851243, 0.07731271),
    *(0.07590131, 0.07424086, 0.07228744, 0.06998933, 0.06728574, 0.06410509, 0.06036322, 0.05596111, 0.05078225),
    *(0.0446896, 0.03752191, 0.02908949, 0.02084739, 0.01334443, 0.00708499, 0.00252136, 0.0, 0.0),
)
CAM_B = (
    *(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01505309, 0.03276228, 0.05359622, 0.07810627, 0.1069411, 0.1408637),
    *(0.180772, 0.227722, 0.2829562, 0.3479364, 0.4243822, 0.5143168, 0.6201202, 0.7235355, 0.8176768, 0.8962153),
    *(0.9534761, 0.9851122, 1.0),
)


@dataclass(frozen=True)
class Planet:
    """radius: m. rotation: 1/s. gravity: m/s². gas: R of dry air, J/kg/K. kappa: R / c_p."""

    radius: float = 6.371229e6
    rotation: float = 7.29212e-5
    gravity: float = 9.80616
    gas: float = 287.0
    kappa: float = 2 / 7

    @property
    def heat(self) -> float:
        """c_p, J/kg/K."""
        return self.gas / self.kappa


@dataclass(frozen=True, eq=False)
class Implicit:
    """What is implicit: d(div)/dt = -lap(G T + gas q), dT/dt = -tau div, dq/dt = -nu div, where q is ln p_s.

    hydrostatic: G [level, level]. energy: tau. mass: nu [level]. gas: R T_ref.
    """

    hydrostatic: Floats
    energy: Floats
    mass: Floats
    gas: float

    def inverse(self, truncation: int, radius: float, dt: float) -> Floats:
        """[n, level, level], columns first: of 1 + dt² n (n + 1) / a² (G tau + R T_ref 1 nu)."""
        n = np.arange(truncation + 1)[:, None, None]
        levels = len(self.mass)
        waves = self.hydrostatic @ self.energy + self.gas * np.outer(np.ones(levels), self.mass)
        found = np.linalg.inv(np.eye(levels) + dt**2 * n * (n + 1) / radius**2 * waves)
        return np.ascontiguousarray(found.transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class Primitive:
    """Dry primitive equations. a: Pa, b, at the interfaces of levels from the top down: pressures are a + b p_s."""

    planet: Planet
    a: Floats
    b: Floats

    SHALLOW = False

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.a) - 1

    @cached_property
    def kernel(self) -> _native.AtmosphereColumns:
        """What is computed on the grid."""
        return _native.AtmosphereColumns(a=self.a, b=self.b, gas=self.planet.gas, kappa=self.planet.kappa)

    def half(self, surface: Floats) -> Floats:
        """Pressures at the interfaces [..., interface] over surface pressures, Pa."""
        return np.asarray(self.a + self.b * surface[..., None])

    def full(self, surface: Floats) -> Floats:
        """Pressures of the levels, means of those of their interfaces."""
        half = self.half(surface)
        return np.asarray(0.5 * (half[..., 1:] + half[..., :-1]))

    @cached_property
    def implicit(self) -> Implicit:
        """Of waves around a resting atmosphere of 300 K under 1000 hPa."""
        half = self.a + self.b * PRESSURE
        thick = np.diff(half)
        with np.errstate(divide="ignore"):
            ratio = np.log(half[1:] / half[:-1])
        alpha = 1 - half[:-1] / thick * np.where(half[:-1] > 0, ratio, 0.0)
        if half[0] == 0:
            ratio[0], alpha[0] = 0.0, np.log(2.0)
        gas, kappa = self.planet.gas, self.planet.kappa
        hydrostatic = gas * (np.triu(np.broadcast_to(ratio, (self.levels, self.levels)), 1) + np.diag(alpha))
        lower = np.tril(np.outer(ratio / thick, thick), -1) + np.diag(alpha)
        return Implicit(hydrostatic, kappa * REFERENCE * lower, thick / PRESSURE, gas * REFERENCE)


@dataclass(frozen=True, eq=False)
class Shallow:
    """Shallow water. geopotential: of the mean depth, m²/s²."""

    planet: Planet
    geopotential: float

    SHALLOW = True
    levels = 1

    @cached_property
    def kernel(self) -> _native.AtmosphereColumns:
        """What is computed on the grid."""
        return _native.AtmosphereColumns()

    @property
    def implicit(self) -> Implicit:
        """Of waves on water of the mean depth."""
        return Implicit(np.ones((1, 1)), np.full((1, 1), self.geopotential), np.zeros(1), 0.0)


Equations = Primitive | Shallow


def columns_of(levels: int) -> tuple[int, int, int]:
    """Of coefficients of the state, of what is brought to the grid in a step, and of what comes back."""
    return 3 * levels + 1, 5 * levels + 3, 6 * levels + 1


def sigma_levels(count: int) -> tuple[Floats, Floats]:
    """a and b of levels of the same share of the surface pressure each."""
    return np.zeros(count + 1), np.arange(count + 1) / count


def cam_levels() -> tuple[Floats, Floats]:
    """a and b of the 26 levels of the Community Atmosphere Model."""
    return np.array(CAM_A) * PRESSURE, np.array(CAM_B)
