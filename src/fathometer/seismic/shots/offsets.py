"""Common-offset gathers: the traces of a shot in bins of offset, each with an image of its own.

What reflectors do from bin to bin in depth tells of the velocity above them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fathometer.base.errors import InputError
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import ImagingTable, Survey

ALL = "image"  # the volume of a survey without bins
OFFSET = "offset-"  # what the names of the volumes of bins begin with


def volumes_of(imaging: ImagingTable) -> tuple[str, ...]:
    """Names of the volumes that the shots of a survey add to, the illumination last."""
    bins = [ALL] if imaging.gathers == "none" else [name_of(*edges) for edges in bins_of(imaging)]
    return (*bins, "illumination")


def bins_of(imaging: ImagingTable) -> list[tuple[float, float]]:
    """Least offset of each bin, and that of the next, m; none without gathers."""
    return list(pairwise(imaging.offset_bins or ()))


def name_of(least: float, beyond: float) -> str:
    """Of a bin, for files."""
    return f"{OFFSET}{least:g}-{beyond:g}"


def check_bins(survey: Survey, shots: Sequence[Shot]) -> tuple[str, ...]:
    """Notes on traces that lie in no bin and bins that hold none. InputError where no bin holds any."""
    imaging = survey.imaging
    if imaging.gathers == "none":
        return ()
    counts = np.sum([[len(one) for one in receivers_by_bin(imaging, shot)] for shot in shots], axis=0)
    total = sum(len(shot.receivers) for shot in shots)
    if not counts.any():
        away = [np.linalg.norm((shot.receivers - shot.source)[:, :2], axis=1) for shot in shots]
        low, high = min(one.min() for one in away), max(one.max() for one in away)
        raise InputError(
            f"{survey.path}: [imaging] offset_bins: found no trace in any of them; allowed: bins in m that hold some "
            f"of the offsets, which are {low:g} to {high:g} m"
        )
    notes = []
    if empty := [name_of(*edges) for edges, count in zip(bins_of(imaging), counts, strict=True) if not count]:
        notes.append(f"[imaging] offset_bins: no trace lies in {', '.join(empty)}")
    if beyond := total - int(counts.sum()):
        notes.append(f"{beyond} of {total} traces lie in none of [imaging] offset_bins, and are in no image")
    return tuple(notes)


def receivers_by_bin(imaging: ImagingTable, shot: Shot) -> list[np.ndarray]:
    """Numbers of the receivers of a shot in each bin, by horizontal distance from the source; all without gathers."""
    if imaging.gathers == "none":
        return [np.arange(len(shot.receivers))]
    away = np.linalg.norm((shot.receivers - shot.source)[:, :2], axis=1)
    return [np.flatnonzero((away >= least) & (away < beyond)) for least, beyond in bins_of(imaging)]
