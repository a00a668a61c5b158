"""Time-dispersion transforms: leapfrog's error in time, added to injected and removed from recorded series.

Leapfrog replaces d2/dt2 by (w+ - 2 w + w-) / dt^2. A wave of angular frequency omega in the time-stepped solution obeys
the wave equation at the frequency

    Omega(omega) = (2/dt) sin(omega dt/2)

whatever the medium and the differences in space: the error depends on frequency and dt alone. A propagation with the
source spectrum S(Omega(omega)) in place of S(omega) gives P(Omega(omega)), where P is the solution for S without an
error in time, and P follows by sampling the result's spectrum at omega(Omega) = (2/dt) asin(Omega dt/2) (Stork 2013,
EAGE; Wang & Xu 2015, Geophysics 80(6); Koene, Robertsson, Broggini & Andersson 2018, Geophys. J. Int. 213):

    forward     x'(n dt)  =  1/(2 pi) int X(Omega(omega)) exp(i omega n dt) d omega
    inverse     x(n dt)   =  1/(2 pi) int X'(omega(Omega)) exp(i Omega n dt) d Omega

The time t = 0 is unchanged. A wave at t is at t cos(omega dt/2) in the time-stepped solution, which is earlier, so a
propagation needs no more steps than the traces are long.

The pass band of omega ends at omega dt = 2 pi/3 (Omega dt = 1.73; 2.5 cells a wavelength give less than that, or
hardly more, at every order and every stable dt), and a cosine taper reaches zero at 5 pi/6: towards pi, where Omega has
its largest value 2/dt, the inverse would delay frequencies without bound.

A spectrum is interpolated between its samples (non-uniform FFT): an FFT of the zero-padded series and a Kaiser-Bessel
window over 12 samples of the spectrum (Jackson et al. 1991, IEEE Trans. Medical Imaging 10(3); Beatty, Nishimura &
Pauly 2005, 24(6)), accurate to about 1e-11. Each series is transformed by itself, so its result is bitwise the same
whatever the other series.
"""

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.lengths import fast_length

PASSES, STOPS = 2 * math.pi / 3, 5 * math.pi / 6  # omega dt: end of the pass band, begin of the stop band
WORKSPACE_BYTES = 2100  # per sample of a series, whatever the number of series; without the result
_TOGETHER = 8  # series; the result does not depend on it
_TAPS = 12  # samples of a spectrum under the interpolation window
_BETA = math.pi * math.sqrt((_TAPS / 2) ** 2 * 1.5**2 - 0.8)  # Beatty et al. for an oversampling by 2
_LONGEST_DELAY = math.ceil(1 / math.cos(STOPS / 2))  # factor by which the inverse transform delays at most

Real = TypeVar("Real", np.float32, np.float64)
Array = npt.NDArray[np.float64]


def forward_transform(series: npt.NDArray[Real], zero: float) -> npt.NDArray[Real]:
    """Forward time-dispersion transform, for series to inject: adds leapfrog's error in time.

    Args:
        series: (n, ns), float32 or float64, any unit, sampled at the time steps, zero outside.
        zero: index of the sample at t = 0; between two samples where they lie in the middle of time steps.
    Returns:
        Series of the same shape, dtype and unit, sample k at step k. It does not depend on dt.
    """
    return _warped(series, zero, 2, _true_frequency, _taper)


def inverse_transform(series: npt.NDArray[Real], zero: float) -> npt.NDArray[Real]:
    """Inverse time-dispersion transform, for recorded series: removes leapfrog's error in time.

    The inverse of `forward_transform`, with the same arguments. Samples near an end are right only where the record
    would be zero beyond that end.
    """
    return _warped(
        series, zero, 1 + _LONGEST_DELAY, _stepped_frequency, lambda frequency: _taper(_stepped_frequency(frequency))
    )


def adjoint_of_inverse(series: npt.NDArray[Real], zero: int) -> npt.NDArray[Real]:
    """Transpose of `inverse_transform`, same arguments, for the traces that the receiver loop injects.

    It is the forward transform times d Omega / d omega = cos(omega dt/2). With this factor the sum over time steps of
    the product of two wavefields equals the one over true time (Parseval's theorem); int P Q d omega would give high
    frequencies too much weight.
    """
    return _warped(series, zero, 2, _true_frequency, lambda omega: _taper(omega) * np.cos(omega / 2))


