"""States at the beginning, on the latitudes of a pair: winds, temperature, surface pressure, and the ground.

Shallow water has the geopotential of its depth in place of a temperature, and a surface pressure of 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fathometer.apps.atmosphere.solver.equations import PRESSURE, Equations, Planet, Primitive, Shallow
from fathometer.apps.atmosphere.solver.transform import Grid

Floats = npt.NDArray[np.float64]
Weather = tuple[Floats, Floats, Floats, Floats]
DAY = 86400.0


class Start(ABC):
    """A beginning on a grid."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    @property
    @abstractmethod
    def equations(self) -> Equations:
        """What it is a beginning of."""

    @property
    def planet(self) -> Planet:
        """Whose atmosphere."""
        return self.equations.planet

    @abstractmethod
    def weather(self, pair: int) -> Weather:
        """u, v, m/s, and T, K, [hemisphere, longitude, level], p_s, Pa, [hemisphere, longitude]."""

    def ground(self, pair: int) -> Floats:
        """Geopotential of the ground, m²/s², [hemisphere, longitude]."""
        return np.zeros((2, self.grid.longitudes))

    def _places(self, pair: int) -> tuple[Floats, Floats]:
        """Latitude [hemisphere, 1], longitude [longitude], radians."""
        return self.grid.latitude(pair)[:, None], self.grid.longitude


class Resting(Start):
    """Air at rest and of one temperature, with waves of no more than a tenth of a kelvin, by a seed."""

    def __init__(self, grid: Grid, equations: Primitive, temperature: float, seed: int) -> None:
        super().__init__(grid)
        self._equations, self._temperature, self._seed = equations, temperature, seed

    @property
    def equations(self) -> Primitive:
        """Primitive ones."""
        return self._equations

    def weather(self, pair: int) -> Weather:
        """Noise of each pair has a seed of its own."""
        shape = (2, self.grid.longitudes, self._equations.levels)
        noise = np.random.default_rng([self._seed, pair]).uniform(-0.1, 0.1, shape)
        still = np.zeros(shape)
        return still, still, self._temperature + noise, np.full(shape[:2], PRESSURE)


class _JetsOfAir(Start):
    """Jets that a disturbance makes break up."""

    def __init__(self, grid: Grid, equations: Primitive, disturbed: bool) -> None:
        super().__init__(grid)
        self._equations, self._disturbed = equations, disturbed

    @property
    def equations(self) -> Primitive:
        """Primitive ones."""
        return self._equations


class BaroclinicWave(_JetsOfAir):
    """A steady jet in each hemisphere, which a weak wind at one place makes break up (Jablonowski & Williamson 2006,
    Q. J. R. Meteorol. Soc. 132, 2943). disturbed: with that wind."""

    SPEED, ETA, LAPSE, STRATOSPHERE, TROPOPAUSE, MEAN = 35.0, 0.252, 0.005, 4.8e5, 0.2, 288.0
    PUSH, WIDTH, AT = 1.0, 0.1, (math.pi / 9, 2 * math.pi / 9)

    def _by_latitude(self, latitude: Floats) -> tuple[Floats, Floats]:
        sine, cosine = np.sin(latitude), np.cos(latitude)
        return (
            -2 * sine**6 * (cosine**2 + 1 / 3) + 10 / 63,
            1.6 * cosine**3 * (sine**2 + 2 / 3) - math.pi / 4,
        )

    def weather(self, pair: int) -> Weather:
        """Wind along latitudes alone."""
        latitude, longitude = self._places(pair)
        planet, speed = self.planet, self.SPEED
        eta = self._equations.full(np.array(PRESSURE)) / PRESSURE
        angle = (eta - self.ETA) * math.pi / 2
        jet = np.cos(angle) ** 1.5
        u = np.repeat((speed * jet * np.sin(2 * latitude) ** 2)[:, None], self.grid.longitudes, axis=1)
        mean = self.MEAN * eta ** (planet.gas * self.LAPSE / planet.gravity)
        mean = mean + self.STRATOSPHERE * np.maximum(self.TROPOPAUSE - eta, 0.0) ** 5
        x, y = self._by_latitude(latitude)
        shear = 0.75 * eta * math.pi * speed / planet.gas * np.sin(angle) * np.sqrt(np.cos(angle))
        temperature = mean + shear * (x * 2 * speed * jet + y * planet.radius * planet.rotation)
        temperature = np.repeat(temperature[:, None], self.grid.longitudes, axis=1)
        if self._disturbed:
            lon, lat = self.AT
            cosine = np.sin(lat) * np.sin(latitude) + np.cos(lat) * np.cos(latitude) * np.cos(longitude - lon)
            distance = np.arccos(np.clip(cosine, -1, 1))
            u = u + self.PUSH * np.exp(-((distance / self.WIDTH) ** 2))[..., None]
        return u, np.zeros_like(u), temperature, np.full(u.shape[:2], PRESSURE)

    def ground(self, pair: int) -> Floats:
        """That on which the surface pressure is the same everywhere."""
        latitude, longitude = self._places(pair)
        jet = math.cos((1 - self.ETA) * math.pi / 2) ** 1.5
        x, y = self._by_latitude(latitude)
        found = self.SPEED * jet * (x * self.SPEED * jet + y * self.planet.radius * self.planet.rotation)
        return np.asarray(found + np.zeros_like(longitude))


