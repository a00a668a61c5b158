"""The source's series as a function of time; a zero-phase wavelet has its peak at t = 0 of the traces.

Ricker 1953, Geophysics 18(1); Ormsby as in Ryan 1994, CSEG Recorder 19(7): the sum of four sinc^2, a
trapezoid in frequency.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError, naming
from fathometer.seismic.survey import OrmsbyTable, RickerTable, Survey
from fathometer.seismic.traces.resampling import interpolate, low_pass
from fathometer.seismic.traces.wavelet_file import read_series

_NEGLIGIBLE = 1e-6  # of the peak

Times = npt.NDArray[np.float64]


class Wavelet(Protocol):
    """A source's series f(t)."""

    @property
    def fmax(self) -> float:
        """Highest frequency (Hz) that counts."""

    @property
    def lead(self) -> float:
        """Time (s) before t = 0 from which on the series counts: earlier it is below 1e-6 of its peak."""

    def __call__(self, t: Times) -> Times:
        """Values at the times t (s), any shape."""


@dataclass(frozen=True)
class RickerWavelet:
    """(1 - 2a) exp(-a) with a = (pi peak_frequency t)^2: peak 1 at t = 0."""

    peak_frequency: float  # Hz

    @property
    def fmax(self) -> float:
        """2.5 times the peak frequency (Hz), where the amplitude spectrum is 0.033 of its maximum."""
        return 2.5 * self.peak_frequency

    @property
    def lead(self) -> float:
        """The outer root of |f(t)| = 1e-6 (s), by fixed point: exp(-a) (2a - 1) falls for a > 1.5."""
        a = 16.0
        for _ in range(50):
            a = math.log((2.0 * a - 1.0) / _NEGLIGIBLE)
        return math.sqrt(a) / (math.pi * self.peak_frequency)

    def __call__(self, t: Times) -> Times:
        """Values at the times t (s), any shape."""
        a = (math.pi * self.peak_frequency * np.asarray(t, dtype=np.float64)) ** 2
        return np.asarray((1.0 - 2.0 * a) * np.exp(-a))


@dataclass(frozen=True)
class OrmsbyWavelet:
    """A trapezoid in frequency, times a Hann window that makes it end: peak 1 at t = 0.

    By itself the wavelet falls only as 1/t^2. The window ends at 3 / (the narrower of the two flanks); its
    own spectrum is then a third of that flank wide, so the flanks are rounded but the pass band stays.
    """

    corners: tuple[float, float, float, float]  # Hz, increasing

    @property
    def fmax(self) -> float:
        """The last corner (Hz)."""
        return self.corners[3]

    @property
    def lead(self) -> float:
        """End of the window (s), exactly zero outside."""
        f1, f2, f3, f4 = self.corners
        return 3.0 / min(f2 - f1, f4 - f3)

    def __call__(self, t: Times) -> Times:
        """Values at the times t (s), any shape."""
        t = np.asarray(t, dtype=np.float64)
        f1, f2, f3, f4 = self.corners
        high = ((f4 * np.sinc(f4 * t)) ** 2 - (f3 * np.sinc(f3 * t)) ** 2) / (f4 - f3)
        low = ((f2 * np.sinc(f2 * t)) ** 2 - (f1 * np.sinc(f1 * t)) ** 2) / (f2 - f1)
        window = np.where(np.abs(t) < self.lead, np.cos(0.5 * np.pi * t / self.lead) ** 2, 0.0)
        return np.asarray((high - low) / (f4 + f3 - f2 - f1) * window)


@dataclass(frozen=True, eq=False)
class SeriesWavelet:
    """A sampled series, interpolated with a band limit of fmax and zero outside its samples; amplitudes as
    they are."""

    series: npt.NDArray[np.float64]  # (ns,)
    first: float  # s, time of the first sample
    interval: float  # s
    fmax: float  # Hz

    @property
    def lead(self) -> float:
        """From the first sample above 1e-6 of the peak, less the interpolator's half width (s, not negative)."""
        loud = np.flatnonzero(np.abs(self.series) >= _NEGLIGIBLE * np.max(np.abs(self.series)))
        begin = self.first + self.interval * loud[0] - low_pass(self.fmax, self.interval).half_width
        return max(0.0, -float(begin))

    def __call__(self, t: Times) -> Times:
        """Values at the times t (s), any shape."""
        return interpolate(self.series, self.first, self.interval, t, self.fmax)


def wavelet_of(survey: Survey) -> Wavelet:
    """The wavelet that a survey asks for; raises InputError where its file cannot be used."""
    choice = survey.wavelet
    if isinstance(choice, RickerTable):
        return RickerWavelet(choice.peak_frequency)
    if isinstance(choice, OrmsbyTable):
        return OrmsbyWavelet(choice.corners)
    interval = choice.sample_interval
    nyquist = 0.5 / interval
    if not choice.maximum_frequency < nyquist:
        raise InputError(
            f"{survey.path}: [wavelet] maximum_frequency: found {choice.maximum_frequency:g} Hz; "
            f"allowed: below {nyquist:g} Hz, the Nyquist frequency of its sample interval {interval:g} s"
        )
    with naming(f"{survey.path}: [wavelet] path"):
        series = read_series(survey.directory / choice.path)
    return SeriesWavelet(series, -choice.zero, interval, choice.maximum_frequency)
