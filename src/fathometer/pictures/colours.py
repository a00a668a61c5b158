"""Colours and their ranges: one map for properties, one for what is signed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fathometer.pictures.plane import Values

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

CLIP_PERCENTILE = 99.0
FLOOR = 0.1  # of the largest RMS amplitude: what a gain does not go beyond
WATER_VELOCITY = 1600.0  # m/s: what is slower and lies on top is water


def property_colours() -> Colormap:
    """Perceptually uniform colours of a plain property."""
    import matplotlib

    return matplotlib.colormaps["viridis"]


def background_colours() -> Colormap:
    """The same, without its ends and lightened, so that black and white image lines show on all of it."""
    from matplotlib.colors import ListedColormap

    base = property_colours()(np.linspace(0.08, 0.96, 256))
    base[:, :3] = 0.30 + 0.70 * base[:, :3]
    return ListedColormap(base, name="background")


def overlay_colours() -> Colormap:
    """Black to white through transparent: an image that lets the velocity below it show where it is weak."""
    from matplotlib.colors import ListedColormap

    level = np.linspace(-1.0, 1.0, 511)
    colours = np.empty((level.size, 4))
    colours[:, :3] = np.where(level > 0.0, 0.0, 1.0)[:, None]
    colours[:, 3] = 0.92 * np.abs(level) ** 0.7
    return ListedColormap(colours, name="overlay")


def symmetric_range(parts: list[Values], percentile: float = CLIP_PERCENTILE) -> float:
    """The magnitude that `percentile` % of the finite, non-zero values stay below; 1 where there are none."""
    magnitudes = [np.abs(part[np.isfinite(part) & (part != 0.0)]).ravel() for part in parts]
    together = np.concatenate([np.zeros(0), *magnitudes])
    if together.size == 0:
        return 1.0
    # A tiny constant image may have a percentile that a float32 can't halve.
    return max(float(np.percentile(together, percentile)), 1e-30)


def full_range(parts: list[Values]) -> tuple[float, float]:
    """Smallest and largest finite value, a little apart where they are equal."""
    finite = [part[np.isfinite(part)] for part in parts]
    low = min((float(part.min()) for part in finite if part.size), default=0.0)
    high = max((float(part.max()) for part in finite if part.size), default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def water_cells(vp: Values) -> npt.NDArray[np.intp]:
    """How many cells from the top of each column of `vp` (..., depth), m/s, are water, shape (...)."""
    rock = vp > WATER_VELOCITY
    cells: npt.NDArray[np.intp] = np.where(rock.any(axis=-1), rock.argmax(axis=-1), vp.shape[-1])
    return cells


def below_water(image: Values, vp: Values) -> tuple[Values, npt.NDArray[np.bool_]]:
    """A vertical section (across, depth) of an image for display, and which of its cells set the clip.

    The sources' own imprint fills the water and would outshine everything: it fades out between the sea floor
    and half the water's depth. The clip comes from the cells below it and the top 5 %.
    """
    water = water_cells(vp)[:, None]
    depth = np.arange(image.shape[1])[None, :]
    fade = np.where(water > 0, np.clip((depth / np.maximum(water, 1) - 0.5) / 0.3, 0.0, 1.0), 1.0)
    judged = (depth >= water) & (depth >= 0.05 * image.shape[1])
    return image * fade, judged


def depth_gain(sections: list[Values], judged: list[npt.NDArray[np.bool_]]) -> Values:
    """What each depth (nz,) of an image is multiplied by for display, so that deep events show beside shallow ones.

    One over the RMS amplitude of the judged cells of some vertical sections (across, nz), smoothed over depth, plus a
    tenth of the largest: a depth that holds nothing but noise stays quiet.
    """
    depths = judged[0].shape[1]
    count, energy = np.zeros(depths), np.zeros(depths)
    for part, good in zip(sections, judged, strict=True):
        count += np.sum(good, axis=0)
        energy += np.sum(np.where(good & np.isfinite(part), part, 0.0).astype(np.float64) ** 2, axis=0)
    window = np.hanning(2 * max(1, depths // 10) + 3)
    middle = slice(len(window) // 2, len(window) // 2 + depths)
    energy, count = (np.convolve(values, window)[middle] for values in (energy, count))
    known = np.flatnonzero(count > 0.0)
    if len(known) == 0 or not energy.any():
        return np.ones(depths)
    rms = np.interp(np.arange(depths), known, np.sqrt(energy[known] / count[known]))
    return np.asarray(rms.max() / (rms + FLOOR * rms.max()))
