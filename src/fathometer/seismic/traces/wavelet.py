"""Source wavelets: Ricker, Ormsby, a sampled series, or the moment rate of an earthquake.

A wavelet f(t) is a function of time; a zero-phase one has its peak at t = 0 of the traces.

    Ricker    f(t) = (1 - 2 a) exp(-a),    a = (pi fp t)^2                    (Ricker 1953, Geophysics 18(1))
    Ormsby    f(t) = four sinc^2, a trapezoid in frequency, times a window    (Ryan 1994, CSEG Recorder 19(7))
    moment rates                                                              (moment_rate.py)
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError, naming
from fathometer.base.formatting import beside
from fathometer.seismic.survey import BruneTable, CosineTable, OrmsbyTable, RickerTable, Survey
from fathometer.seismic.traces.moment_rate import BRUNE_LENGTH, RateWavelet, brune, cosine
from fathometer.seismic.traces.resampling import interpolate, low_pass
from fathometer.seismic.traces.wavelet_file import read_series

_NEGLIGIBLE = 1e-6  # of the peak
MOST_TAPS = 1e5  # samples of a series to either side under its low-pass; beyond, a unit is wrong

Times = npt.NDArray[np.float64]


class Wavelet(Protocol):
    """Source wavelet f(t)."""

    @property
    def fmax(self) -> float:
        """Highest frequency of the wavelet, Hz."""

    @property
    def lead(self) -> float:
        """Time before t = 0 at which the wavelet begins, s: earlier it is below 1e-6 of its peak."""

    def __call__(self, t: Times) -> Times:
        """Values f(t) at the times t (s), float64, in the shape of t."""


@dataclass(frozen=True)
class RickerWavelet:
    """Ricker wavelet (1 - 2 a) exp(-a), a = (pi peak_frequency t)^2: zero phase, peak 1 at t = 0."""

    peak_frequency: float  # Hz

    @property
    def fmax(self) -> float:
        """2.5 times the peak frequency, Hz, where the amplitude spectrum is 0.033 of its maximum."""
        return 2.5 * self.peak_frequency

    @property
    def lead(self) -> float:
        """Outer root of |f(t)| = 1e-6, s, by fixed-point iteration: exp(-a) (2 a - 1) decreases for a > 1.5."""
        a = 16.0
        for _ in range(50):
            a = math.log((2.0 * a - 1.0) / _NEGLIGIBLE)
        return math.sqrt(a) / (math.pi * self.peak_frequency)

    def __call__(self, t: Times) -> Times:
        """Values f(t) at the times t (s), float64, in the shape of t."""
        a = (math.pi * self.peak_frequency * np.asarray(t, dtype=np.float64)) ** 2
        return np.asarray((1.0 - 2.0 * a) * np.exp(-a))


@dataclass(frozen=True)
class OrmsbyWavelet:
    """Ormsby wavelet, a trapezoid in frequency, times a Hann window: zero phase, peak 1 at t = 0.

    Without a window it decays only as 1/t^2. The window ends at 3 / (the narrower flank); its spectrum is then a third
    of that flank wide, so the flanks are rounded and the pass band is kept.
    """

    corners: tuple[float, float, float, float]  # Hz, increasing

    @property
    def fmax(self) -> float:
        """The last corner, Hz."""
        return self.corners[3]

    @property
    def lead(self) -> float:
        """Half length of the window, s; the wavelet is zero outside."""
        f1, f2, f3, f4 = self.corners
        return 3.0 / min(f2 - f1, f4 - f3)

    def __call__(self, t: Times) -> Times:
        """Values f(t) at the times t (s), float64, in the shape of t."""
        t = np.asarray(t, dtype=np.float64)
        f1, f2, f3, f4 = self.corners
        high = ((f4 * np.sinc(f4 * t)) ** 2 - (f3 * np.sinc(f3 * t)) ** 2) / (f4 - f3)
        low = ((f2 * np.sinc(f2 * t)) ** 2 - (f1 * np.sinc(f1 * t)) ** 2) / (f2 - f1)
        window = np.where(np.abs(t) < self.lead, np.cos(0.5 * np.pi * t / self.lead) ** 2, 0.0)
        return np.asarray((high - low) / (f4 + f3 - f2 - f1) * window)


@dataclass(frozen=True, eq=False)
class SeriesWavelet:
    """Sampled wavelet, interpolated with a low-pass at fmax, zero outside its samples; amplitudes are unchanged."""

    series: npt.NDArray[np.float64]  # (ns,)
    first: float  # s, time of the first sample
    interval: float  # s, sample interval
    fmax: float  # Hz
    notes: tuple[str, ...] = ()  # on how the series was taken

    @property
    def lead(self) -> float:
        """Time before t = 0 of the first sample above 1e-6 of the peak, with the interpolator's half width added, s."""
        significant = np.flatnonzero(np.abs(self.series) >= _NEGLIGIBLE * np.max(np.abs(self.series)))
        begin = self.first + self.interval * significant[0] - low_pass(self.fmax, self.interval).half_width
        return max(0.0, -float(begin))

    def __call__(self, t: Times) -> Times:
        """Values f(t) at the times t (s), float64, in the shape of t."""
        return interpolate(self.series, self.first, self.interval, t, self.fmax)


