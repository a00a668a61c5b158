"""The baroclinic jet of Polvani, Scott and Thomas: it is in balance and stays; disturbed, its solution converges as
waves are added, by a viscosity that is the same at each truncation."""

import numpy as np
import pytest
from atmosphere_support import STEPS, VISCOSITY, apart, baroclinic_jet, model_of, run, wave_values
from input_values import text_of
from support import FULL

from fathometer.apps.atmosphere.application import APPLICATION
from fathometer.apps.atmosphere.case import case_of
from fathometer.apps.atmosphere.cases import CASES
from fathometer.apps.atmosphere.solver.equations import Primitive, sigma_levels
from fathometer.apps.atmosphere.solver.starts import BaroclinicJet
from fathometer.apps.atmosphere.solver.transform import Grid


def test_the_jet_is_in_balance_with_its_temperatures():
    """Gradients of the temperature, by differences, and those of the wind along z; means of the standard atmosphere."""
    start = BaroclinicJet(Grid(21, 320, 16), Primitive(BaroclinicJet.EARTH, *sigma_levels(400)), False)
    planet, z = start.planet, start.heights
    latitude = start.grid.latitudes_northward[start.grid.pairs :]
    u, _, temperature, _ = (np.array(part) for part in zip(*map(start.weather, range(start.grid.pairs)), strict=True))
    u, warm = u[::-1, 0, 0], temperature[::-1, 0, 0]  # of the north, [latitude, level]
    middle = slice(20, 400)  # levels are far apart above
    rise = np.gradient(u, z, axis=1)[:, middle]
    drop = np.gradient(warm, latitude, axis=0)[:, middle]
    sine, tangent = np.sin(latitude)[:, None], np.tan(latitude)[:, None]
    force = planet.radius * 2 * planet.rotation * sine + 2 * u[:, middle] * tangent
    assert np.abs(drop + start.HEIGHT / planet.gas * force * rise).max() < 0.01 * np.abs(drop).max()
    assert u.max() == pytest.approx(45.2, abs=0.1)
    means = (temperature.mean(axis=2) * start.grid.weights[:, None, None]).sum(axis=(0, 1)) / 2
    assert means[-1] == pytest.approx(288.15 - 0.0065 * z[-1], abs=1e-6)
    assert means[np.abs(z - 15e3).argmin()] == pytest.approx(216.65, abs=1e-6)


def test_the_jet_stays():
    """Two days at T42 without damping, the less so the further levels are apart: those five above 150 hPa by more."""
    model = model_of(baroclinic_jet(42, False))
    before = model.weather()
    run(model, STEPS[42][0], 2.0)
    now = model.weather()
    change = np.abs(now - before)
    above, below, surface = (change[..., part].max() for part in (slice(0, 5), slice(5, 20), -1))
    print(f"u {above:.3f} m/s, below {below:.3f} m/s, p_s {surface:.1f} Pa")
    assert above < 1.5
    assert below < 0.2
    assert surface < 15
    model.close()


@pytest.mark.parametrize("power", [2, 4])
def test_damping_by_a_power(power):
    """Waves of n fall as they should within a step, solid rotation not at all."""
    damping = 1e15 if power == 4 else VISCOSITY
    model = model_of(baroclinic_jet(42, False), damping, power=power)
    model.leap(0 * model.now, 1200.0, True)
    n, square = 30, model.equations.planet.radius**2
    fall = 1200.0 * damping * (n * (n + 1) / square) ** (power // 2)
    assert model._matrices["temperature_damping"][n] == pytest.approx(1 / (1 + fall), rel=1e-12)
    solid = 1200.0 * damping * (2 / square) ** (power // 2)
    assert model._matrices["flow_damping"][n] == pytest.approx(1 / (1 + fall - solid), rel=1e-12)
    assert model._matrices["flow_damping"][1] == 1
    model.close()


def test_damping_of_a_file(tmp_path):
    """Left out, it follows its power: the shortest waves fall by e in half a day. The case has that of the
    publication, and its planet; a run of another power does not go on from it."""
    kept = []
    for power in (2, 4):
        path = tmp_path / f"{power}.toml"
        path.write_text(text_of(wave_values(numerics={"damping_power": power})))
        file = APPLICATION.load(path)
        assert file.damping * (21 * 22 / file.air.radius**2) ** (power // 2) == pytest.approx(1 / 43200.0)
        kept.append(case_of(file).state_input())
    assert kept[0] != kept[1]
    (tmp_path / "jet.toml").write_text(CASES["baroclinic-jet"]())
    file = APPLICATION.load(tmp_path / "jet.toml")
    assert (file.damping, file.numerics.damping_power) == (VISCOSITY, 2)
    assert (file.air.radius, file.air.gravity, file.air.rotation) == (6.371e6, 9.806, 7.292e-5)


@pytest.mark.verify
@pytest.mark.skipif(not FULL, reason="some minutes")
def test_a_jet_that_breaks_up_converges():
    """Twelve days with one viscosity and one step, 600 s, so that waves alone are more: l2 of surface pressure, hPa,
    and of the lowest level's vorticity, 1e-5/s, to the truncation before."""
    models, off = [], []
    for truncation in (42, 63, 85, 106):
        model = model_of(baroclinic_jet(truncation, True), VISCOSITY, power=2)
        models.append(run(model, 600.0, 12.0))
        vorticity, pressure = 1e5 * model.weather()[..., 4 * 20 - 1], model.weather()[..., -1] / 100
        print(f"T{truncation}: {vorticity.min():.2f} to {vorticity.max():.2f} 1e-5/s, {pressure.min():.2f} hPa")
        for before in models[-2:-1]:
            off.append([apart(before, model, -1) / 100, 1e5 * apart(before, model, 4 * 20 - 1)])
            print(f"    to the one before {off[-1][0]:.4f} hPa, {off[-1][1]:.4f} 1e-5/s")
    for model in models:
        model.close()
    falls = np.divide(off[1:], off[:-1])
    assert np.all(falls < 0.5)
