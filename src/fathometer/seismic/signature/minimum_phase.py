"""Minimum-phase wavelets from amplitude spectra.

Of all causal wavelets with an amplitude spectrum |W| the one of minimum phase has its energy first. The real cepstrum
of log |W|, folded onto positive times, is the logarithm of its spectrum (Oppenheim & Schafer 1975, chapter 10; the same
as the Hilbert transform of log |W| for the phase). Air guns, and ghosts of a surface with |r| <= 1, are near to it.

A spectrum is known where there is signal. Outside of that band it goes on with the powers of frequency that it has at
the band's ends, as filters of recorders do, up to FINER times the Nyquist frequency: a spectrum that ended at Nyquist,
or in a floor of noise, would belong to a wavelet that sets in too sharply and too early.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

PERIOD = 1 << 14  # samples of the traces' interval in a transform: cepstra of spectra with notches are long
FINER = 8
LEAST = 1e-12  # of the largest amplitude, since a logarithm is taken
_STEEPEST = {"low": (0.0, 6.0), "high": (-16.0, -0.5)}  # powers of frequency
_REACH = {"low": 1.5, "high": 1.4}  # how far into the band its power of frequency is fitted, as a ratio
_ROLL_OFF = 0.9  # of the Nyquist frequency, from which on the sampled wavelet falls to 0


def minimum_phase(amplitude: Doubles) -> Doubles:
    """The minimum-phase series (2 nf - 2,) with these amplitudes (nf,) at equal steps from 0 to Nyquist; its first
    sample is at t = 0 and positive."""
    period = 2 * (len(amplitude) - 1)
    cepstrum = np.fft.irfft(np.log(np.maximum(amplitude, LEAST * amplitude.max())), period)
    cepstrum[1 : period // 2] *= 2.0
    cepstrum[period // 2 + 1 :] = 0.0
    return np.asarray(np.fft.irfft(np.exp(np.fft.rfft(cepstrum)), period))


def fine_frequencies(interval: float) -> Doubles:
    """Frequencies (nf,), Hz, up to FINER times the Nyquist frequency of an interval in s."""
    return np.asarray(np.fft.rfftfreq(FINER * PERIOD, interval / FINER), np.float64)


def sampled_minimum_phase(amplitude: Doubles, count: int) -> Doubles:
    """The first samples (count,), at the traces' interval, of the minimum-phase wavelet with amplitudes (nf,) at
    `fine_frequencies`."""
    spectrum = np.fft.rfft(minimum_phase(amplitude))[: PERIOD // 2 + 1]
    share = np.linspace(0.0, 1.0, len(spectrum))
    ramp = np.clip((share - _ROLL_OFF) / (1.0 - _ROLL_OFF), 0.0, 1.0)
    return np.asarray(np.fft.irfft(spectrum * np.cos(0.5 * np.pi * ramp) ** 2, PERIOD)[:count])


def continued(
    frequency: Doubles, amplitude: Doubles, band: tuple[float, float], trusted: npt.NDArray[np.bool_]
) -> Doubles:
    """Amplitudes (nf,) at frequencies (nf,), Hz, that go on with powers of frequency outside of a band, Hz; trusted:
    (nf,), those that powers at its upper end are fitted to."""
    low, high = band
    result = np.array(amplitude, np.float64)
    safe = np.maximum(frequency, 0.5 * frequency[1])  # no power of 0
    ends = (
        ("low", low, (frequency >= low) & (frequency <= _REACH["low"] * low), frequency < low),
        ("high", high, trusted & (frequency >= high / _REACH["high"]) & (frequency <= high), frequency > high),
    )
    for name, edge, inside, outside in ends:
        power = 0.0
        if np.count_nonzero(inside) > 1:
            power = float(np.polyfit(np.log(safe[inside]), np.log(amplitude[inside]), 1)[0])
        at = float(np.interp(edge, frequency, amplitude))
        result[outside] = at * (safe[outside] / edge) ** np.clip(power, *_STEEPEST[name])
    return result


def smoothed(amplitude: Doubles, width: int) -> Doubles:
    """The geometric mean (nf,) of amplitudes (nf,) > 0 over `width` steps of frequency either side."""
    if width < 1:
        return amplitude
    weights = np.hanning(2 * width + 3)[1:-1]
    logarithm = np.pad(np.log(amplitude), width, mode="reflect")
    return np.asarray(np.exp(np.convolve(logarithm, weights / weights.sum(), mode="valid")))
