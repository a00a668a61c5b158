"""The wavelet of a stack of sea-floor reflections: amplitude spectrum, minimum phase, sign, and the time of its onset.

The spectrum is that of the stack from its onset on over the wavelet's length. It is divided by the ghosts' amplitudes,
if there are ghosts, since what is left is smoother: so it can be smoothed, over 1 / length, and continued beyond the
band where it stands above the noise before the reflection (minimum_phase.py). With the ghosts multiplied again it is
that of the traces, without them that of the source: both are of minimum phase. Where traces are those of line sources
(2D modelling), the half integral of their propagation, whose amplitude falls as f^(-1/2), is taken out in the same way.

The sign and the onset are those with which the wavelet of the traces fits the stack best, with an onset no later than
the first break: of two signs, half a period apart, one would need a signal before its onset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fathometer.seismic.signature.minimum_phase import (
    PERIOD,
    continued,
    fine_frequencies,
    sampled_minimum_phase,
    smoothed,
)
from fathometer.seismic.signature.sea_floor import BEFORE, Aligned, parabola
from fathometer.seismic.traces.deghost import ghost

Doubles = npt.NDArray[np.float64]

LEAD = 0.02  # s before the onset that belong to the window, since it is not known well yet
LEAST_GHOST, NOTCH = 0.05, 0.3  # amplitudes of ghosts: no division by less; below, a notch, where nothing is fitted
WEAKEST = 10.0 ** (-40.0 / 20.0)  # of the largest amplitude: the end of the band where there is no noise
ABOVE_NOISE = 3.0
HIGHEST = 0.8  # of the Nyquist frequency: the end of the band at most, since recorders filter
NEGLIGIBLE = 0.03  # of the largest amplitude: a Ricker wavelet's at 2.5 times its peak frequency
TAPER = 0.25  # of the length, at its end
REACH = 0.05  # s, by which the first break may lie beside the reference time, and the onset before it
BREAK, BREAK_NOISE = 0.03, 5.0  # of the largest amplitude, and of the noise's RMS: a first break is louder than both
CLOSE = 0.05  # difference of correlations below which the sign cannot be told


@dataclass(frozen=True)
class Tows:
    """Depths of sources and receivers below the surface, m; velocity of the water, m/s; the surface's coefficient."""

    source: float
    receiver: float
    velocity: float
    reflection: float

    def amplitude(self, frequency: Doubles) -> Doubles:
        """Amplitudes (nf,) of both ghosts at frequencies (nf,), Hz."""
        result = np.ones(len(frequency))
        for depth in (self.source, self.receiver):
            if depth > 0.0:
                result *= np.abs(ghost(frequency, depth, self.velocity, self.reflection))
        return result


@dataclass(frozen=True)
class Estimate:
    """A wavelet of a survey, and what it was made of.

    Attributes:
        series: (n,), the first sample at t = 0, largest magnitude 1. interval: s.
        recorded: (n,), the one that the stack was compared with: with the ghosts and the half integral of the traces.
        onset: s, of t = 0 of `recorded` after the reference time of the pieces.
        sign: 1.0 or -1.0, of its first motion. fit, other_fit: correlation of the stack with it, with the other sign.
        frequency: (nf,), Hz. amplitude, stacked: (nf,) of `series` and of the stack, the largest 1.
        band: Hz, where there is signal. highest: Hz, above which amplitudes are negligible.
    """

    series: Doubles
    recorded: Doubles
    interval: float
    onset: float
    sign: float
    fit: float
    other_fit: float
    frequency: Doubles
    amplitude: Doubles
    stacked: Doubles
    band: tuple[float, float]
    highest: float

    def reversed(self) -> Estimate:
        """The same of traces with the other sign."""
        return replace(self, series=-self.series, recorded=-self.recorded, sign=-self.sign)

    @property
    def sign_is_told(self) -> bool:
        """Whether one sign fits clearly better than the other."""
        return self.fit - self.other_fit >= CLOSE


def estimate_of(
    aligned: Aligned, interval: float, length: float, tows: Tows | None, removed: bool, line: bool
) -> Estimate:
    """The wavelet, `length` s long, of aligned reflections sampled every `interval` s.

    tows: of the ghosts that the traces hold; None: none. removed: the wavelet is to hold none of them. line: the traces
    are those of line sources.
    """
    frequency = np.asarray(np.fft.rfftfreq(PERIOD, interval), np.float64)
    stacked, noise = _spectra(aligned.stack, interval, length)
    fine = fine_frequencies(interval)
    ghosts = np.ones(len(fine)) if tows is None else tows.amplitude(fine)
    own = ghosts[: len(frequency)]  # the same frequencies
    width = round(1.0 / length / frequency[1])
    band = _band(frequency, smoothed(stacked, width), noise, length)
    source = _without_ghosts(frequency, stacked, noise, own, width)
    source = np.interp(fine, frequency, source)
    source = continued(fine, source, band, ghosts > NOTCH)
    count = round(length / interval) + 1
    recorded = _tapered(sampled_minimum_phase(source * ghosts, count))
    sign, onset, fit, other = _matched(aligned.stack, recorded, interval)
    final = (source if removed else source * ghosts) * (np.sqrt(fine) if line else 1.0)
    series = _tapered(sampled_minimum_phase(final, count))
    amplitude = final[: len(frequency)]
    loud = np.flatnonzero(amplitude >= NEGLIGIBLE * amplitude.max())
    return Estimate(
        series=sign * series / np.abs(series).max(),
        recorded=sign * recorded / np.abs(recorded).max(),
        interval=interval,
        onset=onset,
        sign=sign,
        fit=fit,
        other_fit=other,
        frequency=frequency,
        amplitude=amplitude / amplitude.max(),
        stacked=stacked / stacked.max(),
        band=band,
        highest=float(frequency[loud[-1]]),
    )


