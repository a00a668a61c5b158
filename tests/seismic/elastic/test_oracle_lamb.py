"""Lamb's problem by the slowness integral against the closed form, static limits and the Rayleigh wave."""

from itertools import pairwise

import numpy as np
import pytest
from elastic_full_space import Solid
from lamb_support import garvin, lamb, lamb_line, lamb_step, rayleigh_slowness
from source_functions import smooth_step

SOLIDS = [Solid(6000.0, 3464.0, 2700.0), Solid(3000.0, 1900.0, 2000.0), Solid(1800.0, 400.0, 1900.0)]
R = 1000.0


def error(found, expected):
    return abs(found - expected).max() / abs(expected).max()


def closed_form(solid, last):
    """Delays per metre of distance up to `last` and the closed form times 1 m there, with quadrature weights."""
    pole, out = rayleigh_slowness(solid), []
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = (x + 1) / 2, w / 2
    edges = [1 / solid.vp, 1 / solid.vs, pole]
    for low, high in pairwise(edges):  # square roots at both ends
        s = np.pi / 2 * x
        out.append((low + (high - low) * np.sin(s) ** 2, (high - low) * np.sin(2 * s) * w * np.pi / 2))
    for n in range(12):
        out.append((pole + (last - pole) * (n + x) / 12, (last - pole) / 12 * w))
    slowness, weight = (np.concatenate(part) for part in zip(*out, strict=True))
    return slowness, weight * lamb_step(solid, 1.0, slowness)


@pytest.mark.parametrize("solid", SOLIDS)
def test_the_vertical_displacement_is_kausels(solid):
    t = np.linspace(0, 5 * R / solid.vs, 60)
    f = smooth_step(0.5 * R / solid.vs, 0.06 * R / solid.vs)
    slowness, weight = closed_form(solid, t[-1] / R)
    assert error(lamb(solid, f, R, t, points=200)[0], f(t[:, None] - slowness * R, 1) @ weight) < 1e-6
    y = R * np.sinh(np.linspace(0, np.arcsinh(5 * solid.vp / solid.vs), 400))  # the line of forces, point by point
    dy = np.gradient(y) * np.where(y == 0, 0.5, 1)
    line = [2 * dy @ f(now - slowness * np.hypot(R, y)[:, None], 1) @ weight for now in t]
    assert error(lamb_line(solid, f, R, t)[0], np.array(line)) < 1e-3


@pytest.mark.parametrize("solid", SOLIDS)
def test_late_displacements_are_those_of_boussinesq_and_cerruti(solid):
    late, poisson = np.array([60 * R / solid.vs]), solid.lame / (2 * (solid.lame + solid.shear))
    f = smooth_step(10 * R / solid.vs, R / solid.vs)
    found = lamb(solid, f, R, late)[:, 0] * 2 * np.pi * solid.shear * R
    assert found == pytest.approx([1 - poisson, poisson - 0.5, 1, 1 - poisson], abs=5e-4)
    moved = garvin(solid, f, 0.3 * R, R, late)[:, 0] * 2 * np.pi * solid.density * solid.vp**2
    assert moved == pytest.approx(4 * (1 - poisson) * np.array([1, -0.3]) / (1.09 * R), rel=2e-3)


def test_rayleigh_waves_have_their_velocity_and_shape():
    solid, f = SOLIDS[0], smooth_step(0.1, 0.01)
    assert 1 / (rayleigh_slowness(solid) * solid.vs) == pytest.approx(0.9194, abs=2e-4)  # Poisson solid
    peaks, delays = [], []
    for x in (50e3, 100e3):
        t = x * rayleigh_slowness(solid) + np.linspace(0, 0.2, 401)
        z, x_ = lamb_line(solid, f, x, t, order=1, panels=80)[:2]
        peaks.append((abs(z).max(), abs(x_).max()))
        delays.append(t[np.argmax(abs(x_))])
    assert peaks[1][0] == pytest.approx(peaks[0][0], rel=1e-2)
    assert np.diff(delays)[0] / 50e3 == pytest.approx(rayleigh_slowness(solid), rel=1e-6)
    # z is the Hilbert transform of x: the ellipse is 1.468 times as high as wide.
    t, series = np.linspace(-8, 8, 16001), smooth_step(0, 0.01)
    hilbert = np.array([np.sum(series(0.0 + s - t[1::2], 1) / t[1::2]) * 2e-3 / np.pi for s in t[7900:8101]])
    assert peaks[1][0] / peaks[1][1] == pytest.approx(1.468 * abs(hilbert).max() / series(0.0, 1), rel=1e-2)