def wavelet_of(survey: Survey) -> Wavelet:
    """The wavelet of the section [wavelet]. Raises InputError where its file cannot be used."""
    keys = survey.needed_wavelet
    if isinstance(keys, RickerTable):
        return RickerWavelet(keys.peak_frequency)
    if isinstance(keys, OrmsbyTable):
        return OrmsbyWavelet(keys.corners)
    if isinstance(keys, BruneTable):
        return _rate(survey, RateWavelet(brune, BRUNE_LENGTH, keys.rise_time, keys.maximum_frequency))
    if isinstance(keys, CosineTable):
        return _rate(survey, RateWavelet(cosine, 1.0, keys.rise_time, keys.maximum_frequency or 2.5 / keys.rise_time))
    interval = keys.sample_interval
    nyquist = 0.5 / interval
    if not keys.maximum_frequency < nyquist:
        raise InputError(
            f"{survey.path}: [wavelet] maximum_frequency: found {keys.maximum_frequency:g} Hz; "
            f"allowed: below {nyquist:g} Hz, the Nyquist frequency of its sample interval {interval:g} s"
        )
    taps = low_pass(keys.maximum_frequency, interval).half_width / interval
    if taps > MOST_TAPS:
        raise InputError(
            f"{survey.path}: [wavelet] sample_interval: found {interval:g} s with a maximum_frequency of "
            f"{keys.maximum_frequency:g} Hz, whose low-pass is {beside(taps, MOST_TAPS)} samples to either side; "
            f"allowed: at most {MOST_TAPS:g}, an interval from {taps / MOST_TAPS * interval:.3g} s or frequencies from "
            f"{taps / MOST_TAPS * keys.maximum_frequency:.3g} Hz on; are they in s and Hz?"
        )
    with naming(f"{survey.path}: [wavelet] path"):
        series, times = read_series(survey.directory / keys.path)
    zero, notes = keys.zero or 0.0, tuple[str, ...]()
    if times is not None:
        with naming(f"{survey.path}: [wavelet]"):
            zero, notes = times.agreed(interval, keys.zero, survey.directory / keys.path)
    notes += _zero_notes(zero, (len(series) - 1) * interval, interval)
    return SeriesWavelet(series, -zero, interval, keys.maximum_frequency, notes)


def notes_of(wavelet: Wavelet) -> tuple[str, ...]:
    """What is to be said of how a wavelet was taken from its file."""
    return wavelet.notes if isinstance(wavelet, SeriesWavelet) else ()


def lowest_frequency(wavelet: Wavelet) -> float:
    """Frequency below which a wavelet has next to nothing, Hz; 0 where that is not known from its keys."""
    if isinstance(wavelet, OrmsbyWavelet):
        return wavelet.corners[0]
    # There its amplitude is 0.033 of the largest one, as it is at fmax.
    return 0.11 * wavelet.peak_frequency if isinstance(wavelet, RickerWavelet) else 0.0


def _zero_notes(zero: float, length: float, interval: float) -> tuple[str, ...]:
    """A note where t = 0 lies outside a series of so many seconds."""
    if -interval < zero < length + interval:
        return ()
    where = f"{-zero:g} s before the first sample" if zero < 0 else f"{zero - length:g} s after the last sample"
    return (
        f"[wavelet] zero: t = 0 of the traces lies {where} of the wavelet, a series of {length:g} s (zero = {zero:g} "
        "s): the source acts at another time than t = 0; is zero in s, from the first sample on?",
    )


def _rate(survey: Survey, wavelet: RateWavelet) -> RateWavelet:
    """The wavelet, unless its rise time is out of range (InputError)."""
    shortest, longest = wavelet.rise_times
    if not shortest <= wavelet.rise_time <= longest:
        raise InputError(
            f"{survey.path}: [wavelet] rise_time: found {wavelet.rise_time:g} s; allowed: {shortest:g} to "
            f"{longest:g} s with a maximum_frequency of {wavelet.fmax:g} Hz"
        )
    return wavelet
