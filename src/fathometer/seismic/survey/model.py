"""The section [model]: the subsurface model."""

from typing import Annotated, Literal

from annotated_types import Gt, Len

from fathometer.config.table import Table, key
from fathometer.config.types import FileName, Loose, NotNegative, Positive

Thomsen = FileName | Annotated[float, Gt(-0.5)]


class ModelTable(Table):
    """The model: each property a file (.rsf, .npy, .npz:key, .segy, .h5:path) or a number."""

    vp: FileName | Positive = key("vertical P velocity, in `units`", "m/s")
    epsilon: Thomsen = key("Thomsen's epsilon", "", 0.0)
    delta: Thomsen = key("Thomsen's delta", "", 0.0)
    on_weak_epsilon: Literal["refuse", "raise-epsilon", "lower-delta"] = key(
        "cells with epsilon < delta, where the wave equation has growing solutions: refused, or computed with epsilon "
        "raised to delta, or with delta lowered to epsilon; how many they are is reported",
        "",
        "refuse",
    )
    vs: FileName | NotNegative | None = key(
        "S velocity, in `units`; 0: a fluid; needed with, and allowed only with, `[propagation]` `physics` = elastic",
        "m/s",
        None,
    )
    density: FileName | Positive | None = key("density; needed with, and allowed only with, elastic", "kg/m3", None)
    qp: FileName | Positive | None = key(
        "quality factor of P waves, the same at all frequencies of the source; with qs; left out: no attenuation; "
        "elastic only",
        "",
        None,
    )
    qs: FileName | Positive | None = key("quality factor of S waves; with qp", "", None)
    reference_frequency: Positive | None = key(
        "frequency at which vp and vs are the phase velocities of an attenuating medium; left out: 0.4 of the "
        "wavelet's highest frequency (of a Ricker wavelet its peak frequency); with qp and qs",
        "Hz",
        None,
    )
    spacing: Annotated[tuple[Positive, ...], Len(1, 3), Loose] | None = key(
        "size of a cell along x, y, z (2D: x, z); needed where the file carries none; of a SEG-Y whose CDP coordinates "
        "give the others, [dz] is enough",
        "m",
        None,
    )
    origin: Annotated[tuple[float, ...], Len(2, 3), Loose] | None = key(
        "position of the first cell along x, y, z (2D: x, z); left out: as in the file, else 0", "m", None
    )
    axes: Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xz", "zx"] | None = key(
        'order of the file\'s axes, slowest first; left out: "xyz" for 3 axes, "xz" for 2', "", None
    )
    units: Literal["m/s", "km/s", "s2/km2"] = key(
        "unit of the values of vp and vs (s2/km2: slowness squared)", "", "m/s"
    )
