"""Colour maps, their ranges, and the balancing of images for display."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.pictures.plane import Values

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

CLIP_PERCENTILE = 99.0
GAIN_FLOOR = 0.1  # of the largest RMS amplitude, which limits the gain
WATER_VELOCITY = 1600.0  # m/s: cells from the top on that are no faster are water


def property_colours() -> Colormap:
    """Perceptually uniform colours of a property."""
    import matplotlib

    return matplotlib.colormaps["viridis"]


def background_colours() -> Colormap:
    """Property colours without their ends and lightened, so that black and white events show on all of them."""
    from matplotlib.colors import ListedColormap

    base = property_colours()(np.linspace(0.08, 0.96, 256))
    base[:, :3] = 0.30 + 0.70 * base[:, :3]
    return ListedColormap(base, name="background")


def overlay_colours() -> Colormap:
    """Colours of an image over a property: black to white through transparent, opaque where it is strong."""
    from matplotlib.colors import ListedColormap

    level = np.linspace(-1.0, 1.0, 511)
    colours = np.empty((level.size, 4))
    colours[:, :3] = np.where(level > 0.0, 0.0, 1.0)[:, None]
    colours[:, 3] = 0.92 * np.abs(level) ** 0.7
    return ListedColormap(colours, name="overlay")


def symmetric_range(parts: list[Values], percentile: float = CLIP_PERCENTILE) -> float:
    """The percentile of the magnitudes of all finite, non-zero values; 1 where there are none."""
    magnitudes = [np.abs(part[np.isfinite(part) & (part != 0.0)]).ravel() for part in parts]
    all_magnitudes = np.concatenate([np.zeros(0), *magnitudes])
    if all_magnitudes.size == 0:
        return 1.0
    # A tiny constant image may have a percentile that a float32 can't halve.
    return max(float(np.percentile(all_magnitudes, percentile)), 1e-30)


def full_range(parts: list[Values]) -> tuple[float, float]:
    """Smallest and largest finite value of all parts, widened by 0.5 each way where they are equal."""
    finite = [part[np.isfinite(part)] for part in parts]
    low = min((float(part.min()) for part in finite if part.size), default=0.0)
    high = max((float(part.max()) for part in finite if part.size), default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


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
