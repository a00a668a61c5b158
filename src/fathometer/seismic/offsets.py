"""Common-offset gathers: the traces of a shot in bins of offset, each with an image of its own.

What reflectors do from bin to bin in depth tells of the velocity above them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fathometer.seismic.shot import Shot
from fathometer.seismic.survey import Imaging

ALL = "image"  # the volume of a survey without bins


def volumes_of(imaging: Imaging) -> tuple[str, ...]:
    """Names of the volumes that the shots of a survey add to, the illumination last."""
    bins = [ALL] if imaging.gathers == "none" else [name_of(*edges) for edges in bins_of(imaging)]
    return (*bins, "illumination")


def bins_of(imaging: Imaging) -> list[tuple[float, float]]:
    """Least offset of each bin, and that of the next, m; none without gathers."""
    return list(pairwise(imaging.offset_bins or ()))


def name_of(least: float, beyond: float) -> str:
    """Of a bin, for files."""
    return f"offset-{least:g}-{beyond:g}"


def receivers_by_bin(imaging: Imaging, shot: Shot) -> list[np.ndarray]:
    """Numbers of the receivers of a shot in each bin, by horizontal distance from the source; all without gathers."""
    if imaging.gathers == "none":
        return [np.arange(len(shot.receivers))]
    away = np.linalg.norm((shot.receivers - shot.source)[:, :2], axis=1)
    return [np.flatnonzero((away >= least) & (away < beyond)) for least, beyond in bins_of(imaging)]
