"""Mixing along z: implicit diffusion and convection."""

from dataclasses import replace

import numpy as np
import pytest
from ocean_blocks import Sea, basin, wet_levels

from fathometer.apps.ocean.solver.baroclinic import density
from fathometer.apps.ocean.solver.physics import Physics, StateEquation

DT = 3600.0


def mixed(grid, physics, tracers, eta=0.0):
    """A step without motion."""
    sea = Sea(grid, physics, tracers=len(tracers)).set(eta=eta, tracers=tracers)
    sea.move(DT)
    return sea, [sea.blocks.whole(t) for t in sea.state.tracers_next]


def solved(h, q, diffusivity):
    """Implicit diffusion in a column, with a coefficient for each interface."""
    matrix = np.diag(h)
    for k in range(len(h) - 1):
        c = DT * diffusivity[k] / (0.5 * (h[k] + h[k + 1]))
        matrix[k : k + 2, k : k + 2] += np.array([[c, -c], [-c, c]])
    return np.linalg.solve(matrix, h * q)


def test_diffusion_against_a_dense_solve():
    """Columns of all depths beside each other; the surface height counts."""
    grid, rng = basin(13, 11, 9), np.random.default_rng(1)
    values = [rng.standard_normal(grid.shape) for _ in range(3)]
    eta = rng.uniform(-1, 1, grid.shape[:2])
    sea, found = mixed(grid, Physics(vertical_diffusivity=0.5), values, eta)
    eta = sea.blocks.whole(sea.state.eta)
    assert np.array_equal(sea.blocks.whole(sea.state.eta_next), eta)
    for before, after in zip(values, found, strict=True):
        for i, j in np.argwhere(grid.levels > 0):
            n = grid.levels[i, j]
            h = grid.thickness[:n] + np.where(np.arange(n) == 0, eta[i, j], 0)
            expected = solved(h, before[i, j, :n], np.full(n - 1, 0.5))
            assert np.abs(after[i, j, :n] - expected).max() < 1e-13


def test_convection():
    """The coefficient is the convective one exactly where the upper water is heavier at the interface's pressure."""
    grid, rng = basin(13, 11, 9), np.random.default_rng(2)
    for state_equation in StateEquation:
        physics = Physics(
            vertical_diffusivity=1e-4, convective_diffusivity=1.0, state_equation=state_equation, density=1030.0
        )
        t, s = 10 + rng.standard_normal(grid.shape), 35 + 0.1 * rng.standard_normal(grid.shape)
        _, found = mixed(grid, physics, [t, s])
        p = np.broadcast_to(1030.0 * 9.81 * grid.bottoms[1:-1], t[..., 1:].shape)
        above = density(physics, t[..., :-1], s[..., :-1], p)
        unstable = above > density(physics, t[..., 1:], s[..., 1:], p)
        assert 0.3 < unstable.mean() < 0.7
        for i, j in np.argwhere(grid.levels > 0):
            n = grid.levels[i, j]
            coefficients = np.where(unstable[i, j], 1.0, 1e-4)
            for before, after in zip((t, s), found, strict=True):
                expected = solved(grid.thickness[:n], before[i, j, :n], coefficients)
                assert np.abs(after[i, j, :n] - expected).max() < 1e-12


def test_stable_water_is_left_alone():
    """Warm above cold: not a bit changes without background diffusion."""
    grid = basin(8, 8, 6)
    t = np.broadcast_to(np.linspace(20, 4, 6), grid.shape)
    for state_equation in StateEquation:
        physics = Physics(convective_diffusivity=1.0, state_equation=state_equation)
        _, (found, _) = mixed(grid, physics, [t, np.full(grid.shape, 35.0)])
        wet = wet_levels(grid.levels, 6)
        assert np.abs(found[wet] - t[wet]).max() < 1e-14 * 20


def test_decay_of_a_mode():
    """A cosine over the depth decays by 1 / (1 + dt K lambda) in a step, lambda that of the second difference."""
    n, k = 16, 1e-2
    grid = replace(basin(8, 8, n, rough=False), thickness=np.full(n, 25.0))
    mode = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    _, (found, _) = mixed(grid, Physics(vertical_diffusivity=k), [np.broadcast_to(mode, grid.shape)] * 2)
    eigenvalue = (2 - 2 * np.cos(np.pi / n)) / 25.0**2
    assert found[4, 4] == pytest.approx(mode / (1 + DT * k * eigenvalue), abs=1e-14)


def test_heat_of_a_deep_convecting_column():
    """Cooled from above, a column becomes well mixed and keeps its heat but for what leaves."""
    grid = replace(basin(8, 8, 10, rough=False), thickness=np.full(10, 20.0))
    physics = Physics(convective_diffusivity=10.0)
    sea = Sea(grid, physics).set(tracers=[np.full(grid.shape, 10.0), np.full(grid.shape, 35.0)])
    sea.surface_flux[0] = -1e-4
    for _ in range(24):
        sea.move(DT)
        sea.state.tracers, sea.state.tracers_next = sea.state.tracers_next, sea.state.tracers
        sea.blocks.exchange(*sea.state.tracers)
    column = sea.blocks.whole(sea.state.tracers[0])[4, 4]
    assert column.mean() == pytest.approx(10 - 24 * DT * 1e-4 / 200, rel=1e-12)
    assert np.ptp(column) < 0.01
