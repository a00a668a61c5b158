"""Coordinate transform from the survey to the grid: a translation and a rotation about the vertical.

    x =  (X - X0) sin a + (Y - Y0) cos a            X = X0 + x sin a - y cos a
    y = -(X - X0) cos a + (Y - Y0) sin a            Y = Y0 + x cos a + y sin a

a, the azimuth, is the direction of the grid's x axis, clockwise from north, the direction of Y; (X0, Y0) is the
position of the grid's point (0, 0). Both systems have the same handedness, so nothing is mirrored; a = 90 degrees is a
translation alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fathometer.seismic.model.placement import world_of_keys
from fathometer.seismic.survey import AcquisitionTable
from fathometer.storage.traces.segy import TraceTable
from fathometer.storage.volumes.place import World

Positions = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rotation(World):
    """Position and orientation of the grid in the survey's coordinates."""

    def to_grid(self, positions: Positions) -> Positions:
        """Positions (n, 3), float64, m, from survey to grid coordinates; z is unchanged."""
        sine, cosine = self.direction
        east, north = positions[:, 0] - self.origin[0], positions[:, 1] - self.origin[1]
        # 0 + x turns -0 into 0, which prints differently.
        x, y = 0.0 + (east * sine + north * cosine), 0.0 + (north * sine - east * cosine)
        return np.stack((x, y, positions[:, 2]), axis=1)

    def to_survey(self, positions: Positions) -> Positions:
        """Positions (n, 3), float64, m, from grid to survey coordinates: the inverse of `to_grid`."""
        return np.stack((*self.places(positions[:, 0], positions[:, 1]), positions[:, 2]), axis=1)

    def table(self, table: TraceTable) -> TraceTable:
        """The same traces with positions in grid coordinates."""
        return replace(table, source=self.to_grid(table.source), receiver=self.to_grid(table.receiver))

    def notes(self, tables: Sequence[TraceTable], flat: bool) -> tuple[str, ...]:
        """Notes on the transform of tables that are in grid coordinates. flat: a 2D survey, whose y are ignored."""
        sine, cosine = self.direction
        transform = (
            "coordinates are rotated to the grid's axes: "
            f"(0, 0) is at ({self.origin[0]:.10g}, {self.origin[1]:.10g}) m of the survey, "
            f"x points to azimuth {self.azimuth:g} degrees ({sine:+.4f} X {cosine:+.4f} Y)"
        )
        places = [points[table.live, 1] for table in tables for points in (table.source, table.receiver)]
        farthest = max((float(np.abs(y).max()) for y in places if len(y)), default=0.0)
        if not flat or farthest == 0.0:
            return (transform,)
        return transform, f"sources and receivers lie up to {farthest:.6g} m beside the line, and are projected onto it"


def rotation_of(acquisition: AcquisitionTable) -> Rotation | None:
    """The transform of the keys origin and azimuth; None where survey and grid coordinates are the same."""
    world = world_of_keys(acquisition)
    return None if world is None else Rotation(world.origin, world.azimuth)
