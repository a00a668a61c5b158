"""The transforms that add and remove leapfrog's error in time, against an oscillator whose motion is known."""

import tracemalloc

import numpy as np
import pytest
from support import band_limited

from fathometer.seismic.traces.dispersion import (
    PASSES,
    WORKSPACE_BYTES,
    adjoint_of_inverse,
    forward_transform,
    inverse_transform,
)

STEPS, ZERO = 800, 60
BAND = 2 * np.sin(PASSES / 2)  # of Omega dt: passes both ways


def oscillator(force, frequency):
    """Leapfrog of w_tt = -Omega^2 w + f with Omega dt = frequency: w(STEPS)."""
    w = np.zeros(len(force) + 1)
    for n in range(1, len(force)):
        w[n + 1] = 2 * w[n] - w[n - 1] - frequency**2 * w[n] + force[n]
    return w[:-1]


@pytest.mark.parametrize("frequency", [0.3, 0.9, 1.4])
def test_an_oscillator_moves_as_it_would_in_exact_time(frequency):
    """w(t) = int sin(Omega (t-s)) / Omega f(s) ds. It rings on where the record ends; only there it shows."""

    def force(t):
        return np.exp(-0.5 * (t / 9.0) ** 2) * np.cos(frequency * t)

    t, s = np.arange(STEPS) - ZERO, np.arange(-32 * ZERO, 32 * ZERO) / 32
    exact = np.where(t[:, None] > s, np.sin(frequency * (t[:, None] - s)) / frequency, 0) @ force(s) / 32
    plain = oscillator(force(t), frequency)
    fed = forward_transform(force(t)[None], ZERO)[0]
    corrected = inverse_transform(oscillator(fed, frequency)[None], ZERO)[0]
    size = np.linalg.norm(exact)
    assert np.linalg.norm(plain - exact) >= 0.4 * size
    assert np.linalg.norm((corrected - exact)[:-30]) <= 1e-5 * size
    assert np.linalg.norm(corrected - exact) <= 0.01 * size


@pytest.mark.parametrize("frequency", [0.3, 0.9, 1.4])
@pytest.mark.parametrize("half", [0.0, 0.5])
def test_staggered_leapfrog_moves_as_in_exact_time(frequency, half):
    """u_t = Omega v + g, v_t = -Omega u + f, u at steps and v in the middle of them, where t = 0 is between samples.
    half: of the force, f at steps or g in the middle; v(t) = int cos(Omega (t-s)) f(s) - sin(Omega (t-s)) g(s) ds."""

    def force(t):
        return np.exp(-0.5 * (t / 9.0) ** 2) * np.cos(frequency * t)

    def stepped(force):
        u, v = 0.0, np.zeros(STEPS)
        for n in range(STEPS):
            v[n] = v[n - 1] - frequency * u + (0 if half else force[n])
            u += frequency * v[n] + (force[n] if half else 0)
        return v

    t, s = np.arange(STEPS) + 0.5 - ZERO, np.arange(-32 * ZERO, 32 * ZERO) / 32
    kernel = (lambda x: -np.sin(x)) if half else np.cos
    exact = np.heaviside(t[:, None] - s, 0.5) * kernel(frequency * (t[:, None] - s)) @ force(s) / 32
    fed = forward_transform(force(np.arange(STEPS) + half - ZERO)[None], ZERO - half)[0]
    corrected = inverse_transform(stepped(fed)[None], ZERO - 0.5)[0]
    assert np.linalg.norm((corrected - exact)[:-30]) <= 1e-5 * np.linalg.norm(exact)


