"""The error of leapfrog in time, added to what goes into a propagation and removed from what comes out of it.

Leapfrog replaces d2/dt2 by (w+ - 2 w + w-) / dt^2. A wave of angular frequency omega on the steps then obeys the
equations of the frequency

    Omega(omega) = (2/dt) sin(omega dt/2)

whatever the medium and the differences in space: the error depends on frequency and dt alone. So a propagation that is
fed the spectrum S(Omega(omega)) in place of S(omega) gives P(Omega(omega)), P being the answer to S without an error in
time, and P is found by reading the result's spectrum at omega(Omega) = (2/dt) asin(Omega dt/2) (Stork 2013, EAGE; Wang
& Xu 2015, Geophysics 80(6); Koene, Robertsson, Broggini & Andersson 2018, Geophysical Journal International 213):

    forward     x'(n dt)  =  1/(2 pi) int X(Omega(omega)) exp(i omega n dt) d omega
    inverse     x(n dt)   =  1/(2 pi) int X'(omega(Omega)) exp(i Omega n dt) d Omega

The time t = 0 stays where it is. A wave at t lies at t cos(omega dt/2) on the steps: earlier, so that a propagation
needs no more steps than the traces are long.

Frequencies on the steps pass up to omega dt = 2 pi/3 (Omega dt = 1.73; 2.5 cells a wavelength give less than that, or
hardly more, at every order and every stable dt) and are tapered to nothing at 5 pi/6: nearer to pi, where Omega has its
largest value 2/dt, the inverse would spread them over endless times.

A spectrum is read between its samples by a fast Fourier transform of the series, padded with zeros, and a Kaiser-Bessel
window over 12 of its samples (Jackson et al. 1991, IEEE Trans. Medical Imaging 10(3); Beatty, Nishimura & Pauly 2005,
24(6)), to about 1e-11. Each series is transformed by itself, so the result is bitwise the same whatever others it is
handed in with.
"""

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.fft import next_fast_len
from scipy.sparse import csr_array

PASSES, STOPS = 2 * math.pi / 3, 5 * math.pi / 6  # omega dt: what passes, what is zero
WORKSPACE_BYTES = 2100  # for each sample of a series, however many series there are; beside the result
_TAPS = 12  # of the window between the samples of a spectrum
_BETA = math.pi * math.sqrt((_TAPS / 2) ** 2 * 1.5**2 - 0.8)  # Beatty's for twice as many samples as needed
_SPREAD = math.ceil(1 / math.cos(STOPS / 2))  # later by this factor at most is what the inverse transform delays

Real = TypeVar("Real", np.float32, np.float64)
Array = npt.NDArray[np.float64]


def forward_transform(series: npt.NDArray[Real], zero: int) -> npt.NDArray[Real]:
    """What a propagation must be fed so that its error in time does no harm: the error is added beforehand.

    `series` is (n, ns), float32 or float64, sample `zero` of each at t = 0, zero outside; the result is of its shape
    and dtype, sample k at step k. Units stay as they are, and dt itself does not matter.
    """
    return _transformed(series, zero, 2, _frequency, _taper)


def inverse_transform(series: npt.NDArray[Real], zero: int) -> npt.NDArray[Real]:
    """What a propagation has recorded, less its error in time: the inverse of `forward_transform`, same arguments.

    Its first and last samples are those of a longer record only where this is quiet beyond.
    """
    return _transformed(series, zero, 1 + _SPREAD, _stepped, lambda frequency: _taper(_stepped(frequency)))


def adjoint_of_inverse(series: npt.NDArray[Real], zero: int) -> npt.NDArray[Real]:
    """The transpose of `inverse_transform`, same arguments: what the receiver loop injects, as modelling's adjoint.

    It is the forward transform times d Omega / d omega = cos(omega dt/2). With it a sum over the steps of the products
    of two fields is the one over true time (Parseval's theorem): int P Q d omega would count high frequencies too much.
    """
    return _transformed(series, zero, 2, _frequency, lambda omega: _taper(omega) * np.cos(omega / 2))


def _frequency(omega: Array) -> Array:
    """Omega dt: what a wave of omega dt on the steps stands for."""
    return np.asarray(2 * np.sin(omega / 2))


def _stepped(frequency: Array) -> Array:
    """omega dt: what Omega dt becomes on the steps, the inverse of `_frequency`; pi from 2, the highest there is."""
    return np.asarray(2 * np.arcsin(np.minimum(frequency / 2, 1.0)))


def _taper(omega: Array) -> Array:
    """1 up to PASSES, 0 from STOPS, a cosine between."""
    along = np.clip((omega - PASSES) / (STOPS - PASSES), 0.0, 1.0)
    return np.asarray(0.5 + 0.5 * np.cos(math.pi * along))


def _transformed(
    series: npt.NDArray[Real], zero: int, circle: int, read: Callable[[Array], Array], gain: Callable[[Array], Array]
) -> npt.NDArray[Real]:
    """Series whose spectrum at f is gain(f) times that of `series` at read(f), both angular frequencies times dt.

    `circle`: length of the result's period, in units of the longest time from `zero`, so that nothing wraps around.
    """
    _, ns = series.shape
    reach = max(zero, ns - 1 - zero) + 1
    times = np.arange(ns) - zero

    # The spectrum of the series, four times as dense as its length from t = 0 to either side needs.
    padded = next_fast_len(max(4 * reach, 16 * _TAPS), real=True)
    equalised = 1 / _window_spectrum(times / padded)

    # Where it is read, and the samples and weights that this takes.
    period = next_fast_len(circle * reach + 64, real=True)
    f = 2 * math.pi / period * np.arange(period // 2 + 1)
    f = f[gain(f) > 0]
    place = read(f) * padded / (2 * math.pi)
    column = np.floor(place)[:, None] + np.arange(1 - _TAPS // 2, 1 + _TAPS // 2)
    weight = gain(f)[:, None] * _window(place[:, None] - column)
    before = _TAPS // 2  # samples at negative frequencies
    between = csr_array(
        (weight.ravel(), (column + before).astype(np.int32).ravel(), _TAPS * np.arange(len(f) + 1, dtype=np.int32)),
        shape=(len(f), before + padded // 2 + 1),
    )

    result = np.empty_like(series)
    circular = np.zeros(padded)
    spectrum = np.zeros(before + padded // 2 + 1, np.complex128)
    for row, out in zip(series, result, strict=True):
        circular[times] = equalised * row  # negative times at the end
        spectrum[before:] = np.fft.rfft(circular)
        spectrum[:before] = spectrum[2 * before : before : -1].conj()
        warped = (between @ spectrum.view(np.float64).reshape(-1, 2)).view(np.complex128)[:, 0]
        out[:] = np.fft.irfft(warped, period)[times]
    return result


def _window(x: Array) -> Array:
    """The Kaiser-Bessel window at x samples from its middle."""
    inside = np.clip(1 - (2 * x / _TAPS) ** 2, 0.0, None)
    return np.asarray(np.where(np.abs(x) <= _TAPS / 2, np.i0(_BETA * np.sqrt(inside)), 0.0))


def _window_spectrum(xi: Array) -> Array:
    """int _window(x) exp(-2 pi i x xi) dx, |xi| <= 1/4."""
    root = np.sqrt(_BETA**2 - (math.pi * _TAPS * xi) ** 2)
    return np.asarray(_TAPS * np.sinh(root) / root)


def workspace_bytes(steps: int) -> int:
    """Memory that a transform of traces takes beside them, for so many time steps."""
    return WORKSPACE_BYTES * steps
