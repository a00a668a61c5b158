"""Resampling against band-limited signals that are known at every time."""

import math

import numpy as np
import pytest

from fathometer.base.errors import InputError
from fathometer.seismic.traces.resampling import interpolate, low_pass, resample

FMAX = 40.0
DURATION = 4.0


def signal(t: np.ndarray, seed: int = 1) -> np.ndarray:
    """Twelve sines between 0.5 Hz and FMAX with random phases."""
    random = np.random.default_rng(seed)
    f = np.linspace(0.5, FMAX, 12)
    phase = random.uniform(0, 2 * np.pi, 12)
    return np.sin(2 * np.pi * f[:, None] * t[None, :] + phase[:, None]).sum(axis=0)


def middle(t: np.ndarray, *steps: float) -> np.ndarray:
    """The times at which the kernel lies wholly within the input, whose ends are 0 and DURATION."""
    reach = low_pass(FMAX, *steps).half_width
    return (t > reach) & (t < DURATION - reach)


@pytest.mark.parametrize(
    ("dt_in", "dt_out", "first_out"),
    [
        (0.004, 0.001, 0.0),
        (0.004, 0.0007, -0.3),
        (0.001, 0.004, 0.0),
        (0.0007, 0.004, 0.0123),
        (0.004, 0.004, 0.0),
        (0.004, 0.004, 0.001),
        (0.003, 0.003 / math.sqrt(2), -0.1),
        (0.01, 0.001, 0.0),
    ],
)
def test_signals_within_the_band_are_reproduced(dt_in: float, dt_out: float, first_out: float) -> None:
    t_in = np.arange(round(DURATION / dt_in) + 1) * dt_in
    n_out = int((DURATION - first_out) / dt_out)
    t_out = first_out + dt_out * np.arange(n_out)
    inside = middle(t_out, dt_in, dt_out)
    assert inside.sum() > 100
    got = resample(signal(t_in)[None, :], 0.0, dt_in, first_out, dt_out, n_out, FMAX)[0]
    error = np.max(np.abs(got - signal(t_out))[inside]) / np.max(np.abs(signal(t_in)))
    assert error <= 1e-4


@pytest.mark.parametrize(("dt_in", "dt_out"), [(0.004, 0.001), (0.001, 0.004), (0.0013, 0.004), (0.002, 0.002)])
@pytest.mark.parametrize("excess", [1.5, 1.7, 2.5, 3.1])
def test_the_stop_band_is_80_db_down(dt_in: float, dt_out: float, excess: float) -> None:
    frequency = excess * FMAX
    t_in = np.arange(round(DURATION / dt_in) + 1) * dt_in
    n_out = round(DURATION / dt_out)
    if frequency >= 0.5 / dt_in:
        pytest.skip("the input can't hold this frequency")
    sine = np.sin(2 * np.pi * frequency * t_in)
    got = resample(sine[None, :], 0.0, dt_in, 0.0, dt_out, n_out, FMAX)[0]
    inside = middle(dt_out * np.arange(n_out), dt_in, dt_out)
    assert np.max(np.abs(got[inside])) <= 1e-4


@pytest.mark.parametrize(("dt_in", "dt_out"), [(0.004, 0.0011), (0.001, 0.004)])
def test_a_constant_stays(dt_in: float, dt_out: float) -> None:
    n_out = round(DURATION / dt_out)
    ones = np.ones((1, round(DURATION / dt_in) + 1))
    got = resample(ones, 0.0, dt_in, 0.0, dt_out, n_out, FMAX)[0]
    assert np.max(np.abs(got - 1.0)[middle(dt_out * np.arange(n_out), dt_in, dt_out)]) <= 1e-4


def test_there_and_back() -> None:
    t = np.arange(1001) * 0.004
    quiet = signal(t) * np.exp(-(((t - 2.0) / 0.4) ** 2))
    fine = resample(quiet[None, :], 0.0, 0.004, -0.2, 0.00093, 4800, 50.0)
    back = resample(fine, -0.2, 0.00093, 0.0, 0.004, 1001, 50.0)[0]
    assert np.max(np.abs(back - quiet)) / np.max(np.abs(quiet)) <= 2e-4


