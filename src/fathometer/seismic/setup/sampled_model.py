"""What a plan looks at of a model: some of its rows, in the range of what runs take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fathometer.base.errors import InputError
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.limits import velocity_range
from fathometer.seismic.model.velocity_units import OTHERS
from fathometer.seismic.survey import Survey


def sampled(files: EarthFiles, names: Sequence[str] | None = None) -> tuple[list[np.ndarray], str]:
    """As EarthFiles.sample; where rows cannot be read, InputError with what would do instead."""
    try:
        return files.sample(names)
    except InputError as error:
        raise InputError(f"{error}; a plan needs some rows of them, or --velocities LOWEST,HIGHEST") from None


def check_velocities(survey: Survey, name: str, low: float, high: float) -> None:
    """Raises InputError for P velocities (m/s) that a run would refuse; name: of what they are from."""
    slowest, fastest = velocity_range(survey.needed_model.units)
    if not (low >= slowest and high <= fastest):
        raise InputError(
            f"{survey.path}: {name}: found {low:g} to {high:g} m/s; allowed: {slowest:g} to {fastest:g} m/s; is "
            f"[model] units right? allowed: {OTHERS}"
        )