def _true_frequency(omega: Array) -> Array:
    """Omega dt of waves of omega dt in the time-stepped solution."""
    return np.asarray(2 * np.sin(omega / 2))


def _stepped_frequency(frequency: Array) -> Array:
    """omega dt in the time-stepped solution of waves of Omega dt, the inverse of `_true_frequency`; pi from 2 on."""
    return np.asarray(2 * np.arcsin(np.minimum(frequency / 2, 1.0)))


def _taper(omega: Array) -> Array:
    """Gain at omega dt: 1 up to PASSES, 0 from STOPS, a cosine between."""
    position = np.clip((omega - PASSES) / (STOPS - PASSES), 0.0, 1.0)
    return np.asarray(0.5 + 0.5 * np.cos(math.pi * position))


def _warped(
    series: npt.NDArray[Real], zero: float, periods: int, warp: Callable[[Array], Array], gain: Callable[[Array], Array]
) -> npt.NDArray[Real]:
    """Series whose spectrum at f is gain(f) times that of `series` at warp(f); both are angular frequencies times dt.

    periods: period of the result, in units of the longest time from `zero`, long enough to avoid wrap-around.
    """
    from fathometer import _native

    n, ns = series.shape
    whole = math.floor(zero)
    reach = max(whole, ns - 1 - whole) + 1
    times = np.arange(ns) - whole

    # Spectrum of the series, oversampled: the period is at least twice the span of -reach to reach.
    padded = fast_length(max(4 * reach, 16 * _TAPS))
    deconvolution = 1 / _window_spectrum(times / padded)

    # Interpolation at warp(f): a band of window weights.
    period = fast_length(periods * reach + 64)
    f: Array = 2 * math.pi / period * np.arange(period // 2 + 1, dtype=np.float64)
    f = f[gain(f) > 0]
    position = warp(f) * padded / (2 * math.pi)  # in samples of the spectrum
    first = np.floor(position) + (1 - _TAPS // 2)
    column = first[:, None] + np.arange(_TAPS)
    weight = gain(f)[:, None] * _window(position[:, None] - column)
    turn = np.exp(1j * (zero - whole) * (warp(f) - f))  # from t = 0 to the sample before it, and back
    before = _TAPS // 2  # samples at negative frequencies
    cells = (first + before).astype(np.int64)

    result = np.empty_like(series)
    circular = np.zeros((_TOGETHER, padded))
    parts = np.empty((2, _TOGETHER, before + padded // 2 + 1))  # real and imaginary
    warped = np.empty((2, _TOGETHER, len(f)))
    for start in range(0, n, _TOGETHER):
        rows = series[start : start + _TOGETHER]
        circular[: len(rows), times] = deconvolution * rows  # negative times wrap to the end
        spectrum = np.fft.rfft(circular)
        for part, values, sign in zip(parts, (spectrum.real, spectrum.imag), (1, -1), strict=True):
            part[:, before:] = values
            part[:, :before] = sign * values[:, before:0:-1]
        _native.banded(cells, weight, parts.reshape(2 * _TOGETHER, -1), warped.reshape(2 * _TOGETHER, -1))
        changed = np.fft.irfft(turn * (warped[0] + 1j * warped[1]), period)
        result[start : start + _TOGETHER] = changed[: len(rows), times]
    return result


def _window(x: Array) -> Array:
    """Kaiser-Bessel window at x samples from its centre."""
    inside = np.clip(1 - (2 * x / _TAPS) ** 2, 0.0, None)
    return np.asarray(np.where(np.abs(x) <= _TAPS / 2, np.i0(_BETA * np.sqrt(inside)), 0.0))


def _window_spectrum(xi: Array) -> Array:
    """Fourier transform of the window: int _window(x) exp(-2 pi i x xi) dx, |xi| <= 1/4."""
    root = np.sqrt(_BETA**2 - (math.pi * _TAPS * xi) ** 2)
    return np.asarray(_TAPS * np.sinh(root) / root)


def workspace_bytes(steps: int) -> int:
    """Bytes of workspace of a transform of series of `steps` samples."""
    return WORKSPACE_BYTES * steps
