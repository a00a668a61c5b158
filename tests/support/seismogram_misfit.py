"""Time-frequency misfits of seismograms: Kristekova, Kristek & Moczo (2009), Geophys. J. Int. 178, 813-825.

With the continuous wavelet transform W(t, f) of a signal (Morlet wavelet, w0 = 6) and that of the reference, W0,

    EM^2 = sum (|W| - |W0|)^2 / sum |W0|^2,    PM^2 = sum (|W0| arg(W / W0) / pi)^2 / sum |W0|^2

over all times and frequencies: the single-valued envelope and phase misfits, globally normalised. A factor 1 + e makes
EM = e, a shift of all phases by p radians PM = p / pi.
"""

import numpy as np

OMEGA = 6.0


def transform(series, dt, frequencies):
    """The wavelet transform of a series (n,) with dt in s at frequencies (m,) in Hz: (m, n), complex."""
    n = len(series)
    size = 2 * n + 2 * int(6 * OMEGA / (2 * np.pi * np.min(frequencies) * dt))
    w = 2 * np.pi * np.fft.fftfreq(size, dt)
    scale = OMEGA / (2 * np.pi * np.asarray(frequencies))[:, None]
    window = np.pi**0.25 * np.sqrt(2 * scale) * np.exp(-((scale * w - OMEGA) ** 2) / 2) * (w > 0)
    return np.fft.ifft(np.fft.fft(series, size) * window, axis=1)[:, :n]


def misfits(series, reference, dt, lowest, highest, count=60):
    """EM and PM of a series (n,) against a reference (n,), both as fractions.

    Args:
        dt: s. lowest, highest: the band of frequencies in Hz, `count` of them evenly spaced in the logarithm.
    """
    frequencies = np.geomspace(lowest, highest, count)
    found, true = transform(series, dt, frequencies), transform(reference, dt, frequencies)
    size = np.sqrt(np.sum(abs(true) ** 2))
    envelope = np.sqrt(np.sum((abs(found) - abs(true)) ** 2)) / size
    phase = np.sqrt(np.sum((abs(true) * np.angle(found * true.conj()) / np.pi) ** 2)) / size
    return float(envelope), float(phase)
