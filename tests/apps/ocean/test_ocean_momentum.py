"""Momentum: against a plain reference and analytic solutions."""

from dataclasses import replace

import numpy as np
import ocean_plain as plain
import pytest
from ocean_blocks import HALO, Sea, basin

from fathometer.apps.ocean.solver.physics import Drag, Physics

DT, THETA = 600.0, 0.6


def moving(grid, physics, seed=2):
    """Random velocity, surface, pressure, wind and tendencies of the steps before."""
    rng, sea = np.random.default_rng(seed), Sea(grid, physics)
    shape, blocked = grid.shape, sea.blocks.blocked
    sea.set(rng.standard_normal(shape), rng.standard_normal(shape), rng.standard_normal(shape[:2]))
    sea.state.p[...] = blocked(10 * rng.standard_normal(shape))
    for stress in sea.stress:
        stress[...] = blocked(0.1 * rng.standard_normal(shape[:2]))
    for tendency in sea.state.tendencies[1:]:
        tendency[...] = [blocked(1e-5 * rng.standard_normal(shape)) for _ in range(2)]
    return sea


def close(found, expected, tolerance=1e-11):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("sphere", [False, True])
@pytest.mark.parametrize("periodic", [False, True])
def test_advection_and_metric_terms(periodic, sphere):
    grid = basin(11, 9, 5, periodic=periodic, sphere=sphere)
    sea = moving(grid, Physics())
    sea.part.momentum(sea.state, DT, THETA, *sea.stress)
    whole = sea.blocks.whole
    expected, _ = plain.advection(grid, whole(sea.state.eta), whole(sea.state.u), whole(sea.state.v))
    for found, component in zip(sea.state.tendencies[0], expected, strict=True):
        close(whole(found), component)


@pytest.mark.parametrize("drag", Drag)
@pytest.mark.parametrize("step", [0, 1, 5])
def test_provisional_velocity(drag, step):
    """All terms, with columns solved by numpy.linalg.solve, on a sphere with islands and a rough bottom."""
    grid = basin(11, 9, 7, periodic=True, sphere=True)
    physics = Physics(
        viscosity=2e4, vertical_viscosity=0.05, drag=drag, drag_coefficient=[0, 1e-3, 2e-3][drag], density=1030.0
    )
    sea = moving(grid, physics)
    sea.state.step = step
    sea.part.momentum(sea.state, DT, THETA, *sea.stress)
    s, whole = sea.state, sea.blocks.whole
    eta, u, v = whole(s.eta), whole(s.u), whole(s.v)
    weights = {0: (1, 0, 0), 1: (1.5, -0.5, 0), 5: (23 / 12, -16 / 12, 5 / 12)}[step]
    forces = plain.friction(grid, physics.viscosity, u, v)
    forces += sum(w * np.array([whole(g) for g in t]) for w, t in zip(weights, s.tendencies, strict=True))
    forces -= plain.gradient(grid, whole(s.p)) + physics.gravity * plain.gradient(grid, eta)[..., None]
    h, w = plain.thickness_u(grid, eta), u + 1j * v
    stress = whole(sea.stress[0]) + 1j * whole(sea.stress[1])
    expected, transport, shift = np.zeros_like(w), np.zeros(w.shape[:2], complex), np.zeros(w.shape[:2], complex)
    for i, j in np.argwhere(grid.levels_u > 0):
        n = grid.levels_u[i, j]
        velocity = physics.drag_coefficient * (abs(w[i, j, n - 1]) if drag == Drag.QUADRATIC else 1)
        f, wind = grid.f[j], stress[i, j] / physics.density
        force = forces[0, i, j, :n] + 1j * forces[1, i, j, :n]
        column = plain.column_solve(h[i, j, :n], w[i, j, :n], force, f, DT, 0.05, wind, velocity)
        expected[i, j, :n] = column
        before, after = (h[i, j, :n] * w[i, j, :n]).sum(), (h[i, j, :n] * column).sum()
        transport[i, j] = THETA * after + (1 - THETA) * before
        shift[i, j] = (1 - THETA) * (before - after) / h[i, j].sum()
    close(whole(s.u_next) + 1j * whole(s.v_next), expected)
    close(whole(s.transport[0]) + 1j * whole(s.transport[1]), transport)
    close(whole(s.shift[0]) + 1j * whole(s.shift[1]), shift)