class BaroclinicJet(_JetsOfAir):
    """A jet of the northern hemisphere over a level ground, which a warm place makes break up (Polvani, Scott & Thomas
    2004, Mon. Weather Rev. 132, 2539). disturbed: with that place.

    u = SPEED F(z) sin³(pi sin² phi) north of the equator, z = -HEIGHT ln(p / p_s), and

        F = (1 - tanh³((z - TOP) / DEPTH)) sin(pi z / ZERO) / 2
        dT/dphi = -HEIGHT / R (2 a Omega sin phi + 2 u tan phi) du/dz
        T' = PUSH sech²(lon / LONG) sech²((phi - AT) / WIDE)

    with the US standard atmosphere as the mean of T over the globe at each z. Constants as in two programs that have
    this beginning: polvani_2004.F90 of the Flexible Modeling System, baroclinic_inst_mod of HOMME.
    """

    EARTH = Planet(6.371e6, 7.292e-5, 9.806, 287.0, 2 / 7)
    SPEED, HEIGHT, TOP, DEPTH, ZERO = 50.0, 7340.0, 22e3, 5e3, 30e3
    PUSH, LONG, WIDE, AT = 1.0, 1 / 3, 1 / 6, math.pi / 4
    # Of the standard atmosphere: m, and K there; linear in between.
    ALTITUDES = (0.0, 11e3, 20e3, 32e3, 47e3, 51e3, 71e3, 84.852e3)
    STANDARD = (288.15, 216.65, 216.65, 228.65, 270.65, 270.65, 214.65, 186.946)
    POINTS = 200  # of Gauss's quadrature over latitudes

    @cached_property
    def heights(self) -> Floats:
        """z of the levels, m."""
        return np.asarray(-self.HEIGHT * np.log(self._equations.full(np.array(PRESSURE)) / PRESSURE))

    @cached_property
    def _profile(self) -> tuple[Floats, Floats]:
        """F and dF/dz, 1/m, of the levels."""
        turn = np.tanh((self.heights - self.TOP) / self.DEPTH)
        wave = math.pi / self.ZERO
        sine, cosine = np.sin(wave * self.heights), np.cos(wave * self.heights)
        slope = -3 * turn**2 * (1 - turn**2) / self.DEPTH
        return 0.5 * (1 - turn**3) * sine, 0.5 * (slope * sine + (1 - turn**3) * wave * cosine)

    @staticmethod
    def _across(latitude: Floats) -> Floats:
        """sin³(pi sin² phi) in the north, 0 in the south."""
        return np.where(latitude > 0, np.sin(math.pi * np.sin(latitude) ** 2) ** 3, 0.0)

    def _integrands(self, latitude: Floats) -> Floats:
        """[2, ...]: what the integrals over latitude of dT/dphi are of, but for factors that depend on z alone."""
        jet = self._across(latitude)
        return np.stack([np.sin(latitude) * jet, np.tan(latitude) * jet**2])

    @cached_property
    def _means(self) -> Floats:
        """[2]: of those integrals over the globe. By parts, that of t(phi) with t = 0 in the south is the integral of
        dt/dphi (1 - sin phi) / 2 over the north."""
        nodes, weights = np.polynomial.legendre.leggauss(self.POINTS)
        at = (nodes + 1) * math.pi / 4
        return np.asarray((self._integrands(at) * (1 - np.sin(at)) * weights).sum(axis=-1) * math.pi / 8)

    def _temperature(self, latitude: Floats) -> Floats:
        """Without the warm place: [hemisphere, 1, level] on [hemisphere, 1]."""
        nodes, weights = np.polynomial.legendre.leggauss(self.POINTS)
        end = np.maximum(latitude, 0.0)[..., None]
        integrals = (self._integrands(end * (nodes + 1) / 2) * weights).sum(axis=-1) * end[..., 0] / 2
        turning, curving = integrals - self._means[:, None, None]
        shape, slope = self._profile
        planet, speed = self.planet, self.SPEED
        turning = 2 * planet.radius * planet.rotation * speed * slope * turning[..., None]
        curving = 2 * speed**2 * shape * slope * curving[..., None]
        mean = np.interp(self.heights, self.ALTITUDES, self.STANDARD)
        return np.asarray(mean - self.HEIGHT / planet.gas * (turning + curving))

    def weather(self, pair: int) -> Weather:
        """Wind along latitudes alone."""
        latitude, longitude = self._places(pair)
        shape = (2, self.grid.longitudes, self._equations.levels)
        u = np.broadcast_to(self.SPEED * self._across(latitude)[..., None] * self._profile[0], shape)
        temperature = np.broadcast_to(self._temperature(latitude), shape)
        if self._disturbed:
            east = np.where(longitude > math.pi, longitude - 2 * math.pi, longitude)
            place = np.cosh(east / self.LONG) * np.cosh((latitude - self.AT) / self.WIDE)
            temperature = temperature + (self.PUSH / place**2)[..., None]
        return u, np.zeros(shape), temperature, np.full(shape[:2], PRESSURE)


