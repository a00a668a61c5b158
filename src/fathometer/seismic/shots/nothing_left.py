"""Keys of recorded gathers that would leave nothing of any trace: known from the headers alone, and refused then."""

from __future__ import annotations

import math

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import Survey


def check_mute(survey: Survey, acquisition: Acquisition) -> None:
    """Raises InputError where the top mute begins after the last sample of all traces."""
    mute = survey.acquisition.mute
    if mute is None:
        return
    nearest = min((float(shot.offsets.min()) for shot in acquisition.shots if len(shot.offsets)), default=math.inf)
    if not math.isfinite(nearest) or nearest / mute.velocity < acquisition.end:
        return
    allowed = f"above {nearest / acquisition.end:g} m/s" if acquisition.end > 0 else "no mute of such traces"
    raise InputError(
        f"{survey.path}: [acquisition] mute.velocity: found {mute.velocity:g}; at the least offset, {nearest:g} m, the "
        f"mute ends at {nearest / mute.velocity:g} s, after the last sample, {acquisition.end:g} s, so that nothing is "
        f"left of any trace; allowed: {allowed}"
    )
