"""Options of `fathometer stencil`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fathometer.base import option_types
from fathometer.base.options import option

if TYPE_CHECKING:
    from fathometer.parallel.decomposition import Index3


@dataclass(frozen=True)
class StencilOptions:
    """What to measure.

    Attributes:
        grid: cells along x, y, z; ny = 1: two dimensions. order: of the differences in space. physics: equation.
        steps: time steps of one measurement. depth: time steps of a sweep, 0: searched for. repeat: measurements.
        scaling: whether to measure with fewer ranks and threads too.
    """

    grid: Index3 = option(
        "cells; NX,NZ in 2D (320,320,320)", type=option_types.grid, default=(320, 320, 320), metavar="NX,NY,NZ"
    )
    order: int = option("2, 4 ... 16 (8)", type=int, default=8, choices=range(2, 17, 2), metavar="N")
    physics: str = option("equation", default="")
    steps: int = option("time steps of a measurement (12)", type=option_types.count, default=12, metavar="N")
    depth: int = option(
        "time steps a sweep; auto: searched for (auto)",
        "--time-depth",
        type=option_types.time_depth,
        default=0,
        metavar="N|auto",
    )
    repeat: int = option("measurements of each kind (7)", type=option_types.count, default=7, metavar="N")
    scaling: bool = option("also measure with fewer threads and ranks", default=False)
