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
    """Within 0.2 ms at offsets up to twice the depth; the hyperbola is wrong by more than 20 ms at the largest eta and
    offset."""
    assert np.abs(moveout(eta, eta)).max() < 0.0002
    hyperbola = imaged(eta, None, OFFSETS[-1]) - T0
    assert abs(hyperbola) > 0.02 * eta / ETAS[-1]


def leg_times(eta):
    """Function of dx, dz (arrays, m): the exact time from a point over dx, dz, s; rays by their slowness, as above."""
    u = np.sin(np.linspace(0, np.pi / 2, 20001)[:-1]) / np.sqrt(1 + 2 * eta)  # p v
    below = 1 - 2 * eta * u**2
    q = np.sqrt(1 - u**2 / below)
    over = u / below**2 / q  # dx / (v dz / vp)
    late = q + u * over

    def times(dx, dz):
        vertical = dz / VP
        return vertical * np.interp(np.abs(dx) / (V_NMO * vertical), over, late)

    return times


def reflection_times(eta, dip, depth, sources, receivers):
    """(n,) of the plane through (0, depth) with a dip, s: the least over its points (Fermat), by parabolas."""
    x = np.arange(-3000.0, 6001.0, 10.0)
    z = depth + np.tan(dip) * x
    x, z = x[z > 50], z[z > 50]
    times = leg_times(eta)
    found = np.empty(len(sources))
    for n, (s, r) in enumerate(zip(sources, receivers, strict=True)):
        t = times(x - s, z) + times(x - r, z)
        found[n] = -peak(-t)[1]
    return found


DIPS = (0, 25, 40)


def dip_errors(degrees, spacing=25.0, above=0.2, offsets=(0.0, 900.0, 1800.0)):
    """Of planes with epsilon 0.25 and delta 0.1, at offsets up to 1.5 times the depth: s by which the image's time
    differs from twice the vertical time to the plane below."""
    eta, depth = (0.25 - DELTA) / (1 + 2 * DELTA), 1200.0
    below = 2 * depth / VP
    case = Experiment(
        (1, 1, 112), (spacing, 1.0, INTERVAL), (0.0, 0.0, below - above), V_NMO, eta, INTERVAL, 700, {"dip": 70.0}
    )
    errors = []
    for offset in offsets:
        places = pairs(np.arange(-1000, 4001, spacing), np.zeros(1), offset)  # a plane that dips reflects up the dip
        times = reflection_times(eta, np.radians(degrees), depth, places[:, 0], places[:, 2])
        image = case.image(ricker(case.times[None] - times[:, None], FREQUENCY), places)[0, 0, 0]
        errors.append(case.origin[2] + INTERVAL * peak(image)[0] - below)
    return np.array(errors)


@pytest.mark.parametrize("degrees", DIPS)
def test_dips_of_a_vti_layer_are_imaged_at_their_times(degrees):
    """Within half a millisecond; a moveout that is 2e-3 of the time off puts planes of 40 degrees 7 ms off."""
    assert np.abs(dip_errors(degrees)).max() < 0.0005


def test_dips_do_not_depend_on_where_nodes_lie():
    """Triangles of the anti-alias filter change from sample to sample: at midpoints 50 m apart, where they are long, an
    image that begins half a segment earlier has the plane at the same time, within 0.3 ms."""
    found = [dip_errors(40, 50.0, above, (0.0,))[0] for above in (0.2, 0.2 + 8 * INTERVAL)]
    assert np.ptp(found) < 0.0003