@pytest.mark.parametrize("zero", [0, ZERO, STEPS // 2, STEPS - 1])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-6)])
def test_forward_and_inverse_undo_each_other(zero, dtype, tolerance):
    """Also at the far end of the record, although the error moves what lies there by many steps."""
    series = band_limited(np.random.default_rng(1), 3, STEPS, 0.8 * BAND).astype(dtype)
    size = np.linalg.norm(series, axis=1)
    stepped = forward_transform(series, zero)
    assert stepped.dtype == dtype
    assert (np.linalg.norm(stepped - series, axis=1) >= 0.5 * size).all()
    there_and_back = inverse_transform(stepped, zero)
    assert there_and_back.dtype == dtype
    assert (np.linalg.norm(there_and_back - series, axis=1) <= tolerance * size).all()


def test_a_wave_comes_earlier_on_the_steps_and_later_back():
    """By the group delay: t cos(omega dt/2) and back; at t = 0 it stays; what is moved off the record is gone."""
    t = np.arange(STEPS) - ZERO

    def packet(place, frequency):
        return np.exp(-0.5 * ((t - place) / 25.0) ** 2) * np.cos(frequency * (t - place))

    def centre(series):
        return np.sum(t * series**2) / np.sum(series**2)

    omega = 1.0
    frequency = 2 * np.sin(omega / 2)
    for place in (0, 400, 600):
        (stepped,) = forward_transform(packet(place, frequency)[None], ZERO)
        assert centre(stepped) == pytest.approx(place * np.cos(omega / 2), abs=0.5)
        (back,) = inverse_transform(packet(place, omega)[None], ZERO)
        if place < 600:
            assert centre(back) == pytest.approx(place / np.cos(omega / 2), abs=0.5)
    late = packet(STEPS - ZERO - 100, omega)
    assert np.linalg.norm(inverse_transform(late[None], ZERO)[0, : STEPS - 200]) <= 1e-9 * np.linalg.norm(late)


@pytest.mark.parametrize("zero", [0, ZERO])
def test_the_adjoint_of_the_inverse(zero):
    """<I x, y> = <x, I* y>."""
    rng = np.random.default_rng(2)
    x, y = (band_limited(rng, 1, STEPS, 0.7 * BAND) for _ in range(2))
    left, right = np.sum(inverse_transform(x, zero) * y), np.sum(x * adjoint_of_inverse(y, zero))
    size = np.linalg.norm(x) * np.linalg.norm(y)
    assert abs(left) >= 1e-3 * size
    assert abs(left - right) <= 1e-9 * size


def test_a_sum_of_products_over_the_steps_is_the_one_over_true_time():
    """What an image is: source's wavefield, transformed forwards, times receivers', by the inverse's adjoint."""
    rng = np.random.default_rng(3)
    x, y = (band_limited(rng, 20, STEPS, 0.8 * BAND) for _ in range(2))
    wanted = np.sum(x * y, axis=1)
    size = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    with_it = np.sum(forward_transform(x, ZERO) * adjoint_of_inverse(y, ZERO), axis=1)
    without = np.sum(forward_transform(x, ZERO) * forward_transform(y, ZERO), axis=1)
    assert np.max(np.abs(with_it - wanted) / size) <= 1e-9
    assert np.max(np.abs(without - wanted) / size) >= 1e-3


@pytest.mark.parametrize("transform", [forward_transform, inverse_transform, adjoint_of_inverse])
def test_nothing_blows_up(transform):
    """Noise of all frequencies up to Nyquist, a spike, an abrupt end, alternating signs, zeros."""
    noise = np.random.default_rng(4).standard_normal(STEPS)
    spike = np.eye(1, STEPS, 500)[0]
    ramp = np.linspace(0, 1, STEPS)
    alternating = (-1.0) ** np.arange(STEPS)
    series = np.array([noise, spike, ramp, alternating, np.zeros(STEPS)])
    result = transform(series, ZERO)
    assert np.isfinite(result).all()
    assert (np.linalg.norm(result, axis=1) <= 1.05 * np.linalg.norm(series, axis=1)).all()
    assert np.linalg.norm(result[3]) <= 0.1 * np.linalg.norm(series[3])
    assert not result[4].any()


@pytest.mark.parametrize("transform", [forward_transform, inverse_transform, adjoint_of_inverse])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_series_does_not_depend_on_its_neighbours(transform, dtype):
    """Bitwise: whatever the other series are and however many, where they lie in memory."""
    series = np.random.default_rng(5).standard_normal((23, 501)).astype(dtype)
    together = transform(series, 17)
    for rows in ([4], [22, 0], [3, 4, 5, 6, 7, 8, 9], range(22, -1, -1)):
        own = transform(np.ascontiguousarray(series[rows]), 17)
        assert own.tobytes() == together[rows].tobytes()
    assert transform(np.asfortranarray(series), 17).tobytes() == together.tobytes()
    assert transform(series[:0], 17).shape == (0, 501)


@pytest.mark.parametrize(("samples", "zero"), [(1, 0), (1, 1), (2, 1), (5, 0), (7, 3)])
def test_short_series(samples, zero):
    """Shorter than the window that reads their spectra; t = 0 may lie just behind their end."""
    series = np.ones((2, samples))
    for transform in (forward_transform, inverse_transform, adjoint_of_inverse):
        assert np.isfinite(transform(series, zero)).all()


@pytest.mark.parametrize("transform", [forward_transform, inverse_transform, adjoint_of_inverse])
def test_memory_does_not_grow_with_the_square_of_the_steps(transform):
    series = np.zeros((3, 20_000))
    tracemalloc.start()
    try:
        transform(series, 100)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= series.nbytes + WORKSPACE_BYTES * series.shape[1]
