"""Misfits of signals with known differences, and attenuated plane waves against the laws of constant Q."""

import numpy as np
import pytest
from attenuated_plane_wave import attenuated_plane_wave, complex_velocity
from scipy.signal import hilbert
from seismogram_misfit import misfits, transform
from source_functions import ricker

DT = 0.01
T = DT * np.arange(1500)
SIGNAL = np.exp(-(((T - 7) / 1.5) ** 2)) * np.cos(2 * np.pi * (1.2 * T + 0.04 * T * T))


def test_equal_signals_have_no_misfit_and_known_differences_have_their_own():
    assert misfits(SIGNAL, SIGNAL, DT, 0.3, 8) == pytest.approx((0, 0), abs=1e-12)
    assert misfits(1.1 * SIGNAL, SIGNAL, DT, 0.3, 8) == pytest.approx((0.1, 0), abs=1e-12)
    assert misfits(0.5 * SIGNAL, SIGNAL, DT, 0.3, 8) == pytest.approx((0.5, 0), abs=1e-12)
    assert misfits(-SIGNAL, SIGNAL, DT, 0.3, 8) == pytest.approx((0, 1), abs=1e-12)
    turned = (hilbert(SIGNAL) * np.exp(0.3j)).real
    assert misfits(turned, SIGNAL, DT, 0.3, 8) == pytest.approx((0, 0.3 / np.pi), abs=2e-4)


def test_a_delay_is_a_phase_misfit_in_proportion_to_the_frequency():
    for frequency in (1.0, 2.0):
        wave, late = (np.exp(-(((T - 7 - d) / 2) ** 2)) * np.cos(2 * np.pi * frequency * (T - d)) for d in (0, 0.02))
        envelope, phase = misfits(late, wave, DT, 0.3, 8)
        assert phase == pytest.approx(2 * frequency * 0.02, rel=1e-2)
        assert envelope < 0.02


def test_the_transform_of_a_cosine_lies_at_its_frequency():
    frequencies = np.geomspace(0.5, 4, 121)
    found = abs(transform(np.cos(2 * np.pi * 1.5 * T), DT, frequencies)[:, 750]) * np.sqrt(frequencies)
    assert frequencies[np.argmax(found)] == pytest.approx(1.5, rel=0.02)
    # The definition's sum, at one time and frequency.
    f, centre = 1.3, T[600]
    x = 2 * np.pi * f * (T - centre) / 6.0
    wavelet = np.pi**-0.25 * np.exp(-6j * x - x * x / 2)
    expected = np.sqrt(2 * np.pi * f / 6.0) * np.sum(SIGNAL * wavelet) * DT
    assert transform(SIGNAL, DT, [f])[0, 600] == pytest.approx(expected, rel=1e-6)


def test_plane_waves_lose_amplitude_and_disperse_as_constant_q_says():
    quality, velocity, distance = 30, 2000.0, 3000.0
    wavelet = ricker(5, 0.6)
    t = np.linspace(0, 6, 3001)
    near, far = (attenuated_plane_wave(wavelet, x, velocity, quality, 4.0, t, 25) for x in (0.0, distance))
    assert near == pytest.approx(wavelet(t), abs=1e-5)
    for frequency in (2.0, 4.0, 8.0):
        turn = np.exp(-2j * np.pi * frequency * t)
        ratio = np.sum(far * turn) / np.sum(near * turn)
        speed = velocity * (1 + np.log(frequency / 4.0) / (np.pi * quality))
        assert abs(ratio) == pytest.approx(np.exp(-np.pi * frequency * distance / (quality * speed)), rel=1e-3)
        assert np.angle(ratio * np.exp(2j * np.pi * frequency * distance / speed)) == pytest.approx(0, abs=5e-3)
    c = complex_velocity(velocity, quality, 2 * np.pi * np.array([0.1, 4.0, 50.0]), 4.0)
    assert (c**2).imag / (c**2).real == pytest.approx(np.full(3, 1 / quality), rel=1e-12)
    assert 1 / (1 / c[1]).real == pytest.approx(velocity, rel=1e-12)
