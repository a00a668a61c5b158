"""The solver of incompressible flow against exact solutions, for each pair of sides."""

import numpy as np
import pytest
from flow_boxes import box, error, model_of, orders, places, run, set_velocity

from benchmarks.flow_numpy import NumpyFlow
from fathometer.apps.flow.solver.model import Fluid
from fathometer.apps.flow.solver.sides import Side

PI = np.pi


def vortices(n, kinds, length, steps, nu=0.01, end=0.5):
    """Taylor & Green's (1937): they only decay; sin and cos fit periodic sides, and free slip at multiples of pi."""
    decay = np.exp(-2 * nu * end)
    model = model_of(box((n, n), (length, length), Fluid(nu), *kinds))
    set_velocity(model, lambda x, y, z: np.sin(x) * np.cos(y), lambda x, y, z: -np.cos(x) * np.sin(y))
    run(model, end, steps)
    return model, decay


@pytest.mark.parametrize(("kinds", "length"), [(("periodic", "periodic"), 2 * PI), (("slip", "slip"), PI)])
def test_vortices_in_two_dimensions(kinds, length):
    errors, pressures = [], []
    for n in (16, 32, 64):
        model, decay = vortices(n, kinds, length, n // 2)
        errors.append(error(model, 0, lambda x, y, z, decay=decay: np.sin(x) * np.cos(y) * decay))
        x, y, _ = places(model)
        exact = 0.25 * (np.cos(2 * x) + np.cos(2 * y)) * decay**2
        pressures.append(np.abs(model.pressure() - exact).max())
        assert model.diagnostics()["divergence"] < 1e-12
    assert min(orders(errors)) > 1.9
    assert min(orders(pressures)) > 1.9


def test_vortices_beside_a_prototype():
    """Errors of an independent program of the same scheme at t = 1."""
    for n, expected in ((16, 2.46e-4), (32, 6.26e-5)):
        model, decay = vortices(n, ("periodic", "periodic"), 2 * PI, n, end=1.0)
        found = error(model, 0, lambda x, y, z, decay=decay: np.sin(x) * np.cos(y) * decay)
        assert found == pytest.approx(expected, rel=0.01)


def test_steps_beside_a_program_of_numpy():
    """A velocity without symmetry, in three dimensions."""
    n, nu, dt = 12, 0.02, 0.05
    model = model_of(box((n, n, n), (2 * PI,) * 3, Fluid(nu), "periodic", "periodic", "periodic"))
    model.arrays[...] = np.random.default_rng(1).standard_normal(model.arrays.shape)
    model.begin()
    other = NumpyFlow(model.arrays.transpose(0, 3, 2, 1).copy(), nu)
    before = other.velocities.copy()
    for _ in range(5):
        model.step(dt)
        other.step(dt)
    assert np.abs(other.velocities - before).max() > 0.1
    np.testing.assert_allclose(model.arrays, other.velocities.transpose(0, 3, 2, 1), rtol=0, atol=1e-13)


def test_waves_that_turn_in_three_dimensions():
    """Arnold's, Beltrami's and Childress' flow, whose vorticity is its velocity: it only decays."""
    nu, end, errors, vorticities = 0.05, 0.4, [], []
    a, b, c = 1.0, 0.7, 0.4

    def velocities(decay):
        return (
            lambda x, y, z: decay * (a * np.sin(z) + c * np.cos(y)),
            lambda x, y, z: decay * (b * np.sin(x) + a * np.cos(z)),
            lambda x, y, z: decay * (c * np.sin(y) + b * np.cos(x)),
        )

    for n in (12, 24):
        model = model_of(box((n, n, n), (2 * PI,) * 3, Fluid(nu), "periodic", "periodic", "periodic"))
        set_velocity(model, *velocities(1.0))
        run(model, end, n // 2)
        after = velocities(np.exp(-nu * end))
        errors.append(max(error(model, axis, after[axis]) for axis in range(3)))
        x, y, z = places(model)
        size = np.sqrt(sum(one(x, y, z) ** 2 for one in after))
        vorticities.append(np.abs(model.vorticity() - size).max())
    assert min(orders(errors)) > 1.9
    assert min(orders(vorticities)) > 1.9


@pytest.mark.parametrize("along", [0, 1, 2])
@pytest.mark.parametrize("across", [0, 1, 2])
def test_shear_between_walls(along, across):
    """A sine between walls at rest decays; along each axis, between walls across each other one."""
    if along == across:
        return
    nu, end, errors = 0.1, 1.0, []
    for n in (8, 16, 32):
        cells, kinds = [4, 4, 4], ["periodic"] * 3
        cells[across], kinds[across] = n, "wall"
        model = model_of(box(cells, [1.0 if axis == across else 4.0 for axis in range(3)], Fluid(nu), *kinds))

        def profile(*place):
            return np.sin(PI * place[across]) + 0 * place[0] * place[1] * place[2]

        def still(*place):
            return 0.0

        set_velocity(model, *(profile if axis == along else still for axis in range(3)))
        run(model, end, n * n // 4)
        exact = np.exp(-nu * PI**2 * end)
        errors.append(error(model, along, lambda *place, exact=exact: exact * profile(*place)))
    assert min(orders(errors)) > 1.9


def test_a_wall_that_moves_drags_the_fluid():
    """Couette's flow, which the scheme has exactly."""
    moving = Side("wall", {0: 2.0})
    model = model_of(box((4, 8), (4.0, 1.0), Fluid(1.0), "periodic", ("wall", moving)))
    model.begin()
    run(model, 2.5, 300)
    assert error(model, 0, lambda x, y, z: 2.0 * y + 0 * x) < 1e-9


def test_what_comes_in_leaves():
    """Poiseuille's flow between an inflow with its profile and an open side; the pressure falls to 0 there."""
    n, nu, speed = 8, 0.2, 1.5
    y = (np.arange(n) + 0.5) / n
    profile = 4 * speed * y * (1 - y)
    inflow, against = Side("inflow", {0: profile[None]}), Side("inflow", {0: -profile[None]})
    for ends, sign in (((inflow, "outflow"), 1), (("outflow", against), -1)):
        model = model_of(box((12, n), (1.5, 1.0), Fluid(nu), ends, "wall"))
        model.begin()
        run(model, 6.0, 300)
        middle = model.arrays[0][0, :, 6]
        assert np.abs(middle - sign * profile).max() < 0.02 * speed
        assert middle.sum() == pytest.approx(sign * profile.sum(), rel=1e-12)
        p = model.pressure()[0]
        slope = (p[:, 9] - p[:, 3]) / (6 / 8)
        # The scheme's parabola is y (1 - y) + 1 / (4 n²): the same flow through needs a little less of a slope.
        through = (1 / 6 + 1 / (12 * n**2)) / (1 / 6 + 1 / (3 * n**2))
        assert slope == pytest.approx(-sign * 8 * nu * speed * through, rel=5e-3)
        last = p[:, -1] if sign > 0 else p[:, 0]
        assert np.abs(last).max() < 0.1


def test_heat_rises_and_is_kept():
    """Warm fluid at the bottom of a closed box rises; its heat stays."""
    fluid = Fluid(0.01, diffusivity=0.01, lift=(0.0, 0.0, 1.0), reference=0.0)
    model = model_of(box((8, 8, 12), (1.0, 1.0, 1.5), fluid, "slip", "wall", "wall"))
    x, y, z = places(model)
    model.arrays[3] = np.exp(-20 * ((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.3) ** 2))
    model.begin()
    before = model.diagnostics()["temperature"]
    height = (model.arrays[3] * z).sum() / model.arrays[3].sum()
    run(model, 1.0, 50)
    assert model.diagnostics()["temperature"] == pytest.approx(before, rel=1e-12)
    assert (model.arrays[3] * z).sum() / model.arrays[3].sum() > height + 0.02
    assert model.diagnostics()["divergence"] < 1e-12


def test_a_step_is_of_the_third_order_in_time():
    def after(steps):
        model = model_of(box((16, 16), (2 * PI, 2 * PI), Fluid(0.02), "periodic", "slip"))
        set_velocity(model, lambda x, y, z: 1 + np.sin(x) * np.cos(y), lambda x, y, z: np.cos(x) * np.sin(y / 2))
        return run(model, 1.0, steps).arrays.copy()

    exact = after(320)
    errors = [np.abs(after(steps) - exact).max() for steps in (5, 10, 20)]
    assert min(orders(errors)) > 2.5


def test_energy_is_kept_without_viscosity():
    """What is lost comes from the steps in time alone: an eighth with half of them."""
    lost = []
    for steps in (10, 20):
        model = model_of(box((12, 12, 12), (2 * PI,) * 3, Fluid(0.0), *("periodic",) * 3))
        set_velocity(
            model,
            lambda x, y, z: np.sin(x) * np.cos(y) * np.cos(z),
            lambda x, y, z: -np.cos(x) * np.sin(y) * np.cos(z),
            lambda x, y, z: 0.1 * np.sin(x + y) + 0 * z,
        )
        before = model.diagnostics()["energy"]
        lost.append(abs(run(model, 1.0, steps).diagnostics()["energy"] / before - 1))
    assert lost[0] < 1e-3
    assert lost[1] < lost[0] / 6
