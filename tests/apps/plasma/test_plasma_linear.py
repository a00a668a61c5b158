"""Linear plasmas against published and analytic values: growth rates, zonal flows, Alfvén waves."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from plasma_support import alfven_wave, linear, model_of, stepper_of
from scipy.optimize import curve_fit, least_squares

from fathometer.apps.plasma.solver.geometry import FluxTube, Geometry, Modes
from fathometer.apps.plasma.solver.model import Plasma, PlasmaModel
from fathometer.apps.plasma.solver.stepping import limits, measured_rate
from fathometer.apps.plasma.solver.velocity import Species, VelocityGrid

A_OVER_R = 1 / 2.78
PUBLISHED = {0.2: (0.0750, 0.1779), 0.3: (0.0930, 0.2820), 0.4: (0.0809, 0.3749)}  # of the code GX; v/a


def growth(model: PlasmaModel, until: float, method: str = "rk4") -> list[complex]:
    """gamma + i omega of each ky, v/R, at the end."""
    stepper, dt = stepper_of(model, method)
    steps = math.ceil(until / dt)
    for number in range(steps):
        if number == steps - 20:
            before = model.all_fields()[0].copy()
        stepper.step(lambda flow: dt)
    after = model.all_fields()[0]
    return [cmath.log(np.vdot(a, b) / np.vdot(a, a)) / (20 * dt) for a, b in zip(before, after, strict=True)]


def test_growth_rates_of_the_cyclone_base_case():
    """Within 3 % of the published curve."""
    model = model_of(linear([0.2, 0.3, 0.4]))
    theta = model.plasma.tube.theta[:, None] + 2 * np.pi * (np.arange(5) - 2)
    model.g[:] = np.exp(-((theta / 1.5) ** 2))
    for (gamma, omega), found in zip(PUBLISHED.values(), growth(model, 30.0), strict=True):
        print(f"gamma {found.real * A_OVER_R:.4f}, {gamma}; omega {found.imag * A_OVER_R:.4f}, {omega}")
        assert found.real * A_OVER_R == pytest.approx(gamma, rel=0.03)
        assert found.imag * A_OVER_R == pytest.approx(omega, rel=0.03)


def zonal(q: float, epsilon: float, cosines: int) -> tuple[float, float]:
    """What stays of a zonal flow, and the frequency with which it oscillates, v/R."""
    geometry = Geometry(q=q, epsilon=epsilon)
    tube = FluxTube(geometry, Modes.joined(np.array([0.0]), np.array([0.05])), 24)
    model = model_of(Plasma(tube, VelocityGrid([Species("ions")], 8, cosines, 8.0)))
    model.g[:] = 1.0
    stepper, dt = stepper_of(model)
    means = []
    for _ in range(int(55 / dt)):
        means.append(float(np.sum(model.all_fields()[0][0, :, 0].real * tube.weight)))
        stepper.step(lambda flow: dt)
    times, values = dt * np.arange(len(means)), np.array(means) / means[0]
    late = times > 12
    fit, _ = curve_fit(
        lambda t, stays, size, damping, omega, phase: stays + size * np.exp(-damping * t) * np.cos(omega * t + phase),
        times[late],
        values[late],
        p0=[0.1, 0.5, 0.1, 2.0, 0.0],
        maxfev=20000,
    )
    return float(fit[0]), abs(float(fit[3]))


@pytest.mark.parametrize(("q", "epsilon", "cosines"), [(1.4, 0.18, 32), (1.0, 0.18, 32), (1.4, 0.05, 48)])
def test_a_zonal_flow_leaves_what_theory_says(q, epsilon, cosines):
    """Xiao & Catto 2006, Phys. Plasmas 13, 102311. The frequency of the mode that decays: Sugama & Watanabe 2006,
    J. Plasma Phys. 72, 825, with T_e = T_i and v = sqrt(T/m)."""
    stays, omega = zonal(q, epsilon, cosines)
    root = math.sqrt(epsilon)
    expected = 1 / (1 + q**2 / root * (1.635 + 0.5 * root + 0.36 * epsilon))
    print(f"q {q}, epsilon {epsilon}: {stays:.5f} stays, {expected:.5f}")
    assert stays == pytest.approx(expected, rel=0.02)
    if (q, epsilon) == (1.4, 0.18):
        expected = math.sqrt(11 / 2) * math.sqrt(1 + 2 * 43 / (q**2 * 121))
        print(f"oscillates with {omega:.4f}, {expected:.4f}")
        assert omega == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("k_perp", "beta"), [(0.3, 0.02), (0.5, 0.02), (0.5, 0.1)])
def test_kinetic_alfven_waves(k_perp, beta):
    mass_ratio = 400.0
    geometry = Geometry(q=1.0, shear=0.0, epsilon=0.0, slab=True)
    tube = FluxTube(geometry, Modes.joined(np.array([k_perp]), np.array([0.0])), 16)
    species = [Species("ions"), Species("electrons", charge=-1.0, mass=1 / mass_ratio)]
    model = model_of(Plasma(tube, VelocityGrid(species, 16, 96, 10.0), adiabatic=0.0, beta=beta))
    model.g[0, : 16 * 96, :, 0] = np.cos(tube.theta)
    stepper, dt = stepper_of(model)
    found = []
    for _ in range(int(2.6 / dt)):
        found.append(float(model.all_fields()[0][0, 8, 0].real))
        stepper.step(lambda flow: dt)
    times, values = dt * np.arange(len(found)), np.array(found)
    late, omega = times > 0.25, alfven_wave(k_perp, beta, mass_ratio)

    def off(p):
        wave = p[0] * np.exp(p[1] * times[late]) * np.cos(p[2] * times[late] + p[3])
        return wave + p[4] * np.exp(-abs(p[5]) * times[late]) - values[late]

    fits = [
        least_squares(off, [values[late].max(), omega.imag, omega.real, phase, 0.0, 1.0]) for phase in (0, 1.5, 3, 4.5)
    ]
    best = min(fits, key=lambda fit: fit.cost).x
    print(
        f"k {k_perp}, beta {beta}: omega {abs(best[2]):.4f}, {omega.real:.4f}; damping {best[1]:.4f}, {omega.imag:.4f}"
    )
    assert abs(best[2]) == pytest.approx(omega.real, rel=0.01)
    assert best[1] == pytest.approx(omega.imag, rel=0.08)


def test_steps_at_the_limit_are_stable_and_not_far_beyond_it():
    for method in ("rk4", "rk3"):
        plasma = linear([0.3], energies=6, cosines=6, density_gradient=0.0, temperature_gradient=0.0)
        sizes = []
        for factor in (1.0, 2.0):
            model = model_of(plasma)
            model.g[:] = np.random.default_rng(1).normal(size=model.g.shape)
            stepper, dt = stepper_of(model, method)
            for _ in range(300):
                stepper.step(lambda flow, dt=dt, factor=factor: factor * dt)
            sizes.append(float(np.abs(model.g).max()))
        assert sizes[0] < 10
        assert not sizes[1] < 1e3


def test_potentials_may_be_the_fastest():
    """Kinetic electrons at small k: the limits of the terms alone do not see it, the measured rate does."""
    geometry = Geometry(q=1.0, shear=0.0, epsilon=0.0, slab=True)
    tube = FluxTube(geometry, Modes.joined(np.array([0.1]), np.array([0.0])), 16)
    species = [Species("ions"), Species("electrons", charge=-1.0, mass=1 / 400)]
    model = model_of(Plasma(tube, VelocityGrid(species, 6, 16, 8.0), adiabatic=0.0, beta=1e-3))
    assert measured_rate(model) > 1.5 * sum(limits(model.plasma).values())


@pytest.mark.parametrize(("method", "order"), [("rk4", 3.9), ("rk3", 2.9)])
def test_order_in_time(method, order):
    plasma = linear([0.3], energies=4, cosines=6)
    ends = []
    for steps in (32, 64, 256):
        model = model_of(plasma)
        theta = plasma.tube.theta[:, None] + 2 * np.pi * (np.arange(5) - 2)
        model.g[:] = np.exp(-((theta / 1.5) ** 2))
        stepper, longest = stepper_of(model, method)
        for _ in range(steps):
            stepper.step(lambda flow, n=steps, dt=longest: 16 * dt / n)
        ends.append(model.g.copy())
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert math.log2(errors[0] / errors[1]) > order
