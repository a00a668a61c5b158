"""Shallow water against exact solutions and published waves."""

import numpy as np
import pytest
from atmosphere_support import DAY, grid_of, mean, model_of, run, transform_of

from fathometer.apps.atmosphere.application import APPLICATION
from fathometer.apps.atmosphere.case import case_of
from fathometer.apps.atmosphere.cases import CASES
from fathometer.apps.atmosphere.solver.equations import Planet
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.apps.atmosphere.solver.starts import Jet, RossbyHaurwitz, SteadyZonal
from fathometer.apps.atmosphere.solver.sums import Diagnostics

EARTH = Planet(6.37122e6, 7.292e-5)


def height(model):
    return model.weather()[..., 2] / model.equations.planet.gravity


def test_a_flow_that_turns_with_the_planet_stays(monkeypatch):
    """Williamson's case 2, five days at T42."""
    model = model_of(SteadyZonal(grid_of(42), EARTH))
    before = height(model)
    run(model, 1200.0, 5.0)
    change = height(model) - before
    assert np.sqrt(mean(model, change**2) / mean(model, before**2)) < 1e-9
    model.close()


def test_a_jet_without_a_hill_stays():
    """Galewsky's jet is balanced as far as its waves are resolved."""
    model = model_of(Jet(grid_of(85), EARTH, False), 1e14)
    assert mean(model, height(model)) == pytest.approx(10_000, rel=1e-12)
    before = model.weather()[..., 0]
    run(model, 300.0, 1.0)
    change = model.weather()[..., 0] - before
    assert np.abs(change).max() < 0.5
    model.close()


def test_a_rossby_haurwitz_wave_moves_as_published():
    """Williamson's case 6: eastward by (R (3 + R) w - 2 Omega) / ((1 + R) (2 + R)), without divergence; on water of 8
    km it is slower by some, but keeps its shape."""
    model = model_of(RossbyHaurwitz(grid_of(42), EARTH), 0.0)
    waves, rate = RossbyHaurwitz.WAVES, RossbyHaurwitz.RATE

    def phase():
        values = height(model)
        middle = np.fft.rfft(values[model.transform.grid.pairs // 2], axis=-1)[0, waves]
        return np.angle(middle), np.abs(middle)

    before, size = phase()
    run(model, 900.0, 1.0)
    after, now = phase()
    turned = (before - after) % (2 * np.pi) / waves / DAY
    published = (waves * (3 + waves) * rate - 2 * EARTH.rotation) / ((1 + waves) * (2 + waves))
    assert 0.8 * published < turned < published
    assert now == pytest.approx(size, rel=0.05)
    model.close()


def test_a_flow_meets_a_mountain(tmp_path):
    """Williamson's case 5, 15 days: mass is kept, energy nearly, and waves follow in the north."""
    path = tmp_path / "run.toml"
    path.write_text(CASES["mountain"]())
    case = case_of(APPLICATION.load(path))
    assert case.heights.max() == pytest.approx(2000, abs=150)
    model = SpectralModel(case.equations, transform_of(42), case.ground, case.file.damping)
    model.begin(case.weather)
    means = Diagnostics(model)
    first = means(model.weather())
    run(model, 1200.0, 15.0)
    weather = model.weather()
    last = means(weather)
    assert abs(last.mass / first.mass - 1) < 1e-13
    assert abs(last.energy / first.energy - 1) < 2e-5
    ground = model.transform.to_grid(model.surface)[..., 0]
    surface = (weather[..., 2] + ground) / case.equations.planet.gravity
    assert 5000 < surface.min() < 5150
    assert 5900 < surface.max() < 6000
    waves = surface[:, 0].std(axis=-1)
    assert waves.max() > 50
    model.close()


def test_gravity_waves_have_their_frequency():
    """A small hump on water at rest on a planet that does not turn: omega² = Phi n (n + 1) / a²."""
    planet = Planet(6.37122e6, 0.0)

    class Hump(SteadyZonal):
        DEGREE = 5

        def weather(self, pair):
            latitude, _ = self._places(pair)
            values = np.polynomial.legendre.legval(np.sin(latitude), [0] * self.DEGREE + [1])
            still = np.zeros(1)
            return self._shallow(still + 0 * latitude, still, self.GEOPOTENTIAL + 0.01 * values)

    model = model_of(Hump(grid_of(21), planet), transform=transform_of(21))
    omega = np.sqrt(Hump.GEOPOTENTIAL * Hump.DEGREE * (Hump.DEGREE + 1)) / planet.radius
    row = int(np.flatnonzero((model.transform.orders == 0) & (model.transform.degrees == Hump.DEGREE))[0])
    size = model.now[row, 2].real
    step = 2 * np.pi / omega / 400
    model._filter = 0.0
    for number in range(100):  # a quarter of a period
        model.leap(model.rates(), step, number == 0)
    assert abs(model.now[row, 2].real) < 1e-3 * abs(size)
    for _ in range(100):
        model.leap(model.rates(), step, False)
    assert model.now[row, 2].real == pytest.approx(-size, rel=1e-3)
    model.close()