class ShallowStart(Start):
    """Of shallow water."""

    def __init__(self, grid: Grid, planet: Planet) -> None:
        super().__init__(grid)
        self._planet = planet

    def _shallow(self, u: Floats, v: Floats, geopotential: Floats) -> Weather:
        shape = (2, self.grid.longitudes)
        found = [np.broadcast_to(part, shape)[..., None] for part in (u, v, geopotential)]
        return found[0], found[1], found[2], np.ones(shape)


class SteadyZonal(ShallowStart):
    """Shallow water that turns with the planet, and stays as it is (Williamson et al. 1992, J. Comput. Phys. 102, 211,
    case 2)."""

    GEOPOTENTIAL, PERIOD = 2.94e4, 12 * DAY

    @cached_property
    def equations(self) -> Shallow:
        """Shallow water."""
        return Shallow(self._planet, self.GEOPOTENTIAL)

    def weather(self, pair: int) -> Weather:
        """The same for all longitudes."""
        latitude, _ = self._places(pair)
        planet, speed = self.planet, self.speed
        drop = planet.radius * planet.rotation * speed + speed**2 / 2
        height = self.equations.geopotential - drop * np.sin(latitude) ** 2
        return self._shallow(speed * np.cos(latitude), np.zeros(1), height)

    @property
    def speed(self) -> float:
        """At the equator, m/s."""
        return 2 * math.pi * self.planet.radius / self.PERIOD


class Zonal(SteadyZonal):
    """The same on less water and more slowly, which meets a mountain (Williamson et al. 1992, case 5)."""

    DEPTH, SPEED = 5960.0, 20.0

    @cached_property
    def equations(self) -> Shallow:
        """Shallow water."""
        return Shallow(self._planet, self._planet.gravity * self.DEPTH)

    @property
    def speed(self) -> float:
        """At the equator."""
        return self.SPEED


