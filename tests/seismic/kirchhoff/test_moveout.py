"""Effective eta: a flat reflector under a homogeneous VTI layer is imaged at one time at all offsets."""

import numpy as np
import pytest
from kirchhoff_support import Experiment, pairs, peak
from scipy.optimize import brentq
from support import ricker

VP, DELTA, DEPTH = 2500.0, 0.1, 1500.0
T0 = 2 * DEPTH / VP
V_NMO = VP * np.sqrt(1 + 2 * DELTA)
OFFSETS = np.array([0.0, 0.5, 1.0, 1.5, 2.0]) * DEPTH
ETAS = (0.03, 0.06, 0.09)
INTERVAL, FREQUENCY = 0.004, 20.0


def exact_time(eta, offset):
    """Of the reflection, s: q(p) of plane waves of horizontal slowness p in an acoustic VTI medium,
    q² = (1 - v² p² / (1 - 2 η v² p²)) / vp², v the velocity of NMO; rays leave along the group velocity, so that the
    offset is -2 z dq/dp and the time 2 z (q - p dq/dp)."""
    v2 = V_NMO**2

    def ray(p):
        below = 1 - 2 * eta * v2 * p**2
        q = np.sqrt(1 - v2 * p**2 / below) / VP
        return q, -v2 * p / below**2 / (q * VP**2)

    def miss(p):
        return -2 * DEPTH * ray(p)[1] - offset

    p = brentq(miss, 0.0, (1 - 1e-9) / np.sqrt(v2 * (1 + 2 * eta)), xtol=1e-18)
    q, slope = ray(p)
    return 2 * DEPTH * (q - p * slope)


def approximate_time(t0, offset, eta):
    """Of the moveout that the operator follows (Alkhalifah & Tsvankin 1995)."""
    x2, v2 = offset**2, V_NMO**2
    return np.sqrt(t0**2 + x2 / v2 - 2 * eta * x2**2 / (v2 * (t0**2 * v2 + (1 + 2 * eta) * x2)))


def approximation_error(eta, offset):
    """Of the image's time, s: where the approximate moveout puts the exact time."""
    time = exact_time(eta, offset)
    return float(brentq(lambda t0: approximate_time(t0, offset, eta) - time, 0.1, 2 * T0) - T0)


def imaged(eta, used, offset):
    """Time, s, at which the reflector of a layer of `eta` is imaged with `used`."""
    case = Experiment((1, 1, 150), (12.5, 1.0, INTERVAL), (0.0, 0.0, T0 - 0.4), V_NMO, used, INTERVAL, 600, {})
    trace = ricker(case.times - exact_time(eta, offset), FREQUENCY)
    places = pairs(np.arange(-1500, 1501, 12.5), np.zeros(1), offset)
    image = case.image_of_fine(case.series(trace[None]), places)[0, 0, 0]
    return float(case.origin[2] + INTERVAL * peak(image)[0])


def moveout(eta, used):
    """(offsets,): by how much the image's time differs from T0, s."""
    return np.array([imaged(eta, used, offset) - T0 for offset in OFFSETS])


def test_exact_times():
    """Those of an ellipse without eta; with it the latest of all plane waves p x + 2 z q(p) (the envelope)."""
    assert exact_time(0.0, 2000.0) == pytest.approx(np.hypot(T0, 2000.0 / V_NMO), abs=1e-12)
    p = np.linspace(0, 1 / np.sqrt(V_NMO**2 * 1.18), 1_000_001)
    q = np.sqrt(np.maximum(1 - (V_NMO * p) ** 2 / (1 - 0.18 * (V_NMO * p) ** 2), 0)) / VP
    for offset in OFFSETS:
        assert exact_time(0.09, offset) == pytest.approx((p * offset + 2 * DEPTH * q).max(), abs=1e-9)


@pytest.mark.parametrize("eta", ETAS)
def test_a_vti_layer_is_flat(eta):
    """Within 4 ms and the error of the approximation, which is below 3 ms here; the hyperbola is wrong by more than 20
    ms at the largest eta and offset."""
    known = np.array([approximation_error(eta, offset) for offset in OFFSETS])
    found = moveout(eta, eta)
    assert np.abs(known).max() < 0.003
    assert (np.abs(found) <= 0.004 + np.abs(known)).all()
    np.testing.assert_allclose(found, known, atol=0.001)  # the approximation is all that is left
    hyperbola = imaged(eta, None, OFFSETS[-1]) - T0
    assert abs(hyperbola) > 0.02 * eta / ETAS[-1]
