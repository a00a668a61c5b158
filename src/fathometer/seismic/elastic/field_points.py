"""Points of sources and receivers on the grids of the single fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fathometer.seismic.waves.points import SincPoints


@dataclass(frozen=True, eq=False)
class FieldPoints:
    """Where some points touch one field, with a series each.

    Attributes:
        field: its name. points: boxes of cells, whose indices are those of the field's own points in the padded grid
            (index i of vx lies at i + 1/2 cells).
        column: (n,) int64, which series belongs to a point. amplitude: (n,) float64, what its values are multiplied by.

    Of sources a step adds: velocities  += buoyancy weight amplitude value (amplitude: 1 / cell volume of a force in N)
                            stresses    += weight amplitude value (-dt / cell volume of a moment rate in N m / s)
    Of receivers: value = amplitude times the weighted sum.
    """

    field: str
    points: SincPoints
    column: np.ndarray
    amplitude: np.ndarray

    def at(self, numbers: np.ndarray) -> FieldPoints:
        """Those of these numbers."""
        return FieldPoints(self.field, self.points.of(numbers), self.column[numbers], self.amplitude[numbers])
