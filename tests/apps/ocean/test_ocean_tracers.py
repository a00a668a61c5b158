"""Tracers and the volume fluxes that carry them: reference, conservation, bounds, order."""

from dataclasses import replace

import numpy as np
import ocean_plain as plain
import pytest
from ocean_blocks import Sea, basin, wet_levels

from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.solver.physics import Physics

DT = 300.0


def flowing(grid, physics=None, *, tracers, seed=5, speed=0.5, eta=2.0):
    """Random velocity, shift and surface; the tracers are global arrays."""
    rng, sea = np.random.default_rng(seed), Sea(grid, physics, tracers=len(tracers))
    shape = grid.shape
    u, v = speed * rng.standard_normal(shape), speed * rng.standard_normal(shape)
    sea.set(u, v, eta * rng.uniform(-1, 1, shape[:2]), tracers, next_too=True)
    sea.state.shift[...] = [sea.blocks.blocked(0.01 * rng.standard_normal(shape[:2])) for _ in range(2)]
    return sea


def content(sea, values, eta):
    grid = sea.grid
    h = np.where(wet_levels(grid.levels, grid.shape[2]), grid.thickness, 0.0)
    h[..., 0] += np.where(grid.levels > 0, eta, 0)
    return (grid.area[:, None] * h * values).sum()


@pytest.mark.parametrize("sphere", [False, True])
@pytest.mark.parametrize("periodic", [False, True])
def test_volume_fluxes(periodic, sphere):
    grid = basin(11, 9, 5, periodic=periodic, sphere=sphere)
    sea = flowing(grid, tracers=[np.ones(grid.shape)] * 2)
    sea.part.fluxes(sea.state, DT)
    whole, s = sea.blocks.whole, sea.state
    h, wet = plain.thickness_u(grid, whole(s.eta)), wet_levels(grid.levels_u, 5)
    u, v = (np.where(wet, whole(q) + whole(t)[..., None], 0) for q, t in zip((s.u, s.v), s.shift, strict=True))
    flux_x, flux_y = plain.volume_fluxes(grid, h, u, v)
    assert np.abs(whole(s.flux_x) - flux_x).max() < 1e-14 * np.abs(flux_x).max()
    assert np.abs(whole(s.flux_y) - flux_y).max() < 1e-14 * np.abs(flux_y).max()
    rise = DT * plain.upward(grid, flux_x, flux_y)[..., 0] / grid.area
    assert np.abs(whole(s.eta_next) - whole(s.eta) - rise).max() < 1e-13 * np.abs(rise).max() + 1e-15
    assert np.abs(rise).max() > 0.05


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize(("periodic", "sphere"), [(False, False), (True, True)])
def test_against_the_plain_scheme(periodic, sphere, step):
    """All passes, in both orders, with lateral diffusion and flux through the surface, over a rough bottom."""
    grid = basin(11, 9, 5, periodic=periodic, sphere=sphere)
    rng = np.random.default_rng(6)
    values = [rng.standard_normal(grid.shape) for _ in range(3)]
    sea = flowing(grid, Physics(diffusivity=2e4), tracers=values)
    sea.state.step = step
    sea.surface_flux[:] = np.array([0, 1e-3, -2e-3])[:, None, None, None]
    sea.move(DT)
    s, whole = sea.state, sea.blocks.whole
    for n, surface in enumerate((0, 1e-3, -2e-3)):
        expected = plain.tracer_step(
            grid,
            whole(s.tracers[n]),
            whole(s.eta),
            whole(s.eta_next),
            whole(s.flux_x),
            whole(s.flux_y),
            DT,
            x_first=step == 0,
            diffusivity=2e4,
            surface=surface,
        )
        assert np.abs(whole(s.tracers_next[n]) - expected).max() < 1e-12


