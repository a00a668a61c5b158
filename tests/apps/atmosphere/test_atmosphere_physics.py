"""Forcing of columns of air: the formulas of Held and Suarez, energy of radiation, mixing by convection, the sun."""

import numpy as np
import pytest
from atmosphere_support import DAY, transform_of

from fathometer.apps.atmosphere.solver.equations import Planet, Primitive, cam_levels, sigma_levels
from fathometer.apps.atmosphere.solver.physics import Forcing, Physics

PLANET = Planet()
SIGMA = 5.670374419e-8


def physics_of(levels=20, relaxation=False, convection=False, declination=0.0):
    interfaces = cam_levels() if levels == 26 else sigma_levels(levels)
    equations = Primitive(PLANET, *interfaces)
    transform = transform_of(21, 1)
    return Physics(Forcing(relaxation, convection, 1365.0, declination, 7), equations, transform), equations


def fill(physics, seed=1):
    """Random winds, temperatures that fall upward, surface pressures."""
    random = np.random.default_rng(seed)
    levels = physics.forcing.shape[-1] // 3
    shape = physics.weather.shape[:-1]
    physics.weather[..., : 2 * levels] = random.normal(0, 20, (*shape, 2 * levels))
    profile = np.linspace(210, 290, levels) + random.normal(0, 3, (*shape, levels))
    physics.weather[..., 2 * levels : 3 * levels] = profile
    physics.weather[..., -1] = random.uniform(9.5e4, 1.03e5, shape)
    return levels


def parts(physics, levels):
    weather, forcing = physics.weather, physics.forcing
    return [weather[..., n * levels : (n + 1) * levels] for n in range(3)], [
        forcing[..., n * levels : (n + 1) * levels] for n in range(3)
    ]


def test_relaxation_is_that_of_held_and_suarez():
    physics, equations = physics_of(relaxation=True)
    levels = fill(physics)
    physics.force(0.0, 2400.0)
    (u, v, temperature), (du, dv, dt) = parts(physics, levels)
    surface = physics.weather[..., -1]
    p = equations.full(surface)
    sine = np.stack([physics._transform.grid.sines, -physics._transform.grid.sines], axis=1)[:, :, None, None]
    square, cosine = sine**2, 1 - sine**2
    low = np.maximum(0, (p / surface[..., None] - 0.7) / 0.3)
    wanted = np.maximum(200, (315 - 60 * square - 10 * np.log(p / 1e5) * cosine) * (p / 1e5) ** (2 / 7))
    rate = 1 / (40 * DAY) + (1 / (4 * DAY) - 1 / (40 * DAY)) * low * cosine**2
    assert np.allclose(dt, -rate * (temperature - wanted), rtol=1e-12, atol=1e-18)
    assert np.allclose(du, -low / DAY * u, rtol=1e-12, atol=1e-18)
    assert np.allclose(dv, -low / DAY * v, rtol=1e-12, atol=1e-18)


@pytest.mark.parametrize("levels", [20, 26])
@pytest.mark.parametrize("convection", [False, True])
def test_energy_of_radiation_is_accounted_for(levels, convection):
    """What columns gain is what the sun brings, less what goes to space and into the ground; mixing keeps it."""
    physics, equations = physics_of(levels, convection=convection)
    fill(physics)
    physics.force(0.3 * DAY, 2400.0)
    _, (_, _, dt) = parts(physics, levels)
    thick = np.diff(equations.half(physics.weather[..., -1]), axis=-1)
    gained = (PLANET.heat / PLANET.gravity * thick * dt).sum(axis=-1)
    out, sun, ground, joined = (physics.results[..., n] for n in range(4))
    assert np.abs(gained - (sun - out - ground)).max() < 1e-9 * sun.max()
    day = physics.sun(0.3 * DAY).reshape(sun.shape) > 0
    assert np.all((sun > 0) == day)
    assert 0.49 < day.mean() < 0.51
    assert (joined.max() > 0) == convection


def test_air_as_warm_as_the_ground_radiates_as_that():
    physics, _ = physics_of(20)
    levels = fill(physics)
    sines = np.stack([physics._transform.grid.sines, -physics._transform.grid.sines], axis=1)[:, :, None]
    ground = np.broadcast_to(302 - 48 * sines**2, physics.weather.shape[:-1])
    physics.weather[..., 2 * levels : 3 * levels] = ground[..., None]
    physics.force(0.0, 2400.0)
    assert np.allclose(physics.results[..., 0], SIGMA * ground**4, rtol=1e-13)
    # Without a window the ground gains nothing by longwave from deep air; by night that is all there is.
    night = physics.sun(0.0).reshape(ground.shape) <= 0
    depth = 6 + (1.5 - 6) * np.broadcast_to(sines**2, ground.shape)
    assert np.allclose(physics.results[..., 2][night], (-SIGMA * ground**4 * np.exp(-depth))[night], rtol=1e-10)


def test_convection_leaves_air_neutral_and_stable_air_alone():
    physics, equations = physics_of(20, relaxation=True, convection=True)
    levels = fill(physics)
    plain, _ = physics_of(20, relaxation=True)
    plain.weather[...] = physics.weather
    interval = 4800.0
    for one in (physics, plain):
        one.force(0.0, interval)
    (_, _, temperature), (*_, mixed) = parts(physics, levels)
    *_, (*_, alone) = parts(plain, levels)
    exner = (equations.full(physics.weather[..., -1]) / 1e5) ** PLANET.kappa
    before, after = ((temperature + interval * rate) / exner for rate in (alone, mixed))
    assert np.diff(before, axis=-1).max() > 1
    assert np.diff(after, axis=-1).max() < 1e-8
    stable = np.diff(before, axis=-1).max(axis=-1) < 0
    assert np.array_equal(mixed[stable], alone[stable])
    assert np.all((physics.results[..., 3] == 0) == stable)


def test_the_sun_moves_westward_and_stands_over_its_latitude():
    physics, _ = physics_of(2, declination=np.radians(23.0))
    shape = physics.weather.shape[:-1]
    latitudes = np.array([physics._transform.grid.latitude(pair) for pair in range(shape[0])])
    for hour in (0, 6, 12):
        sun = physics.sun(hour * 3600.0).reshape(shape)
        pair, half, east = np.unravel_index(sun.argmax(), shape)
        assert np.degrees(latitudes[pair, half]) == pytest.approx(23, abs=3)
        assert np.degrees(physics._transform.grid.longitude[east]) == pytest.approx(-15 * hour % 360, abs=3)
    assert np.all(sun[0, 0] > 0)
    assert np.all(sun[0, 1] < 0)
