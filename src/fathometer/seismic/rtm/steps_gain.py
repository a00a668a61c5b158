"""What the time steps do to the scale of a source-normalised image, and its cure by one number.

Image I and illumination S are sums over time steps of length dt. With the spectrum P_s of the source wavefield over
true frequencies Omega, those of the steps being omega (traces/dispersion.py), a reflector has

    I ~ int |P_s|^2 sin(Omega dt) / (Omega dt) dOmega     receivers inject the central difference of their traces
    S ~ int |P_s|^2 / cos(omega dt/2) dOmega              = int |P_s|^2 domega; traces have the factor cos(omega dt/2)

so I / S is too small: by 7 % at the stability limit with 6.7 cells in the wavelength of a Ricker wavelet's peak, 2 %
with 13, 0.5 % with 27. Both integrals follow from the wavelet: what the medium does to the spectrum on its way, but
for the spreading of a line source, matters little to their ratio.
"""

from __future__ import annotations

import math

import numpy as np

from fathometer.seismic.traces.dispersion import PASSES
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet


def steps_gain(wavelet: Wavelet, time: TimeAxis, corrected: bool, two_dimensional: bool) -> float:
    """The number by which I / S is to be multiplied, from 1; corrected: whether time dispersion is."""
    spectrum = np.abs(np.fft.rfft(wavelet(time.times())))[1:] ** 2
    frequency = math.pi * np.arange(1, len(spectrum) + 1) / max(1, len(spectrum))  # Omega dt
    inside = frequency < 2 * math.sin(PASSES / 2)
    frequency, power = frequency[inside], spectrum[inside]
    if two_dimensional:
        power = power / frequency  # a line's wave is by 1 / sqrt(Omega) weaker than its series
    counted = 1 / np.sqrt(1 - (frequency / 2) ** 2) if corrected else np.ones_like(frequency)
    image = float((power * np.sinc(frequency / math.pi)).sum())
    if not image > 0.0:
        return 1.0
    # Rounded: on processors that sum otherwise it is the same number too.
    return round(float((power * counted).sum()) / image, 6)