def _without_ghosts(frequency: Doubles, stacked: Doubles, noise: float, ghosts: Doubles, width: int) -> Doubles:
    """Amplitudes (nf,) of a stack, less those of its noise, over those of its ghosts (nf,), smoothed. Across notches
    they go straight on, in logarithms, since noise is all that is there."""
    clean = np.sqrt(np.maximum(stacked**2 - noise**2, 0.1 * stacked**2))
    source = clean / np.maximum(ghosts, LEAST_GHOST)
    sound = (ghosts >= NOTCH) | (np.arange(len(ghosts)) < np.argmax(ghosts))
    source = np.exp(np.interp(frequency, frequency[sound], np.log(source[sound])))
    return smoothed(source, width)


def _spectra(stack: Doubles, interval: float, length: float) -> tuple[Doubles, float]:
    """Amplitudes (PERIOD // 2 + 1,) of a stack from its onset on, and those of as much noise as is before it."""
    begin = round((BEFORE - LEAD) / interval)
    signal = _tapered(stack[begin : begin + round((LEAD + length) / interval)])
    before = stack[: max(begin - 2, 1)]
    noise = np.abs(np.fft.rfft(before, PERIOD)) * np.sqrt(len(signal) / len(before))
    amplitude = np.abs(np.fft.rfft(signal, PERIOD))
    return np.maximum(amplitude, 1e-9 * amplitude.max()), float(np.sqrt(np.mean(noise**2)))


def _band(frequency: Doubles, amplitude: Doubles, noise: float, length: float) -> tuple[float, float]:
    """Where amplitudes (nf,) stand above the noise, Hz. What is lower than 1 / length is not resolved."""
    sound = amplitude > max(WEAKEST * amplitude.max(), ABOVE_NOISE * noise)
    sound[np.argmax(amplitude)] = True
    peak = int(np.argmax(amplitude))
    weak = np.flatnonzero(~sound[:peak])
    low = float(frequency[weak[-1] + 1]) if len(weak) else float(frequency[1])
    high = min(float(frequency[np.flatnonzero(sound)[-1]]), HIGHEST * float(frequency[-1]))
    return min(max(low, 1.0 / length), 0.9 * high), high


def _tapered(series: Doubles) -> Doubles:
    """A series (n,) with a cosine at its end."""
    ramp = max(2, round(TAPER * len(series)))
    result = np.array(series, np.float64)
    result[-ramp:] *= 0.5 * (1.0 + np.cos(np.pi * np.arange(1, ramp + 1) / ramp))
    return result


def _matched(stack: Doubles, wavelet: Doubles, interval: float) -> tuple[float, float, float, float]:
    """Sign, onset (s behind the reference time) and correlation with which a wavelet (n,) fits a stack best, and the
    correlation of the other sign. No onset is later than the stack's first break: before it there is nothing."""
    last = _first_break(stack, interval)
    reach = round(REACH / interval)
    first = max(0, last - reach)
    padded = np.concatenate([stack, np.zeros(len(wavelet) + 2)])
    energy = float(np.sum(wavelet**2))
    fit = np.empty(last - first + 2)  # with one beyond, for the parabola
    for n in range(len(fit)):
        piece = padded[first + n : first + n + len(wavelet)]
        size = np.sqrt(max(float(np.sum(piece**2)) * energy, np.finfo(np.float64).tiny))
        fit[n] = float(piece @ wavelet) / size
    inner = slice(1, len(fit) - 1)
    sign = 1.0 if fit[inner].max() >= -fit[inner].min() else -1.0
    k = 1 + int(np.argmax(sign * fit[inner]))
    onset = interval * (first + k + parabola(sign * fit, k)) - BEFORE
    return sign, onset, float(sign * fit[k]), float(np.max(-sign * fit[inner]))


def _first_break(stack: Doubles, interval: float) -> int:
    """The first sample of a stack that is neither noise nor small beside the reflection."""
    begin, near = round((BEFORE - REACH) / interval), round((BEFORE + REACH) / interval)
    noise = float(np.sqrt(np.mean(stack[:begin] ** 2)))
    level = max(BREAK * float(np.abs(stack[:near]).max()), BREAK_NOISE * noise)
    return begin + int(np.argmax(np.abs(stack[begin:]) >= level))
