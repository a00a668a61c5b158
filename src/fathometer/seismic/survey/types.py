"""Types of the values of survey keys."""

import itertools
from typing import Annotated, Literal

from annotated_types import Ge, Le, Len
from pydantic import AfterValidator

from fathometer.config.constraints import Allowed
from fathometer.config.quantities import MOST_METRES, CornerFrequency, Distance
from fathometer.config.table import not_allowed
from fathometer.config.types import Loose

VelocityUnits = Literal["m/s", "km/s", "ft/s", "s/km", "s2/km2"]


def _whole_microseconds(seconds: float) -> float:
    """SEG-Y stores the sample interval in whole microseconds as a signed 16-bit number."""
    micro = seconds * 1e6
    if abs(micro - round(micro)) > 1e-6 * micro or not 1 <= round(micro) <= 32767:
        raise not_allowed()
    return seconds


def _increasing(corners: tuple[float, ...]) -> tuple[float, ...]:
    if any(high <= low for low, high in itertools.pairwise(corners)):
        raise not_allowed()
    return corners


def _not_falling(ends: tuple[int, int]) -> tuple[int, int]:
    if ends[1] < ends[0]:
        raise not_allowed()
    return ends


SampleInterval = Annotated[
    float,
    Ge(1e-6),
    Le(0.032767),
    AfterValidator(_whole_microseconds),
    Allowed("whole microseconds from 1e-6 to 0.032767"),
]
Corners = Annotated[
    tuple[CornerFrequency, CornerFrequency, CornerFrequency, CornerFrequency],
    Loose,
    AfterValidator(_increasing),
    Allowed("[f1, f2, f3, f4], increasing, from 0 to 1e+07"),
]
Edges = Annotated[
    tuple[Distance, ...], Loose, Len(2, 200), Allowed(f"two or more ascending numbers, from 0 to {MOST_METRES:g}")
]
Offsets = Annotated[
    tuple[Distance, Distance],
    Loose,
    AfterValidator(_increasing),
    Allowed(f"[least, most], increasing, from 0 to {MOST_METRES:g}"),
]
Numbers = Annotated[tuple[int, int], Loose, AfterValidator(_not_falling), Allowed("[first, last], integers")]
