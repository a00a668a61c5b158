"""Gain for display: water faded out, depths balanced, automatic gain control; and the words that a picture says of it.

Files keep their amplitudes. What is done to them for display stands on the picture.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fathometer.pictures.plane import Values

GAIN_FLOOR = 0.1  # of the largest RMS amplitude, which limits the gain
MOST_GAIN = round((1 + GAIN_FLOOR) / GAIN_FLOOR)  # of the weakest depth over the strongest
WATER_VELOCITY = 1600.0  # m/s: cells from the top on that are no faster are water
AGC_WINDOW = 0.5  # s
AGC_FLOOR = 1e-4  # of a trace's mean square: what is 40 dB below it is not amplified


def gain_words(gain: str, clip: float, vertical: str = "depth") -> str:
    """The sentence of a picture on its gain: "none", "balance" (over `vertical`) or "agc"; clip: percentile."""
    clipped = f"clipped at the {clip:g}th percentile"
    if gain == "none":
        return f"no gain, {clipped}"
    done = f"balanced over {vertical} (gain up to {MOST_GAIN})" if gain == "balance" else f"AGC over {AGC_WINDOW:g} s"
    return f"{done} and {clipped} for display, not on file"


def water_cells(vp: Values) -> npt.NDArray[np.intp]:
    """Number of water cells at the top of each column of `vp` (..., depth), m/s; shape (...)."""
    rock = vp > WATER_VELOCITY
    cells: npt.NDArray[np.intp] = np.where(rock.any(axis=-1), rock.argmax(axis=-1), vp.shape[-1])
    return cells


def interval_velocities(rms: Values, first: float, step: float) -> Values:
    """Interval velocities (..., time), m/s, of RMS velocities at two-way times from `first` on, s (Dix 1955).

    A sample has the velocity between it and the one before, the first one its RMS velocity; 0 where there is none.
    """
    times = first + step * np.arange(rms.shape[-1])
    moments = times * np.asarray(rms, np.float64) ** 2
    between = np.sqrt(np.maximum(np.diff(moments, axis=-1) / step, 0.0))
    return np.concatenate([rms[..., :1], between], axis=-1)


def below_water(image: Values, vp: Values) -> tuple[Values, npt.NDArray[np.bool_]]:
    """A vertical section (across, depth) of an image faded in the water, and a mask of the cells that set the clip.

    Artefacts around the sources fill the water with large amplitudes: they fade out between the sea floor and half the
    water's depth. The clip is set by the cells below the water and the top 5 %.
    """
    water = water_cells(vp)[:, None]
    depth = np.arange(image.shape[1])[None, :]
    fade = np.where(water > 0, np.clip((depth / np.maximum(water, 1) - 0.5) / 0.3, 0.0, 1.0), 1.0)
    below = (depth >= water) & (depth >= 0.05 * image.shape[1])
    return image * fade, below


def depth_gain(sections: list[Values], masks: list[npt.NDArray[np.bool_]]) -> Values:
    """Gain of each depth (nz,) of an image for display, so that deep events show beside shallow ones.

    The inverse of the RMS amplitude of the masked cells of vertical sections (across, nz), smoothed over depth, plus a
    tenth of the largest, so that depths with nothing but noise are not amplified to full amplitude.
    """
    depths = masks[0].shape[1]
    count, energy = np.zeros(depths), np.zeros(depths)
    for part, mask in zip(sections, masks, strict=True):
        count += np.sum(mask, axis=0)
        energy += np.sum(np.where(mask & np.isfinite(part), part, 0.0).astype(np.float64) ** 2, axis=0)
    window = np.hanning(2 * max(1, depths // 10) + 3)
    middle = slice(len(window) // 2, len(window) // 2 + depths)
    energy, count = (np.convolve(values, window)[middle] for values in (energy, count))
    known = np.flatnonzero(count > 0.0)
    if len(known) == 0 or not energy.any():
        return np.ones(depths)
    rms = np.interp(np.arange(depths), known, np.sqrt(energy[known] / count[known]))
    return np.asarray(rms.max() / (rms + GAIN_FLOOR * rms.max()))


def agc(traces: Values, interval: float) -> Values:
    """Traces (n, samples) over their RMS amplitude in a window of AGC_WINDOW around each sample; interval: s."""
    from scipy.ndimage import uniform_filter1d

    energy = np.nan_to_num(traces).astype(np.float64) ** 2
    size = min(2 * max(1, round(0.5 * AGC_WINDOW / interval)) + 1, 2 * traces.shape[1] + 1)
    around = np.maximum(uniform_filter1d(energy, size, axis=1, mode="constant"), 0.0)
    floor = AGC_FLOOR * energy.mean(axis=1, keepdims=True)
    scale = np.sqrt(around + floor)
    gained: Values = np.divide(traces, scale, out=np.zeros(traces.shape), where=scale > 0.0)
    return gained
