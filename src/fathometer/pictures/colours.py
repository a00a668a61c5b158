"""Colour maps and their ranges, safe with any colour vision.

Properties have viridis, which is perceptually uniform (van der Walt & Smith 2015). Amplitudes are grey, or red through
white to blue (ColorBrewer's RdBu, Harrower & Brewer 2003) with blue for peaks (Brown 2011, Interpretation of
Three-Dimensional Seismic Data).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fathometer.pictures.plane import Values

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

CLIP_PERCENTILE = 99.0
# By the name of the colours of amplitudes: what they say of the sign.
SIGNS = MappingProxyType({"grey": "black: positive", "red-white-blue": "blue: positive, red: negative"})


def property_colours() -> Colormap:
    """Perceptually uniform colours of a property."""
    import matplotlib

    return matplotlib.colormaps["viridis"]


def seismic_colours(name: str = "grey") -> Colormap:
    """Colours of amplitudes of both signs, by a name of SIGNS: white to black, or red through white to blue."""
    import matplotlib

    return matplotlib.colormaps["gray_r" if name == "grey" else "RdBu"]


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
