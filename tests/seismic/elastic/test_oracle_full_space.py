"""The full-space solutions against other ways to write them and against what must hold of any."""

import numpy as np
import pytest
from elastic_full_space import (
    Solid,
    double_couple,
    force_motion,
    force_stress,
    line_source,
    moment_motion,
    moment_stress,
)
from source_functions import Bell, Brune, Sampled, ricker, smooth_step

SOLID = Solid(6000.0, 3464.0, 2700.0)
SOURCE = np.array([300.0, -200.0, 900.0])
RECEIVER = np.array([[1300.0, 500.0, 500.0]])
T = np.linspace(0, 1, 401)
TENSOR = double_couple(30, 40, 70, 1e15)
TENSOR[0, 0] += 3e14
FORCE = np.array([1.0, -2.0, 0.5])
STEP = smooth_step(0.2, 0.02)


def near(solid, f, r):
    """int tau f(t - tau) dtau between the P and S travel times."""
    s, weight = np.polynomial.legendre.leggauss(80)
    half, middle = r / solid.vs / 2 - r / solid.vp / 2, r / solid.vs / 2 + r / solid.vp / 2
    tau = middle + half * s
    return (f(T[:, None] - tau) * tau) @ (weight * half)


def aki_richards_moment(solid, f, x):
    """Eq. 4.29 term by term."""
    r, a, b, d = np.linalg.norm(x), solid.vp, solid.vs, np.eye(3)
    g, integral, out = x / r, near(solid, f, r), np.zeros((3, len(T)))
    for i, p, q in np.ndindex(3, 3, 3):
        all_, ip, iq, pq = g[i] * g[p] * g[q], g[q] * d[i, p], g[p] * d[i, q], g[i] * d[p, q]
        terms = (15 * all_ - 3 * (pq + ip + iq)) / r**4 * integral
        terms += (6 * all_ - pq - ip - iq) / (a * r) ** 2 * f(T - r / a)
        terms -= (6 * all_ - pq - iq - 2 * ip) / (b * r) ** 2 * f(T - r / b)
        terms += all_ / (a**3 * r) * f(T - r / a, 1) - (all_ - ip) / (b**3 * r) * f(T - r / b, 1)
        out[i] += TENSOR[p, q] * terms
    return out / (4 * np.pi * solid.density)


def aki_richards_force(solid, f, x):
    """Eq. 4.23 term by term."""
    r = np.linalg.norm(x)
    g, d = x / r, np.eye(3)
    pairs = np.outer(g, g)
    out = ((3 * pairs - d) @ FORCE / r**3)[:, None] * near(solid, f, r)
    out += (pairs @ FORCE)[:, None] * f(T - r / solid.vp) / (solid.vp**2 * r)
    out += ((d - pairs) @ FORCE)[:, None] * f(T - r / solid.vs) / (solid.vs**2 * r)
    return out / (4 * np.pi * solid.density)


def error(found, expected):
    return abs(found - expected).max() / abs(expected).max()


def test_the_terms_of_aki_and_richards():
    x = RECEIVER[0] - SOURCE
    moved = moment_motion(SOLID, TENSOR, STEP, SOURCE, RECEIVER, T)[0]
    assert error(moved, aki_richards_moment(SOLID, STEP, x)) < 1e-12
    pushed = force_motion(SOLID, FORCE, ricker(8, 0.2), SOURCE, RECEIVER, T)[0]
    assert error(pushed, aki_richards_force(SOLID, ricker(8, 0.2), x)) < 1e-12


@pytest.mark.parametrize("kind", ["force", "moment"])
def test_stress_is_that_of_the_displacements_beside(kind):
    step = 0.5
    beside = (RECEIVER + step * np.array([[[1]], [[-1]]]) * np.eye(3)).reshape(6, 3)
    if kind == "force":
        found = force_stress(SOLID, FORCE, STEP, SOURCE, RECEIVER, T)[0]
        u = force_motion(SOLID, FORCE, STEP, SOURCE, beside, T)
    else:
        found = moment_stress(SOLID, TENSOR, STEP, SOURCE, RECEIVER, T)[0]
        u = moment_motion(SOLID, TENSOR, STEP, SOURCE, beside, T)
    gradient = (u[:3] - u[3:]).swapaxes(0, 1) / (2 * step)
    strain = (gradient + gradient.swapaxes(0, 1)) / 2
    expected = 2 * SOLID.shear * strain + SOLID.lame * np.eye(3)[:, :, None] * np.trace(strain)
    assert error(found, expected) < 1e-4


def test_the_force_and_the_stress_obey_the_equation_of_motion():
    step = 0.5
    beside = (RECEIVER + step * np.array([[[1]], [[-1]]]) * np.eye(3)).reshape(6, 3)
    stress = moment_stress(SOLID, TENSOR, STEP, SOURCE, beside, T)
    force = sum((stress[j, :, j] - stress[j + 3, :, j]) / (2 * step) for j in range(3))
    moved = moment_motion(SOLID, TENSOR, STEP, SOURCE, RECEIVER, T, order=2)[0]
    assert error(force, SOLID.density * moved) < 1e-4


def test_late_displacements_are_kelvins():
    u = force_motion(SOLID, FORCE, STEP, SOURCE, RECEIVER, np.array([20.0]))[0, :, 0]
    x = RECEIVER[0] - SOURCE
    r, nu = np.linalg.norm(x), SOLID.lame / (2 * (SOLID.lame + SOLID.shear))
    tensor = ((3 - 4 * nu) * np.eye(3) + np.outer(x, x) / r**2) / (16 * np.pi * SOLID.shear * (1 - nu) * r)
    assert error(u, tensor @ FORCE) < 1e-9