def test_start_times_shift_the_result_exactly() -> None:
    x = np.random.default_rng(2).standard_normal((3, 400))
    plain = resample(x, 0.0, 0.004, 0.0, 0.001, 1000, FMAX)
    later = resample(x, 8.0, 0.004, 8.0, 0.001, 1000, FMAX)
    assert np.allclose(plain, later, rtol=0.0, atol=1e-10)
    part = resample(x, 0.0, 0.004, 0.25, 0.001, 500, FMAX)
    assert np.allclose(plain[:, 250:750], part, rtol=0.0, atol=1e-12)


def test_series_are_zero_outside_their_samples() -> None:
    x = np.random.default_rng(3).standard_normal((2, 100))
    padded = np.zeros((2, 300))
    padded[:, 100:200] = x
    short = resample(x, 0.4, 0.004, -1.0, 0.003, 1000, FMAX)
    long = resample(padded, 0.0, 0.004, -1.0, 0.003, 1000, FMAX)
    assert np.allclose(short, long, rtol=0.0, atol=1e-12)
    assert np.any(short)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_trace_does_not_depend_on_its_batch(dtype: type) -> None:
    x = np.random.default_rng(4).standard_normal((101, 300)).astype(dtype)
    together = resample(x, 0.0, 0.004, -0.1, 0.00077, 1700, FMAX)
    assert together.dtype == dtype
    for rows in ([0], [100], list(range(31, 34)), list(range(100, -1, -1))):
        apart = resample(x[rows], 0.0, 0.004, -0.1, 0.00077, 1700, FMAX)
        assert np.array_equal(apart, together[rows])
    strided = resample(np.asfortranarray(x), 0.0, 0.004, -0.1, 0.00077, 1700, FMAX)
    assert np.array_equal(strided, together)


def test_float32_is_summed_in_float64() -> None:
    x = np.random.default_rng(5).standard_normal((4, 500)).astype(np.float32)
    exact = resample(x.astype(np.float64), 0.0, 0.004, 0.0, 0.001, 2000, FMAX)
    assert np.array_equal(resample(x, 0.0, 0.004, 0.0, 0.001, 2000, FMAX), exact.astype(np.float32))


@pytest.mark.parametrize("shape", [(0, 50), (3, 0)])
def test_nothing_in_nothing_out(shape: tuple[int, int]) -> None:
    got = resample(np.zeros(shape), 0.0, 0.004, 0.0, 0.002, 70, FMAX)
    assert got.shape == (shape[0], 70)
    assert not np.any(got)


@pytest.mark.parametrize(
    ("dt_in", "dt_out", "coarser"),
    [(0.004, 0.001, "0.004"), (0.001, 0.004, "0.004"), (0.0125, 0.004, "0.0125")],
)
def test_a_band_beyond_nyquist_is_refused(dt_in: float, dt_out: float, coarser: str) -> None:
    nyquist = 0.5 / float(coarser)
    with pytest.raises(InputError) as caught:
        resample(np.zeros((1, 10)), 0.0, dt_in, 0.0, dt_out, 10, nyquist)
    for word in (f"{nyquist:g} Hz", "Nyquist", f"{coarser} s"):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    resample(np.zeros((1, 10)), 0.0, dt_in, 0.0, dt_out, 10, 0.99 * nyquist)


@pytest.mark.parametrize("traces", [np.zeros(10), np.zeros((1, 10), dtype=np.int32), np.zeros((1, 10), dtype=">f4")])
def test_wrong_arrays_are_refused(traces: np.ndarray) -> None:
    with pytest.raises(TypeError, match="allowed"):
        resample(traces, 0.0, 0.004, 0.0, 0.001, 10, FMAX)


def test_interpolation_at_any_time_agrees_with_resampling() -> None:
    x = np.random.default_rng(6).standard_normal(200)
    times = -0.1 + 0.0031 * np.arange(400)
    got = interpolate(x, 0.2, 0.004, times.reshape(20, 20), FMAX)
    want = resample(x[None, :], 0.2, 0.004, -0.1, 0.0031, 400, FMAX)[0]
    assert got.shape == (20, 20)
    assert np.allclose(got.ravel(), want, rtol=0.0, atol=1e-11)