class RossbyHaurwitz(ShallowStart):
    """A wave of four periods that moves eastward (Williamson et al. 1992, case 6)."""

    DEPTH, RATE, WAVES = 8000.0, 7.848e-6, 4

    @cached_property
    def equations(self) -> Shallow:
        """Shallow water."""
        return Shallow(self._planet, self._planet.gravity * self.DEPTH)

    def weather(self, pair: int) -> Weather:
        """Nearly steady but for its motion."""
        latitude, longitude = self._places(pair)
        planet, w, r = self.planet, self.RATE, self.WAVES
        a, sine, cosine = planet.radius, np.sin(latitude), np.cos(latitude)
        wave = np.cos(r * longitude)
        u = a * w * cosine + a * w * cosine ** (r - 1) * (r * sine**2 - cosine**2) * wave
        v = -a * w * r * cosine ** (r - 1) * sine * np.sin(r * longitude)
        mean = w / 2 * (2 * planet.rotation + w) * cosine**2
        mean = mean + w**2 / 4 * cosine ** (2 * r) * ((r + 1) * cosine**2 + (2 * r**2 - r - 2) - 2 * r**2 / cosine**2)
        once = 2 * (planet.rotation + w) * w / ((r + 1) * (r + 2)) * cosine**r
        once = once * ((r**2 + 2 * r + 2) - (r + 1) ** 2 * cosine**2)
        twice = w**2 / 4 * cosine ** (2 * r) * ((r + 1) * cosine**2 - (r + 2))
        height = planet.gravity * self.DEPTH + a**2 * (mean + once * wave + twice * np.cos(2 * r * longitude))
        return self._shallow(u, v, height)


class Jet(ShallowStart):
    """A jet of the northern hemisphere that rolls up after a hill of water (Galewsky, Scott & Polvani 2004, Tellus 56A,
    429). disturbed: with that hill."""

    SPEED, SOUTH, DEPTH = 80.0, math.pi / 7, 1e4
    HILL, LONG, WIDE, AT = 120.0, 1 / 3, 1 / 15, math.pi / 4
    POINTS = 200  # of Gauss's quadrature over the jet

    def __init__(self, grid: Grid, planet: Planet, disturbed: bool) -> None:
        super().__init__(grid, planet)
        self._disturbed = disturbed

    @cached_property
    def equations(self) -> Shallow:
        """Shallow water."""
        return Shallow(self._planet, self._planet.gravity * self.DEPTH)

    def _speed(self, latitude: Floats) -> Floats:
        south, north = self.SOUTH, math.pi / 2 - self.SOUTH
        inside = (latitude > south) & (latitude < north)
        product = np.where(inside, (latitude - south) * (latitude - north), -1.0)
        peak = math.exp(-4 / (north - south) ** 2)
        return np.where(inside, self.SPEED / peak * np.exp(1 / product), 0.0)

    def _drop(self, latitude: Floats) -> Floats:
        """How much lower the geopotential is than south of the jet."""
        nodes, weights = np.polynomial.legendre.leggauss(self.POINTS)
        end = np.clip(latitude, self.SOUTH, math.pi / 2 - self.SOUTH)[..., None]
        at = self.SOUTH + (end - self.SOUTH) * (nodes + 1) / 2
        speed, planet = self._speed(at), self.planet
        force = planet.radius * speed * (2 * planet.rotation * np.sin(at) + np.tan(at) * speed / planet.radius)
        return np.asarray((force * weights).sum(axis=-1) * (end[..., 0] - self.SOUTH) / 2)

    @cached_property
    def _south(self) -> float:
        """The geopotential south of the jet, whose global mean is that of the depth."""
        latitudes = np.array([self.grid.latitude(pair) for pair in range(self.grid.pairs)])
        mean = float((self._drop(latitudes) * self.grid.weights[:, None]).sum() / 2)
        return self.planet.gravity * self.DEPTH + mean

    def weather(self, pair: int) -> Weather:
        """Balanced but for the hill."""
        latitude, longitude = self._places(pair)
        height = self._south - self._drop(latitude) + np.zeros_like(longitude)
        if self._disturbed:
            east = np.where(longitude > math.pi, longitude - 2 * math.pi, longitude)
            far = (east / self.LONG) ** 2 + ((self.AT - latitude) / self.WIDE) ** 2
            height = height + self.planet.gravity * self.HILL * np.cos(latitude) * np.exp(-far)
        return self._shallow(self._speed(latitude), np.zeros(1), height)
