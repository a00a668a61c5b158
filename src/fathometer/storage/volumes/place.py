"""Where the local coordinates of a volume lie in the world: a shift and a rotation, and the name of the world's system.

    X = X0 + x sin a - y cos a            Y = Y0 + x cos a + y sin a

a, the azimuth, is the direction of the local x axis, clockwise from north, the direction of Y; (X0, Y0) is the place of
the local point (0, 0). Seen from above, y points to the left of x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fathometer.base.formatting import listed
from fathometer.storage.volumes.survey_grid import SurveyGrid

EAST = 90.0  # degrees: azimuth of an x axis along X
ACCURACY = 1e-6  # m, of spacings that attributes give; beside what rounding of large coordinates takes
_QUARTERS = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))  # sine, cosine


@dataclass(frozen=True)
class World:
    """Position and orientation of local coordinates in the world's."""

    origin: tuple[float, float] = (0.0, 0.0)  # m, (X0, Y0)
    azimuth: float = EAST  # degrees

    @property
    def direction(self) -> tuple[float, float]:
        """Sine and cosine of the azimuth, exact at right angles."""
        quarters = self.azimuth / EAST
        if quarters == round(quarters):
            return _QUARTERS[round(quarters) % 4]
        return math.sin(math.radians(self.azimuth)), math.cos(math.radians(self.azimuth))

    @property
    def transform(self) -> tuple[float, ...]:
        """(a, b, c, d, e, f) of X = a x + b y + c, Y = d x + e y + f."""
        sine, cosine = self.direction
        # 0 - 0 is 0, where -0 would print differently.
        return sine, 0.0 - cosine, self.origin[0], cosine, sine, self.origin[1]

    def places(self, x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """X and Y (m) of local places (m), arrays of one shape or that broadcast to one."""
        sine, cosine = self.direction
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        return self.origin[0] + (x * sine - y * cosine), self.origin[1] + (x * cosine + y * sine)

    def grid(self, names: str, spacing: dict[str, float], first: dict[str, float]) -> SurveyGrid:
        """The same as places of a grid's cells in the world.

        Args:
            names: horizontal axes of the file, slowest first, "xy", "yx" or "x".
            spacing, first: m, of each axis, and of its first cell; 0 where it has none.
        """
        x, y = self.places(first.get("x", 0.0), first.get("y", 0.0))
        towards = {"x": self.azimuth % 360.0, "y": (self.azimuth - 90.0) % 360.0}
        accuracy = ACCURACY + 1e-9 * max(abs(float(x)), abs(float(y)))
        return SurveyGrid(
            tuple(spacing[name] for name in names),
            (accuracy,) * len(names),
            (float(x), float(y)),
            tuple(towards[name] for name in names),
        )

    def __str__(self) -> str:
        x, y = self.origin
        return f"(0, 0) at ({x:.10g}, {y:.10g}) m, x towards azimuth {self.azimuth:.10g} degrees"


@dataclass(frozen=True)
class Place:
    """What is known of where a volume lies.

    Attributes:
        world: of its x and y; None: they are local, or what they are is not known.
        crs: name of the coordinate reference system, as the input has it; "": unknown.
        local: the file says that its coordinates have no place in the world, or are not known to have one.
        datum: name of the level that depths count from, as the input has it; "": unknown.
    """

    world: World | None = None
    crs: str = ""
    local: bool = False
    datum: str = ""

    def __bool__(self) -> bool:
        """Whether anything is known of x and y."""
        return self.world is not None or bool(self.crs)

    def lost_in(self, output: Path) -> str:
        """What is said of a volume whose format cannot hold what is known here; "" where nothing is lost."""
        lost = [*(("origin", "azimuth", "crs") if self else ()), *(("vertical_datum",) if self.datum else ())]
        if not lost or not holds_no_place(output):
            return ""
        return f"{output} holds no place: {listed(lost)} {'are' if len(lost) > 1 else 'is'} not in it"

    def as_dict(self) -> dict[str, Any]:
        """For JSON; SI units in the keys, but degrees."""
        known = self.world
        return {
            "world_origin_metres": None if known is None else list(known.origin),
            "azimuth_degrees": None if known is None else known.azimuth,
            "world_transform": None if known is None else list(known.transform),
            "crs": self.crs or None,
            "vertical_datum": self.datum or None,
        }


def holds_no_place(output: Path) -> bool:
    """Whether the format of a volume, by its suffix, holds values alone and cannot say where these lie."""
    return output.suffix.lower() == ".npy"