def many_steps(sea, steps, after=lambda: None):
    """The same fluxes again and again, forth and back: the surface returns, so that no cell runs dry."""
    s = sea.state
    for _ in range(steps):
        sea.move(DT)
        s.u_next *= -1
        s.v_next *= -1
        s.shift *= -1
        s.eta, s.eta_next = s.eta_next, s.eta
        s.tracers, s.tracers_next = s.tracers_next, s.tracers
        s.step += 1
        sea.blocks.exchange(s.eta, *s.tracers)
        after()


MIXING = Physics(diffusivity=500.0, vertical_diffusivity=1e-3, convective_diffusivity=0.1)


def test_uniform_stays_uniform():
    """To 1e-13, where all else moves: rough bottom, surface, both orders, convection of salinity."""
    grid = basin(16, 14, 6, periodic=True)
    rng = np.random.default_rng(7)
    sea = flowing(grid, MIXING, tracers=[np.full(grid.shape, 7.3), 35 + rng.standard_normal(grid.shape)])
    many_steps(sea, 40)
    wet = wet_levels(grid.levels, 6)
    assert np.abs(sea.blocks.whole(sea.state.tracers[0])[wet] / 7.3 - 1).max() < 1e-13
    assert sea.part.courant(sea.state, DT).vertical > 0.02


def test_content_is_exact():
    """Volume and content change by rounding alone, and by what enters through the surface."""
    grid = basin(16, 14, 6, sphere=True)
    rng = np.random.default_rng(8)
    values = [rng.standard_normal(grid.shape), 35 + rng.standard_normal(grid.shape)]
    sea = flowing(grid, MIXING, tracers=values, speed=5.0)
    enters = 1e-4 * rng.standard_normal(grid.shape[:2])
    sea.surface_flux[1] = sea.blocks.blocked(enters)
    whole, s = sea.blocks.whole, sea.state
    given = DT * (grid.area * np.where(grid.levels > 0, enters, 0)).sum()

    def contents():
        return np.array([content(sea, q, whole(s.eta)) for q in (1.0, *(whole(t) for t in s.tracers))])

    before, scale = contents(), content(sea, 35.0, 0)
    many_steps(sea, 40)
    assert np.abs(contents() - before - [0, 0, 40 * given]).max() < 1e-13 * scale
    assert abs(given) > 1e-9 * scale


def test_water_that_leaves_on_both_sides_counts_twice():
    """A pass of tracers takes both away at once."""
    sea = flowing(basin(16, 14, 6), MIXING, tracers=[np.zeros((16, 14, 6))] * 2, speed=0.0, eta=0.0)
    s, grid = sea.state, sea.grid
    s.flux_x[:], s.flux_y[:] = 0.0, 0.0
    x, y = np.argwhere(grid.levels[4:-4, 4:-4] > 0)[0] + 4
    part = 0.6 * grid.area[y] * grid.thickness[0] / DT
    s.flux_x[0, 3 + x, 3 + y, 0], s.flux_x[0, 2 + x, 3 + y, 0] = part, -part
    assert sea.part.courant(s, DT).lateral == pytest.approx(1.2, rel=1e-12)


def test_bounds_are_kept():
    """No value beyond those that there were, Courant numbers of a half and more notwithstanding."""
    grid = basin(16, 14, 6)
    rng = np.random.default_rng(9)
    values = [rng.integers(0, 2, grid.shape).astype(float) for _ in range(2)]
    sea = flowing(grid, MIXING, tracers=values, speed=3.0, eta=1.0)
    lateral, vertical, finite = [], [], []

    def after():
        courant = sea.part.courant(sea.state, DT)
        lateral.append(courant.lateral)
        vertical.append(courant.vertical)
        finite.append(courant.finite)
        found = sea.state.tracers[:, :, 3:-3, 3:-3]
        assert found.min() > -1e-13
        assert found.max() < 1 + 1e-13

    many_steps(sea, 30, after)
    assert all(finite)
    assert 0.5 < max(vertical) < 1


