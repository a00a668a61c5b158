"""From the coordinates of a survey to those of the grid: a shift and a rotation about the vertical.

    x =  (X - X0) sin a + (Y - Y0) cos a            X = X0 + x sin a - y cos a
    y = -(X - X0) cos a + (Y - Y0) sin a            Y = Y0 + x cos a + y sin a

a, the azimuth, is the direction of the grid's x axis, clockwise from the coordinates' north, which is the direction of
Y; (X0, Y0) is the place of the grid's point (0, 0). Seen from above with Y up, the grid's y axis points to the left of
its x axis, as Y does of X: nothing is mirrored, and a = 90 degrees is a shift alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fathometer.seismic.survey import AcquisitionTable
from fathometer.storage.traces.segy import TraceTable

Places = npt.NDArray[np.float64]
EAST = 90.0  # degrees: the azimuth of a grid along the coordinates
_QUARTERS = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))  # sine, cosine


@dataclass(frozen=True)
class Rotation:
    """The grid's place in a survey: origin (X0, Y0) in m, azimuth in degrees."""

    origin: tuple[float, float] = (0.0, 0.0)
    azimuth: float = EAST

    @property
    def direction(self) -> tuple[float, float]:
        """Sine and cosine of the azimuth, exact at right angles."""
        quarters = self.azimuth / EAST
        if quarters == round(quarters):
            return _QUARTERS[round(quarters) % 4]
        return math.sin(math.radians(self.azimuth)), math.cos(math.radians(self.azimuth))

    def to_grid(self, places: Places) -> Places:
        """Places (n, 3), m, of the survey's coordinates in the grid's; z stays."""
        sine, cosine = self.direction
        east, north = places[:, 0] - self.origin[0], places[:, 1] - self.origin[1]
        # 0 + x is x but for -0, which would be a place of its own when printed.
        x, y = 0.0 + (east * sine + north * cosine), 0.0 + (north * sine - east * cosine)
        return np.stack((x, y, places[:, 2]), axis=1)

    def to_survey(self, places: Places) -> Places:
        """The inverse."""
        sine, cosine = self.direction
        x, y = places[:, 0], places[:, 1]
        east, north = x * sine - y * cosine, x * cosine + y * sine
        return np.stack((self.origin[0] + east, self.origin[1] + north, places[:, 2]), axis=1)

    def table(self, table: TraceTable) -> TraceTable:
        """The same traces, with their places in the grid's coordinates."""
        return replace(table, source=self.to_grid(table.source), receiver=self.to_grid(table.receiver))

    def notes(self, tables: Sequence[TraceTable], flat: bool) -> tuple[str, ...]:
        """What people should know of tables that are in the grid's coordinates. flat: y is not looked at."""
        sine, cosine = self.direction
        told = (
            f"places are turned to the grid's axes: (0, 0) is at ({self.origin[0]:.10g}, {self.origin[1]:.10g}) m of "
            f"the survey, x points to azimuth {self.azimuth:g} degrees ({sine:+.4f} X {cosine:+.4f} Y)"
        )
        places = [points[table.live, 1] for table in tables for points in (table.source, table.receiver)]
        away = max((float(np.abs(one).max()) for one in places if len(one)), default=0.0)
        if not flat or away == 0.0:
            return (told,)
        return told, f"sources and receivers lie up to {away:.6g} m beside the line, and are put onto it"


def rotation_of(acquisition: AcquisitionTable) -> Rotation | None:
    """What a survey asks for; None: its coordinates are the grid's."""
    if acquisition.origin is None and acquisition.azimuth is None:
        return None
    x, y = acquisition.origin or (0.0, 0.0)
    return Rotation((x, y), EAST if acquisition.azimuth is None else acquisition.azimuth)
