"""The amplitude weights of time migration against the determinant that they come from, and the filter of the traces."""

import math

import numpy as np
import pytest
from kirchhoff_support import Experiment
from support import ricker

from fathometer import _native
from fathometer.seismic.kirchhoff.series import FINER, SeriesFilter

VELOCITY = 2000.0
NODES = slice(_native.KIRCHHOFF_SEGMENT, None, _native.KIRCHHOFF_SEGMENT)  # samples where weights are not interpolated
PLACES = [  # x, y of source and receiver, m, about the column at 0
    (0.0, 0.0, 0.0, 0.0),
    (-500.0, 0.0, 500.0, 0.0),
    (300.0, 0.0, 1300.0, 0.0),
    (-200.0, 450.0, 700.0, -150.0),
]


def gradient(source, receiver, point):
    """Of the time from source over point to receiver, with respect to the point, s/m."""
    legs = [point - source, point - receiver]
    return sum(leg / np.linalg.norm(leg) for leg in legs) / VELOCITY


def true_amplitude(place, t0):
    """r_s r_r |h| / (π |∇φ|²), h the determinant of ∇φ and its derivatives with respect to the midpoint
    (docs/theory.md); by differences."""
    source, receiver = np.array([*place[:2], 0.0]), np.array([*place[2:], 0.0])
    point, step = np.array([0.0, 0.0, VELOCITY * t0 / 2]), 0.01
    moved = [
        (gradient(source + d, receiver + d, point) - gradient(source - d, receiver - d, point)) / (2 * step)
        for d in step * np.eye(3)[:2]
    ]
    across = gradient(source, receiver, point)
    distances = np.linalg.norm(point - source) * np.linalg.norm(point - receiver)
    return distances * abs(np.linalg.det([across, *moved])) / (math.pi * across @ across)


def out_of_plane(place, t0):
    """Factor of the sum over lines beside that of a 2D survey, by stationary phase: √(2π / φ_yy)."""
    step, depth = 1.0, VELOCITY * t0 / 2
    times = [
        sum(math.sqrt(x**2 + y**2 + depth**2) for x in (place[0], place[2])) / VELOCITY for y in (-step, 0.0, step)
    ]
    return math.sqrt(2 * math.pi * step**2 / (times[0] - 2 * times[1] + times[2]))


def weights_of(dimensions, place, **keys):
    """Times and weights at the nodes of a column: what a trace of ones gives."""
    shape = (2, 2, 200) if dimensions == 3 else (2, 1, 200)
    wide = {"dip": 90.0, "anti_alias": "none"} | keys
    case = Experiment(shape, (25.0, 25.0, 0.008), (0.0, 0.0, 0.0), VELOCITY, None, 0.004, 700, wide)
    ones = np.ones((1, FINER * case.samples), np.float32)
    return case.t0[NODES], case.image_of_fine(ones, np.array([place]))[0, 0, 0, NODES]


@pytest.mark.parametrize("place", PLACES)
def test_weights_in_3d_are_those_of_the_determinant(place):
    times, found = weights_of(3, place)
    np.testing.assert_allclose(found, [true_amplitude(place, t0) for t0 in times], rtol=1e-5)


@pytest.mark.parametrize("place", [one for one in PLACES if one[1] == 0])
def test_weights_in_2d_are_those_of_a_sum_over_lines(place):
    times, found = weights_of(2, place)
    point = np.array([true_amplitude(place, t0) * out_of_plane(place, t0) for t0 in times])
    np.testing.assert_allclose(found, point, rtol=1e-4)  # differences of second order
    paths = sum(np.hypot(x, VELOCITY * times / 2) for x in (place[0], place[2]))
    line = point / np.sqrt(
        2 * math.pi * VELOCITY * paths
    )  # of Green's functions of lines and points: p2 = √(2π c ρ) I½ p3
    np.testing.assert_allclose(weights_of(2, place, sources="line")[1], line, rtol=1e-4)


def test_no_weights_are_1():
    assert set(weights_of(3, PLACES[1], weights="none")[1].tolist()) == {1.0}


INTERVAL, SAMPLES, FREQUENCY = 0.004, 250, 25.0
FINE = INTERVAL / FINER * np.arange(FINER * SAMPLES)
MIDDLE = 0.5


def changed(t, power, phase):
    """A Ricker wavelet at times t, its spectrum times ω^power and turned by a phase; by quadrature."""
    peak = 2 * np.pi * FREQUENCY
    omega = np.linspace(0, 8 * peak, 20001)
    spectrum = 4 * np.sqrt(np.pi) * omega**2 / peak**3 * np.exp(-((omega / peak) ** 2))
    parts = spectrum * omega**power
    return np.array([np.trapezoid(parts * np.cos(omega * one + phase), omega) for one in t]) / np.pi


SUMMED = ("space", "points", "lines")


def filter_error(summed):
    """Of the filtered trace, over its largest value."""
    trace = ricker(INTERVAL * np.arange(SAMPLES) - MIDDLE, FREQUENCY)
    found = SeriesFilter(INTERVAL, SAMPLES, summed)(trace[None])[0]
    s = FINE - MIDDLE
    if summed == "space":
        a = (np.pi * FREQUENCY) ** 2
        wanted = (6 * a * s - 4 * a**2 * s**3) * np.exp(-a * s**2)  # - dw/dt
    else:
        wanted = changed(s, 0.5, -np.pi / 4) if summed == "points" else changed(s, 1.0, 0.0)
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("summed", SUMMED)
def test_traces_are_differentiated(summed):
    """By a whole or half a derivative, or two halves of opposite phase, at four times as many samples, as closely as
    float32 can."""
    assert filter_error(summed) < 1e-6


@pytest.mark.parametrize("summed", SUMMED)
def test_the_filters_transpose(summed):
    series, source = SeriesFilter(INTERVAL, SAMPLES, summed), np.random.default_rng(3)
    traces = source.standard_normal((4, SAMPLES))
    fine = source.standard_normal((4, FINER * SAMPLES))
    there, back = series(traces).astype(float), series.transposed(fine).astype(float)
    apart = abs((there * fine).sum() - (traces * back).sum())
    assert apart <= 1e-7 * np.linalg.norm(there) * np.linalg.norm(fine)