def test_order_of_advection():
    """A smooth hill carried through a quarter of a periodic channel: the error falls with the third power away from
    its top, where limiters act; at least with the second in the mean."""
    errors = []
    for n in (32, 64, 128):
        dx = 1e6 / n
        same, x = np.full(8, dx), dx * (np.arange(n) + 0.5)
        levels = np.full((n, 8), 1, np.int32)
        grid = OceanGrid(x, dx * np.arange(8), same, same, dx, 0 * same, 0 * same, np.array([100.0]), levels, True)
        hill = np.broadcast_to(np.exp(-(((x - 4e5) / 1e5) ** 2))[:, None, None], grid.shape)
        sea = Sea(grid).set(u=1.0, v=0.0, tracers=[hill, hill], next_too=True)
        dt = 0.4 * dx
        steps = round(2.5e5 / dt)
        for _ in range(steps):
            sea.move(dt)
            sea.state.tracers, sea.state.tracers_next = sea.state.tracers_next, sea.state.tracers
            sea.blocks.exchange(*sea.state.tracers)
        found = sea.blocks.whole(sea.state.tracers[0])[:, 4, 0]
        errors.append(np.abs(found - np.exp(-(((x - 4e5 - steps * dt) / 1e5) ** 2))).mean())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (rates > 2).all(), rates


def test_lateral_diffusion_of_a_wave():
    """A cosine in x decays as the five-point formula says, exactly."""
    n, k = 24, 1e4
    grid = basin(n, 8, 3, periodic=True, rough=False)
    wave = np.broadcast_to(np.cos(2 * np.pi * np.arange(n) / n)[:, None, None], grid.shape)
    sea = Sea(grid, Physics(diffusivity=k)).set(tracers=[wave, wave])
    for step in range(5):
        sea.state.step = step
        sea.move(DT)
        sea.state.tracers, sea.state.tracers_next = sea.state.tracers_next, sea.state.tracers
        sea.blocks.exchange(*sea.state.tracers)
    factor = 1 - DT * k / grid.dy**2 * (2 - 2 * np.cos(2 * np.pi / n))
    found = sea.blocks.whole(sea.state.tracers[0])[:, 4, 1]
    assert found == pytest.approx(factor**5 * wave[:, 4, 1], abs=1e-14)


def test_surface_flux_and_restoring():
    grid = basin(8, 8, 3)
    sea = flowing(grid, tracers=[np.full(grid.shape, 4.0), np.full(grid.shape, 30.0)])
    given, target = np.full_like(sea.surface_flux, 0.5), np.full_like(sea.surface_flux, 10.0)
    sea.part.surface_flux(sea.state, given, target, np.array([1e-6, 0.0]), sea.surface_flux)
    wet = grid.levels > 0
    for n, expected in enumerate((0.5 + 1e-6 * grid.thickness[0] * 6, 0.5)):
        assert sea.blocks.whole(sea.surface_flux[n]) == pytest.approx(np.where(wet, expected, 0), rel=1e-14)


def test_courant_numbers():
    """Of a uniform flow, and the mark of values that are not finite."""
    grid = replace(basin(10, 10, 2, periodic=True, rough=False), thickness=np.array([10.0, 20.0]))
    sea = Sea(grid).set(u=2.0, v=0.0, next_too=True)
    sea.part.fluxes(sea.state, 100.0)
    courant = sea.part.courant(sea.state, 100.0)
    assert courant.lateral == pytest.approx(2.0 * 100 / 20e3)
    assert courant.vertical == pytest.approx(0, abs=1e-15)
    assert courant.finite
    sea.state.flux_y[0, 5, 5, 1] = np.nan
    assert not sea.part.courant(sea.state, 100.0).finite


def test_same_array_for_both_times():
    sea = Sea(basin(6, 6, 2))
    sea.state.tracers_next = sea.state.tracers
    with pytest.raises(ValueError, match="another array"):
        sea.move(1.0)
