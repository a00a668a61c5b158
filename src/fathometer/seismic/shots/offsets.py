"""Offset bins of a shot's traces, for common-offset image gathers: one image per bin.

Residual moveout: a reflector is imaged at one depth in all bins where the velocity above it is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fathometer.base.errors import InputError
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import ImagingTable, Survey

ALL = "image"  # name of the image volume of all offsets
OFFSET = "offset-"  # prefix of the names of the image volumes of bins


def volumes_of(imaging: ImagingTable) -> tuple[str, ...]:
    """Names of the volumes that are summed over shots: an image per offset bin, or one image; then the illumination."""
    images = [ALL] if imaging.gathers == "none" else [name_of(*edges) for edges in bins_of(imaging)]
    return (*images, "illumination")


def bins_of(imaging: ImagingTable) -> list[tuple[float, float]]:
    """Offset bins as half-open intervals (near, far), m; empty without gathers."""
    return list(pairwise(imaging.offset_bins or ()))


def name_of(near: float, far: float) -> str:
    """Volume name of the bin from `near` to `far` (m)."""
    return f"{OFFSET}{near:g}-{far:g}"


def check_bins(survey: Survey, shots: Sequence[Shot]) -> tuple[str, ...]:
    """Notes on traces outside all bins and on empty bins. Raises InputError where all bins are empty."""
    imaging = survey.imaging
    if imaging.gathers == "none":
        return ()
    counts = np.sum([[len(receivers) for receivers in receivers_by_bin(imaging, shot)] for shot in shots], axis=0)
    total = sum(len(shot.receivers) for shot in shots)
    if not counts.any():
        offsets = [shot.offsets for shot in shots]
        low, high = min(values.min() for values in offsets), max(values.max() for values in offsets)
        raise InputError(
            f"{survey.path}: [imaging] offset_bins: found no trace in any of them; allowed: bins in m that hold some "
            f"of the offsets, which are {low:g} to {high:g} m"
        )
    notes = []
    if empty := [name_of(*edges) for edges, count in zip(bins_of(imaging), counts, strict=True) if not count]:
        notes.append(f"[imaging] offset_bins: no trace lies in {', '.join(empty)}")
    if outside := total - int(counts.sum()):
        notes.append(f"{outside} of {total} traces lie in none of [imaging] offset_bins, and are in no image")
    return tuple(notes)


def receivers_by_bin(imaging: ImagingTable, shot: Shot) -> list[np.ndarray]:
    """Receivers of a shot in each offset bin (near <= offset < far).

    Returns:
        One array per bin, in the order of `bins_of`: indices (n,), int64, into shot.receivers, ascending. Without
        gathers one array of all indices. A receiver outside all bins is in none.
    """
    if imaging.gathers == "none":
        return [np.arange(len(shot.receivers))]
    offsets = shot.offsets
    return [np.flatnonzero((offsets >= near) & (offsets < far)) for near, far in bins_of(imaging)]
