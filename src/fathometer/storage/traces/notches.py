"""Ghosts of the sea surface as they show in traces: the notch of their mean amplitude spectrum.

At a depth d the reflection from the surface cancels the frequencies n c / (2 d). A depth of the headers says where to
look; of a notch there, three things can be told:

    found     the spectrum falls by NOTCH_DB or more below both of its shoulders, within NEAR of the first notch
    none      it falls by less than FLAT_DB, and both shoulders are within STRONG_DB of the largest amplitude, so that
              neither a slope nor noise can have hidden a notch
    nothing   anything between; or a shoulder is more than BAND_DB below the largest amplitude or above HIGHEST of the
              Nyquist frequency, so that there is no signal that could be missing; or too few traces, or too short ones

The spectrum is that of power, each trace divided by its energy, averaged over the traces and over SMOOTH of the notch's
frequency: reflectivity, which differs from trace to trace, then has no notches of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WATER = 1500.0  # m/s
NOTCH_DB, FLAT_DB, BAND_DB, STRONG_DB = 6.0, 3.0, 30.0, 15.0
NEAR, SHOULDER = 0.1, (0.6, 1.4)  # of the notch's frequency: how far from it it may lie; where its shoulders end
SMOOTH = 0.06  # of the notch's frequency
HIGHEST = 0.9  # of the Nyquist frequency: above, recorders have filtered
FEWEST = 8  # traces
SAME_DEPTH = 0.1  # of the median, by which depths may differ
MOST = 64  # traces that are read

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Notch:
    """What traces show of the ghost of "sources" or "receivers" at a depth of their headers."""

    of: str
    depth: float  # m
    expected: float  # Hz, c / (2 d)
    found: float  # Hz; 0: there is none

    def __str__(self) -> str:
        if self.found:
            return (
                f"{self.of} at {self.depth:.4g} m: notch at {self.found:.3g} Hz ({self.expected:.3g} Hz by the depth): "
                "the traces hold the ghost of the sea surface"
            )
        return (
            f"{self.of} at {self.depth:.4g} m: no notch at {self.expected:.3g} Hz, where that depth has one: no ghost, "
            "or another depth"
        )


def notches_of(traces: NDArray[np.floating], interval: float, sources: Floats, receivers: Floats) -> tuple[Notch, ...]:
    """What can be told of the ghosts in traces (n, ns) sampled every `interval` s, with depths (n,) of sources and
    receivers, m, below the surface."""
    live = traces[traces.any(axis=1)].astype(np.float64)
    if len(live) < FEWEST:
        return ()
    found = []
    for name, depths in (("sources", sources), ("receivers", receivers)):
        depth = float(np.median(depths))
        if depth > 0.0 and np.abs(depths - depth).max() <= SAME_DEPTH * depth:
            expected = WATER / (2.0 * depth)
            at = _notch(live, interval, expected)
            if at is not None:
                found.append(Notch(name, depth, expected, at))
    return tuple(found)


def _notch(traces: Floats, interval: float, expected: float) -> float | None:
    """The frequency of a notch near the expected one, Hz; 0.0: none; None: it cannot be told."""
    count = traces.shape[1]
    step = 1.0 / (count * interval)
    low, high = (expected * end for end in SHOULDER)
    if step > SMOOTH * expected or high > HIGHEST * 0.5 / interval:
        return None
    decibels = _spectrum(traces, max(1, round(SMOOTH * expected / step)))
    frequency = step * np.arange(len(decibels))
    near = np.abs(frequency - expected) <= NEAR * expected
    below, above = (frequency >= low) & (frequency < expected), (frequency > expected) & (frequency <= high)
    if not near.any():
        return None
    # The weaker shoulder, also where the spectrum slopes: half of a steep slope is not taken for a notch.
    shoulder = min(float(decibels[below & ~near].max()), float(decibels[above & ~near].max()))
    if shoulder < -BAND_DB:
        return None
    lowest = int(np.argmin(np.where(near, decibels, np.inf)))
    fall = shoulder - float(decibels[lowest])
    if fall >= NOTCH_DB:
        return float(frequency[lowest])
    return 0.0 if fall < FLAT_DB and shoulder >= -STRONG_DB else None


def _spectrum(traces: Floats, width: int) -> Floats:
    """Mean power of traces (n, ns) by frequency, over `width` frequencies, in dB of the largest."""
    tapered = traces * np.hanning(traces.shape[1])
    power = np.abs(np.fft.rfft(tapered / np.abs(tapered).max(axis=1, keepdims=True), axis=1)) ** 2
    mean = np.mean(power / power.sum(axis=1, keepdims=True), axis=0)
    smooth = np.convolve(np.pad(mean, width // 2, mode="edge"), np.ones(width) / width, mode="same")
    smooth = smooth[width // 2 : width // 2 + len(mean)]
    return np.asarray(10.0 * np.log10(np.maximum(smooth / smooth.max(), 1e-12)))


def spread(count: int, most: int = MOST) -> NDArray[np.int64]:
    """Up to `most` numbers below `count`, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
