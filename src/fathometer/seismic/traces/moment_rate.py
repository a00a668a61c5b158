"""Moment rates of earthquakes as source wavelets: of unit area, from t = 0 on, low-passed.

    Brune     f(t) = t / T^2 exp(-t / T), t > 0               (Brune 1970, J. Geophys. Res. 75(26))
    cosine    f(t) = (1 - cos(2 pi t / T)) / T, 0 < t < T

Each has its spectrum in closed form; times that of the low-pass, it is sampled so finely that a cubic between samples
is exact to 1e-5 of the peak, however short the rise time T is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fathometer.seismic.traces.resampling import LowPass

STOPS = 2.0  # times its highest frequency a moment rate is gone: a shorter filter than that of traces
BRUNE_LENGTH = 30.0  # rise times, after which 3e-12 of Brune's moment is left
_SAMPLES = 40  # of the shortest period
_RANGE = 1e3  # shortest and longest rise time, in shortest periods: what is sampled must fit into memory
_ENDS = 2  # samples of 0 before and after, for the cubic
_COLUMNS = 4096  # at once, for what is held meanwhile

Real = npt.NDArray[np.float64]
Spectrum = Callable[[Real, float], npt.NDArray[np.complex128]]


def brune(frequency: Real, rise_time: float) -> npt.NDArray[np.complex128]:
    """Spectrum of Brune's moment rate at frequencies (Hz), in their shape; rise time in s."""
    return np.asarray(1 / (1 + 2j * np.pi * frequency * rise_time) ** 2)


def cosine(frequency: Real, rise_time: float) -> npt.NDArray[np.complex128]:
    """Spectrum of the bell at frequencies (Hz), in their shape; rise time in s."""
    x = frequency * rise_time
    return np.asarray(np.exp(-1j * np.pi * x) * (np.sinc(x) + (np.sinc(x - 1) + np.sinc(x + 1)) / 2))


@dataclass(frozen=True, eq=False)
class RateTable:
    """Samples of some moment rates, one behind the other, each with zeros at both ends.

    Attributes:
        values: (n,) float64, 1/s. first: (c,) int64, which is the first of each; size: (c,) int64, how many it has.
        begin: time of each one's first, s. rate: samples in a second.
    """

    values: Real
    first: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    begin: float
    rate: float

    def __call__(self, t: Real) -> Real:
        """Values at the times t (…, c), s, of each moment rate at its own: 1/s, in the shape of t."""
        values = np.empty(t.shape)
        for begin in range(0, len(self.first), _COLUMNS):
            some = slice(begin, begin + _COLUMNS)
            values[..., some] = self._some(t[..., some], self.first[some], self.size[some])
        return values

    def _some(self, t: Real, first: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> Real:
        place = np.clip((t - self.begin) * self.rate, _ENDS, size - _ENDS - 1)
        before = np.minimum(place.astype(np.int64), size - _ENDS - 2)
        x, at = place - before, before + first
        y = [self.values[at + n] for n in (-1, 0, 1, 2)]
        # Lagrange's cubic through the four samples around x = 0 … 1.
        near = (2 - x) * (1 + x) * ((1 - x) * y[1] + x * y[2]) / 2
        return np.asarray(near - x * (1 - x) * ((2 - x) * y[0] + (1 + x) * y[3]) / 6)


@dataclass(frozen=True, eq=False)
class RateWavelet:
    """A moment rate of unit area that begins at t = 0, low-passed: up to fmax it is as it was, from STOPS fmax on it is
    gone. What a grid cannot carry would else stay on it as noise.

    Attributes:
        spectrum: of a rise time, without the low-pass. length: after which nothing is left, in rise times.
    """

    spectrum: Spectrum
    length: float
    rise_time: float  # s
    fmax: float  # Hz

    @property
    def lead(self) -> float:
        """Half width of the low-pass, s."""
        return self._kernel.half_width

    def __call__(self, t: Real) -> Real:
        """Values f(t) at the times t (s), float64, 1/s, in the shape of t."""
        t = np.asarray(t, dtype=np.float64)
        return self._own(t[..., None])[..., 0]

    def of_rise_times(self, rise_times: Real) -> RateTable:
        """The same with other rise times (c,), s; each different one is computed once."""
        different, column = np.unique(rise_times, return_inverse=True)
        size = self._sizes(different)
        first = np.cumsum(size) - size
        values = np.empty(int(size.sum()))
        for begin, end, rise_time in zip(first, first + size, different, strict=True):
            values[begin:end] = self._series(float(rise_time))
        return RateTable(values, first[column], size[column], -(self._reach + _ENDS) / self._rate, self._rate)

    def table_bytes(self, rise_times: Real) -> int:
        """Of what `of_rise_times` gives."""
        return 8 * int(self._sizes(np.unique(rise_times)).sum())

    @property
    def rise_times(self) -> tuple[float, float]:
        """The shortest and the longest rise time that can be computed, s."""
        return 1 / (_RANGE * self.fmax), _RANGE / self.fmax

    @cached_property
    def _kernel(self) -> LowPass:
        return LowPass(self.fmax, STOPS * self.fmax)

    @property
    def _rate(self) -> float:
        return _SAMPLES * self.fmax

    @cached_property
    def _reach(self) -> int:
        return math.ceil(self.lead * self._rate)

    @cached_property
    def _filter(self) -> Real:
        """The low-pass, sampled from -reach to reach."""
        return self._kernel(np.arange(-self._reach, self._reach + 1) / self._rate)

    @cached_property
    def _own(self) -> RateTable:
        return self.of_rise_times(np.array([self.rise_time]))

    def _sizes(self, rise_times: Real) -> npt.NDArray[np.int64]:
        """Samples of a series of each rise time, with the zeros at its ends."""
        own = np.ceil(self.length * rise_times * self._rate).astype(np.int64)
        return np.asarray(own + (2 * self._reach + 1 + 2 * _ENDS))

    def _series(self, rise_time: float) -> Real:
        samples = int(self._sizes(np.array([rise_time]))[0]) - 2 * _ENDS
        whole = 1 << (samples - 1).bit_length()
        frequencies = np.fft.rfftfreq(whole, 1 / self._rate).astype(np.float64)
        values = np.fft.irfft(self.spectrum(frequencies, rise_time) * np.fft.rfft(self._filter, whole), whole)[:samples]
        values[[0, -1]] = 0.0  # and beyond
        return np.pad(values, _ENDS)
