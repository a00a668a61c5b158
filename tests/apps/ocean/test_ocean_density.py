"""The equation of state against published numbers, and hydrostatic pressure against its integral."""

import numpy as np
import pytest
from ocean_blocks import HALO, Sea, basin

from fathometer import _native
from fathometer.apps.ocean.solver.baroclinic import density
from fathometer.apps.ocean.solver.physics import Physics, StateEquation

WRIGHT = Physics(state_equation=StateEquation.WRIGHT)


def unesco_surface(t, s):
    """Density at atmospheric pressure, EOS-80 (UNESCO 1981, Tech. Papers in Marine Science 36)."""
    water = np.polyval([6.536332e-9, -1.120083e-6, 1.001685e-4, -9.095290e-3, 6.793952e-2, 999.842594], t)
    linear = np.polyval([5.3875e-9, -8.2467e-7, 7.6438e-5, -4.0899e-3, 8.24493e-1], t)
    root = np.polyval([-1.6546e-6, 1.0227e-4, -5.72466e-3], t)
    return water + linear * s + root * s**1.5 + 4.8314e-4 * s**2


def test_unesco_check_values():
    """The plain formula gives the numbers that UNESCO publishes for it."""
    assert unesco_surface(5.0, 35.0) == pytest.approx(1027.67547, abs=1e-5)
    assert unesco_surface(25.0, 35.0) == pytest.approx(1023.34306, abs=1e-5)


def test_density_at_the_surface():
    """Within 0.008 kg/m³ of EOS-80 in all the range of the fit."""
    t, s = np.meshgrid(np.linspace(-2, 30, 65), np.linspace(28, 38, 41))
    assert np.abs(density(WRIGHT, t, s, np.zeros(())) - unesco_surface(t, s)).max() < 8e-3


def test_density_under_pressure():
    """Jackett & McDougall (1995): 1041.83267 kg/m³ at 3 °C of potential temperature, 35.5, and 3000 dbar. MOM6 tests
    its own code of this fit with 1027.54303596346 at 25 °C, 35 and 1e7 Pa."""
    assert density(WRIGHT, 3.0, 35.5, 3e7) == pytest.approx(1041.83267, abs=5e-3)
    assert density(WRIGHT, 25.0, 35.0, 1e7) == pytest.approx(1027.54303596346, abs=1e-10)


def test_linear_density():
    physics = Physics(density=1000, expansion=2e-4, contraction=8e-4, reference_temperature=10, reference_salinity=35)
    assert density(physics, 12.0, 34.0, 1e7) == pytest.approx(1000 * (1 - 4e-4 - 8e-4), rel=1e-14)


def test_wrong_lengths():
    three, two = np.zeros(3), np.zeros(2)
    with pytest.raises(ValueError, match=r"salinity has the shape \(2\), not \(3\)"):
        _native.ocean_density(three, two, three, three.copy())


@pytest.mark.parametrize("state_equation", StateEquation)
def test_pressure(state_equation):
    """The sum of the definition, cell by cell, on a rough bottom."""
    rng, grid = np.random.default_rng(1), basin(9, 8, 5)
    physics = Physics(state_equation=state_equation)
    t, s = 10 + rng.standard_normal(grid.shape), 35 + rng.standard_normal(grid.shape)
    eta = rng.standard_normal(grid.shape[:2])
    sea = Sea(grid, physics).set(eta=eta, tracers=[t, s])
    sea.part.pressure(sea.state)
    found = sea.blocks.whole(sea.state.p)
    depth = grid.bottoms[:-1] + grid.thickness / 2
    r = density(physics, t, s, physics.density * physics.gravity * depth) / physics.density - 1
    weight = physics.gravity * r * grid.thickness
    expected = np.zeros(grid.shape)
    for i, j in np.argwhere(grid.levels > 0):
        expected[i, j, 0] = physics.gravity * r[i, j, 0] * (grid.thickness[0] / 2 + eta[i, j])
        for k in range(1, grid.levels[i, j]):
            expected[i, j, k] = expected[i, j, k - 1] + (weight[i, j, k - 1] + weight[i, j, k]) / 2
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_pressure_of_a_stratified_sea():
    """Buoyancy frequency N: p falls by N² z²/2 from the first level's centre on, exactly where levels are equal."""
    grid = basin(6, 6, 20, rough=False)
    grid.thickness[:] = 50.0
    depth, frequency = 25 + 50.0 * np.arange(20), 5e-3
    physics = Physics(gravity=9.81, expansion=2e-4)
    t = physics.reference_temperature - frequency**2 * depth / (physics.gravity * physics.expansion)
    sea = Sea(grid, physics).set(tracers=[np.broadcast_to(t, grid.shape), np.full(grid.shape, 35.0)])
    sea.part.pressure(sea.state)
    p = sea.state.p[0, HALO + 2, HALO + 2]
    assert p - p[0] == pytest.approx(frequency**2 * (depth**2 - depth[0] ** 2) / 2, rel=1e-11)
