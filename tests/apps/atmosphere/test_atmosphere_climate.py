"""The climate of Held and Suarez's forcing at T21 with 20 levels, 1000 days after 200; and a jet of shallow water that
rolls up at T85. Some minutes."""

import numpy as np
import pytest
from atmosphere_support import DAY, STEPS, grid_of, model_of, run
from support import FULL

from fathometer.apps.atmosphere.solver.equations import Planet, Primitive, sigma_levels
from fathometer.apps.atmosphere.solver.physics import Forcing, Physics
from fathometer.apps.atmosphere.solver.starts import Jet, Resting

LEVELS = 20
DAMPING = 2e15  # m⁴/s, of the jet


@pytest.mark.verify
@pytest.mark.skipif(not FULL, reason="some minutes")
def test_the_climate_of_held_and_suarez():
    """Two jets, alike in both hemispheres as far as 1000 days tell; warm below at the equator, coldest above it."""
    step = STEPS[21][0]
    start = Resting(grid_of(21), Primitive(Planet(), *sigma_levels(LEVELS)), 280.0, 1)
    damping = (start.planet.radius**2 / (21 * 22)) ** 2 / (DAY / 2)  # what a run has where it is left out
    model = model_of(start, damping)
    physics = Physics(Forcing(True, False, 0.0, 0.0, 64), start.equations, model.transform)
    physics.begin(model.weather())
    sums, count = np.zeros((16, 2, 2, LEVELS)), 0
    for number in range(round(1200 * DAY / step)):
        physics.force(0.0, 2 * step if number else step)
        rates = model.rates(physics.of_pair, physics.weather_now)
        physics.advance()
        model.leap(rates, step, number == 0)
        if number * step >= 200 * DAY and number % 9 == 0:
            means = physics.weather.mean(axis=2)
            sums += np.stack([means[..., :LEVELS], means[..., 2 * LEVELS : 3 * LEVELS]], axis=2)
            count += 1
    u, temperature = (sums[:, :, n] / count for n in (0, 1))
    jets = u.reshape(16, 2, LEVELS).max(axis=2)
    latitudes = np.array([np.degrees(start.grid.latitude(pair)) for pair in range(16)])
    for half in (0, 1):
        pair = int(jets[:, half].argmax())
        print(f"jet {jets[pair, half]:.1f} m/s at {latitudes[pair, half]:.1f} degrees")
        assert 25 < jets[pair, half] < 32
        assert 33 < abs(latitudes[pair, half]) < 50
    assert abs(jets[:, 0].max() - jets[:, 1].max()) < 2
    assert np.abs(u[:, 0] - u[:, 1]).max() < 5
    equator, pole = temperature[-1].mean(axis=0), temperature[0].mean(axis=0)
    print(f"equator {equator[-1]:.1f} K below, {equator.min():.1f} K least; pole {pole[-1]:.1f} K below")
    assert 295 < equator[-1] < 312
    assert 190 < equator.min() < 215
    assert 245 < pole[-1] < 275
    model.close()


@pytest.mark.verify
@pytest.mark.skipif(not FULL, reason="some minutes")
def test_a_jet_that_rolls_up():
    """Galewsky's, six days, with one damping: extremes of the vorticity, 1e-5/s, come closer as waves are added."""
    extremes = []
    for truncation, step in ((42, 600.0), (63, 400.0), (85, 300.0), (106, 240.0)):
        model = model_of(Jet(grid_of(truncation), Planet(6.37122e6, 7.292e-5), True), DAMPING)
        run(model, step, 6.0)
        vorticity = 1e5 * model.weather()[..., 3]
        extremes.append((vorticity.min(), vorticity.max()))
        print(f"T{truncation}: {vorticity.min():.2f} to {vorticity.max():.2f} 1e-5/s")
        model.close()
    apart = [np.abs(np.subtract(one, extremes[-1])).max() for one in extremes[:-1]]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 0.02 * extremes[-1][1]