def test_an_explosion_is_radial_without_shear_and_a_sphere_around_a_source_gets_its_moment():
    u = moment_motion(SOLID, 1e15 * np.eye(3), STEP, SOURCE, RECEIVER, T)[0]
    x = RECEIVER[0] - SOURCE
    assert abs(np.cross(x, u, axisb=0)).max() < 1e-12 * np.linalg.norm(x) * abs(u).max()
    r, late = np.linalg.norm(x), T - np.linalg.norm(x) / SOLID.vp
    expected = (STEP(late) / r**2 + STEP(late, 1) / (SOLID.vp * r)) * 1e15 / (4 * np.pi * SOLID.density * SOLID.vp**2)
    assert error(x @ u / r, expected) < 1e-12


def test_reciprocity_and_decay_in_the_far_field():
    f = ricker(40, 0.2)
    there = force_motion(SOLID, [1, 0, 0], f, SOURCE, RECEIVER, T)[0, 2]
    back = force_motion(SOLID, [0, 0, 1], f, RECEIVER[0], SOURCE[None], T)[0, 0]
    assert error(there, back) < 1e-12
    away, t = np.array([[0.6, 0.0, 0.8]]), np.linspace(-0.2, 0.2, 801)
    for speed, part in ((SOLID.vp, away[0]), (SOLID.vs, np.array([0.8, 0.0, -0.6]))):
        peaks = []
        for r in (1e5, 2e5):
            u = moment_motion(SOLID, TENSOR, smooth_step(0, 0.02), np.zeros(3), r * away, t + r / speed, order=1)[0]
            peaks.append(abs(part @ u).max())
        pattern = abs(part @ TENSOR @ away[0]) / (4 * np.pi * SOLID.density * speed**3 * 2e5)
        assert peaks[0] / peaks[1] == pytest.approx(2, rel=1e-2)
        assert peaks[1] == pytest.approx(pattern * Bell(0, 0.02)(t, 1).max(), rel=1e-2)


def test_double_couples_of_known_faults():
    """Aki & Richards (2002), box 4.4, and three faults drawn by hand."""
    assert double_couple(0, 90, 0, 2) == pytest.approx(np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]]), abs=1e-12)
    assert double_couple(0, 45, 90) == pytest.approx(np.diag([0, -1, 1]), abs=1e-12)  # thrust: pressed along y
    assert double_couple(90, 90, 90) == pytest.approx(
        np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]]), abs=1e-12
    )  # south up
    s, d, r = np.radians([30, 40, 70])
    found = double_couple(30, 40, 70)
    assert found[0, 0] == pytest.approx(
        -(np.sin(d) * np.cos(r) * np.sin(2 * s) + np.sin(2 * d) * np.sin(r) * np.sin(s) ** 2)
    )
    assert found[0, 2] == pytest.approx(-(np.cos(d) * np.cos(r) * np.cos(s) + np.cos(2 * d) * np.sin(r) * np.sin(s)))
    assert found[2, 2] == pytest.approx(np.sin(2 * d) * np.sin(r))
    assert np.trace(found) == pytest.approx(0, abs=1e-12)


def test_a_line_of_explosions_has_the_potential_of_two_dimensions():
    receiver, source = np.array([[700.0, 0, 300.0]]), np.zeros(3)
    t, f = np.arange(100) * 6e-3, ricker(15, 0.1)
    found = line_source(
        lambda at, times: moment_motion(SOLID, np.eye(3), f, source, at, times), SOLID.vp, source, receiver, t
    )[0]
    assert abs(found[1]).max() < 1e-12 * abs(found).max()
    # phi = int f(t - R cosh s / vp) ds / (2 pi rho vp^2) and u = - grad phi.
    r = np.hypot(700, 300)
    s = np.linspace(0, 3, 3001)
    value = f(t[:, None] - r * np.cosh(s) / SOLID.vp, 1) * np.cosh(s) / SOLID.vp
    radial = np.trapezoid(value, s) / (2 * np.pi * SOLID.density * SOLID.vp**2)
    assert error(found[0], 0.7e3 / r * radial) < 1e-6


@pytest.mark.parametrize("f", [Bell(1, 0.1), smooth_step(1, 0.1), ricker(3, 1), Brune(0.1), Brune(0.1).rate()])
def test_integrals_derivatives_and_spectra_of_the_functions(f):
    t, dt = np.linspace(0, 12, 120001, retstep=True)
    for order in (-2, -1, 0):
        if f.kind + order < 2 and f.kind + order >= -2:
            slope = (f(t[2:], order) - f(t[:-2], order)) / (2 * dt)
            assert error(slope[2:], f(t[1:-1], order + 1)[2:]) < 2e-3
    w = np.array([0, 1.0, 20.0]) - 2j
    spectrum = np.trapezoid(f(t) * np.exp(-1j * w[:, None] * t), dx=dt)
    assert error(spectrum, f.spectrum(w)) < 1e-6


def test_a_sampled_function_is_the_function():
    grid = np.arange(0, 0.4001, 0.005)
    sampled, t = Sampled(STEP(grid), 0.005), np.linspace(-0.1, 1, 500)
    for order, bound in ((-2, 1e-6), (-1, 1e-6), (0, 1e-6), (1, 1e-4), (2, 1e-3)):
        assert error(sampled(t, order), STEP(t, order)) < bound
