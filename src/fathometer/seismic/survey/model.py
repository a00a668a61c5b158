"""The section [model]: the subsurface model."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le, Len
from pydantic import model_validator

from fathometer.config.constraints import Allowed
from fathometer.config.quantities import CellSize, Coordinate, Density, Frequency, Quality
from fathometer.config.table import Table, key
from fathometer.config.types import FileName, Loose
from fathometer.seismic.survey.types import VelocityUnits

Fraction = Annotated[float, Gt(-0.5), Le(2), Allowed("a number above -0.5 to 2, a fraction")]
Thomsen = FileName | Fraction
# Of numbers in any of `units`; what each of these allows is checked when it is known.
WaveVelocity = Annotated[float, Ge(0), Le(70_000), Allowed("a number from 100 to 20000")]
ShearVelocity = Annotated[float, Ge(0), Le(1e6), Allowed("a number from 1 to 20000, or 0")]
# Lowest and highest P velocities by unit: 100 to 20,000 m/s.
VELOCITIES = {
    "m/s": (100.0, 20_000.0),
    "km/s": (0.1, 20.0),
    "ft/s": (300.0, 70_000.0),
    "s/km": (0.05, 10.0),
    "s2/km2": (0.0025, 100.0),
}
# The same of S waves, which are slow in mud: 1 to 20,000 m/s.
SHEAR_VELOCITIES = {
    "m/s": (1.0, 20_000.0),
    "km/s": (1e-3, 20.0),
    "ft/s": (3.0, 70_000.0),
    "s/km": (0.05, 1000.0),
    "s2/km2": (0.0025, 1e6),
}


# What waves of each physics travel through: keys of [model], the P velocity first.
PROPERTIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"acoustic": ("vp", "epsilon", "delta"), "elastic": ("vp", "vs", "density", "qp", "qs")}
)


class ModelTable(Table):
    """The model: each property a file (.rsf, .npy, .npz:key, .segy, .h5:path) or a number."""

    vp: FileName | WaveVelocity = key("vertical P velocity, in `units`", "m/s")
    epsilon: Thomsen = key("Thomsen's epsilon", "", 0.0)
    delta: Thomsen = key("Thomsen's delta", "", 0.0)
    on_weak_epsilon: Literal["refuse", "raise-epsilon", "lower-delta"] = key(
        "cells with epsilon < delta, where the wave equation has growing solutions: refused, or computed with epsilon "
        "raised to delta, or with delta lowered to epsilon; how many they are is reported",
        "",
        "refuse",
    )
    vs: FileName | ShearVelocity | None = key(
        "S velocity, in `units`; 0: a fluid; needed with, and allowed only with, `[propagation]` `physics` = elastic",
        "m/s",
        None,
    )
    density: FileName | Density | None = key("density; needed with, and allowed only with, elastic", "kg/m3", None)
    qp: FileName | Quality | None = key(
        "quality factor of P waves, the same at all frequencies of the source; with qs; left out: no attenuation; "
        "elastic only",
        "",
        None,
    )
    qs: FileName | Quality | None = key("quality factor of S waves; with qp", "", None)
    reference_frequency: Frequency | None = key(
        "frequency at which vp and vs are the phase velocities of an attenuating medium; left out: 0.4 of the "
        "wavelet's highest frequency (of a Ricker wavelet its peak frequency); with qp and qs",
        "Hz",
        None,
    )
    spacing: Annotated[tuple[CellSize, ...], Len(1, 3), Loose] | None = key(
        "size of a cell along x, y, z (2D: x, z); needed where the file carries none; of a SEG-Y whose CDP coordinates "
        "give the others, [dz] is enough",
        "m",
        None,
    )
    origin: Annotated[tuple[Coordinate, ...], Len(2, 3), Loose] | None = key(
        "position of the first cell along x, y, z (2D: x, z); left out: as in the file, else 0", "m", None
    )
    axes: Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xz", "zx"] | None = key(
        'order of the file\'s axes, slowest first; left out: as the file names them, else "xyz" for 3 axes, "xz" for 2',
        "",
        None,
    )
    units: VelocityUnits | None = key(
        "unit of the values of vp and vs (s/km: slowness, s2/km2: slowness squared); left out: as the files say, else "
        "m/s",
        "",
        None,
    )

    @model_validator(mode="after")
    def _velocities(self) -> Self:
        units = self.units or "m/s"
        for name, value, limits in (("vp", self.vp, VELOCITIES), ("vs", self.vs, SHEAR_VELOCITIES)):
            low, high = limits[units]
            fluid = name == "vs" and value == 0
            if isinstance(value, float) and not (low <= value <= high or fluid):
                allowed = f"from {low:g} to {high:g}, in {units}, as `units` says"
                raise ValueError(f"{name}: found {value:g}; allowed: {allowed}")
        return self
