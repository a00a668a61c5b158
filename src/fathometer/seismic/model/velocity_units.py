"""Units of velocity in model files: m/s, km/s, and slowness squared in s2/km2."""

from __future__ import annotations

from typing import Any

import numpy as np

UNITS = {
    "m/s": "m/s",
    "km/s": "km/s",
    "s2/km2": "s2/km2",
    "s^2/km^2": "s2/km2",
    "m s-1": "m/s",
    "km s-1": "km/s",
}  # as files write them -> as the survey does


def metres_per_second(values: Any, units: str) -> Any:
    """Velocities (m/s) of an array or a number in `units`, in its dtype and shape; "none": the values themselves."""
    if units == "km/s":
        return 1000 * values
    return 1000 / np.sqrt(values) if units == "s2/km2" else values
