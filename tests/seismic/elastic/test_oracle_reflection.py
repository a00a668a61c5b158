"""Reflection and transmission in the kernels of wavenumber integration: Aki & Richards (2002), eq. 5.33 and 5.40."""

from functools import partial

import numpy as np
import pytest
from attenuated_plane_wave import complex_velocity
from layered_kernels import Layer, kernels

UPPER, LOWER = Layer(500.0, 3000.0, 1800.0, 2200.0), Layer(0.0, 4200.0, 2500.0, 2600.0)
OMEGA = 2 * np.pi * 5.0
P = np.array([0.3e-4, 1e-4, 2e-4])  # slownesses before the critical one


def motion(layers, depth, k):
    """Of an explosion 200 m above the interface, and of M23."""
    psv, sh = kernels(layers, 300.0, depth, False, k, OMEGA, partial(complex_velocity, reference=1.0))
    return psv[:, :2, 0] + psv[:, :2, 2], sh[:, 1]


def cosines(layer):
    return np.sqrt(1 - (layer.vp * P) ** 2), np.sqrt(1 - (layer.vs * P) ** 2)


def test_an_interface_reflects_and_transmits_as_zoeppritz_says():
    k = -OMEGA * P  # waves that run along x
    (i1, j1), (i2, j2) = cosines(UPPER), cosines(LOWER)
    a1, b1, r1, a2, b2, r2 = UPPER.vp, UPPER.vs, UPPER.density, LOWER.vp, LOWER.vs, LOWER.density
    q1, q2 = 1 - 2 * (b1 * P) ** 2, 1 - 2 * (b2 * P) ** 2
    a, b, c = r2 * q2 - r1 * q1, r2 * q2 + 2 * r1 * (b1 * P) ** 2, r1 * q1 + 2 * r2 * (b2 * P) ** 2
    d = 2 * (r2 * b2**2 - r1 * b1**2)
    e, f = b * i1 / a1 + c * i2 / a2, b * j1 / b1 + c * j2 / b2
    g, h = a - d * i1 / a1 * j2 / b2, a - d * i2 / a2 * j1 / b1
    all_ = e * f + g * h * P**2
    pp = ((b * i1 / a1 - c * i2 / a2) * f - (a + d * i1 / a1 * j2 / b2) * h * P**2) / all_
    ps = -2 * i1 / a1 * (a * b + c * d * i2 / a2 * j2 / b2) * P * a1 / (b1 * all_)
    through, turned = 2 * r1 * i1 / a1 * f * a1 / (a2 * all_), 2 * r1 * i1 / a1 * h * P * a1 / (b2 * all_)

    def later(speed, cosine, way):
        return np.exp(-1j * OMEGA * cosine / speed * way)

    homogeneous = [UPPER, UPPER]
    incident = motion(homogeneous, 500.0, k)[0]
    size = incident[:, 1] / i1
    assert incident[:, 0] == pytest.approx(size * a1 * P, rel=1e-9)
    up = motion([UPPER, LOWER], 100.0, k)[0] - motion(homogeneous, 100.0, k)[0]
    p, s = pp * later(a1, i1, 400), ps * later(b1, j1, 400)
    assert up[:, 0] / size == pytest.approx(p * a1 * P + s * j1, rel=1e-9)
    assert up[:, 1] / size == pytest.approx(-p * i1 + s * b1 * P, rel=1e-9)
    down = motion([UPPER, LOWER], 700.0, k)[0]
    p, s = through * later(a2, i2, 200), turned * later(b2, j2, 200)
    assert down[:, 0] / size == pytest.approx(p * a2 * P + s * j2, rel=1e-9)
    assert down[:, 1] / size == pytest.approx(p * i2 - s * b2 * P, rel=1e-9)

    size, found = motion(homogeneous, 500.0, k)[1], motion([UPPER, LOWER], 700.0, k)[1]
    z1, z2 = r1 * b1 * j1, r2 * b2 * j2
    assert found / size == pytest.approx(2 * z1 / (z1 + z2) * later(b2, j2, 200), rel=1e-9)
    found = motion([UPPER, LOWER], 100.0, k)[1] - motion(homogeneous, 100.0, k)[1]
    assert found / size == pytest.approx((z1 - z2) / (z1 + z2) * later(b1, j1, 400), rel=1e-9)


def test_water_reflects_as_a_fluid_over_a_solid():
    """Brekhovskikh (1980), Waves in Layered Media: impedances of P and S, shared by cos^2 2j and sin^2 2j."""
    water, k = Layer(500.0, 1500.0, 0.0, 1000.0), -OMEGA * P
    (i2, j2), i1 = cosines(LOWER), np.sqrt(1 - (1500 * P) ** 2)
    twice = 2 * np.arcsin(LOWER.vs * P)
    solid = LOWER.density * (LOWER.vp / i2 * np.cos(twice) ** 2 + LOWER.vs / j2 * np.sin(twice) ** 2)
    expected = (solid - 1000 * 1500 / i1) / (solid + 1000 * 1500 / i1)
    homogeneous = motion([water, water], 500.0, k)[0][:, 1]
    up = motion([water, LOWER], 100.0, k)[0] - motion([water, water], 100.0, k)[0]
    turn = np.exp(-1j * OMEGA * i1 / 1500 * 400)
    assert up[:, 1] / homogeneous == pytest.approx(-expected * turn, rel=1e-9)