def test_correction():
    """-dt theta g grad d on wet levels; the shift keeps the transporting velocity's mean what theta makes of it."""
    grid, d = basin(11, 9, 5, sphere=True), np.random.default_rng(4).standard_normal((11, 9))
    sea = moving(grid, Physics())
    s, whole = sea.state, sea.blocks.whole
    sea.part.momentum(s, DT, THETA, *sea.stress)
    u, shift = whole(s.u_next), whole(s.shift[0])
    sea.part.correct(s, DT, THETA, sea.blocks.blocked(d))
    change = DT * THETA * 9.81 * plain.gradient(grid, d)
    wet = np.arange(5) < grid.levels_u[..., None]
    close(whole(s.u_next), u - np.where(wet, change[0][..., None], 0))
    h = plain.thickness_u(grid, whole(s.eta))
    depth = np.maximum(h.sum(2), 1e-30)
    close(whole(s.shift[0]), shift + (1 - THETA) * change[0])
    for before, after, more in ((s.u, s.u_next, s.shift[0]), (s.v, s.v_next, s.shift[1])):
        before, after = ((h * whole(q)).sum(2) / depth for q in (before, after))
        close(whole(more), (1 - THETA) * (before - after))


def test_uniform_flow_is_not_advected():
    """Exactly, where no wall is near."""
    grid = basin(12, 12, 4, periodic=True, rough=False)
    sea = Sea(grid).set(u=0.7, v=-0.3, eta=np.random.default_rng(0).standard_normal((12, 12)))
    sea.part.momentum(sea.state, DT, THETA, *sea.stress)
    inside = np.s_[:, 0, HALO:-HALO, HALO + 3 : -HALO - 3]
    assert sea.state.u[0, HALO + 5, HALO + 5, 0] == 0.7
    assert not sea.state.tendencies[0][inside].any()


def test_advection_keeps_kinetic_energy():
    """What momentum gains by advection and what its cells' volume gains cancel, over rough bottom and islands."""
    grid = basin(11, 9, 5)
    sea = moving(grid, Physics())
    sea.part.momentum(sea.state, DT, THETA, *sea.stress)
    whole, s = sea.blocks.whole, sea.state
    eta, w = whole(s.eta), np.array([whole(s.u), whole(s.v)])
    volume = plain.thickness_u(grid, eta) * (grid.dx_u * grid.dy)[:, None]
    _, lost = plain.advection(grid, eta, *w)
    gained = volume * w * np.array([whole(g) for g in s.tendencies[0]])
    surface = -lost * (w[..., 0] ** 2).sum(0) / 2
    assert abs(gained.sum() + surface.sum()) < 1e-13 * np.abs(gained).sum()


@pytest.fixture
def ekman():
    """A deep flat sea under wind, without slopes: columns alone. With the depth of friction and the solution."""
    grid = replace(basin(8, 8, 96, periodic=True, rough=False), thickness=np.full(96, 2.0))
    grid.f[:] = 1e-4
    physics = Physics(vertical_viscosity=0.03, advect_momentum=False)
    sea = Sea(grid, physics)
    sea.stress[0] = 0.1
    scale = np.sqrt(2 * physics.vertical_viscosity / 1e-4)
    z = -(2.0 * np.arange(96) + 1)
    speed = 0.1 / (physics.density * np.sqrt(physics.vertical_viscosity * 1e-4))
    spiral = speed * np.exp(z / scale) * np.exp(1j * (z / scale - np.pi / 4))
    return sea, spiral


def column_steps(sea, dt, steps):
    for _ in range(steps):
        sea.part.momentum(sea.state, dt, THETA, *sea.stress)
        sea.state.advance()
        yield sea.state.u[0, HALO + 4, HALO + 4] + 1j * sea.state.v[0, HALO + 4, HALO + 4]


def test_ekman_spiral_stays(ekman):
    """Ekman's (1905) solution is steady for ten inertial periods, but for what levels of 2 m make of it."""
    sea, spiral = ekman
    sea.set(u=spiral.real, v=spiral.imag)
    *_, last = column_steps(sea, 3600.0, 175)
    assert np.abs(last - spiral).max() < 5e-3 * np.abs(spiral).max()


def test_ekman_transport(ekman):
    """From rest, over whole inertial periods: to the right of the wind, tau / (rho f)."""
    sea, _ = ekman
    dt = 2 * np.pi / 1e-4 / 400
    theta = 2 * np.arctan(0.5e-4 * dt)  # the angle that a step turns
    steps = round(3 * 2 * np.pi / theta)
    mean = np.mean([2.0 * w.sum() for w in column_steps(sea, dt, steps)])
    assert mean == pytest.approx(-1j * 0.1 / (1026 * 1e-4), rel=1e-3)


def test_wrong_arrays():
    sea = Sea(basin(6, 6, 3))
    with pytest.raises(ValueError, match="stress_x has the shape"):
        sea.part.momentum(sea.state, DT, THETA, np.zeros((1, 3, 3)), sea.stress[1])
    with pytest.raises(ValueError, match="dt is"):
        sea.part.momentum(sea.state, float("nan"), THETA, *sea.stress)
