"""The boxes of a flow file as ranges of cells."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from fathometer.apps.reactive.flow_file import ALL, FlowFile
from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Index3

Box = tuple[Index3, Index3]  # first cells, and the ones past the last
SLACK = 1e-9  # of a cell: centres on the face of a box are in it


class Regions:
    """The regions of a flow file by name; "all" has every cell.

    Raises InputError for a region without cells.
    """

    def __init__(self, file: FlowFile) -> None:
        self.shape: Index3 = file.grid.cells
        self._boxes: dict[str, Box] = {ALL: ((0, 0, 0), self.shape)}
        for number, region in enumerate(file.region, 1):
            ranges = []
            for axis, name in enumerate("xyz"):
                interval = getattr(region, name)
                cells, size, start = self.shape[axis], file.grid.spacing[axis], file.grid.origin[axis]
                first, end = 0, cells
                if interval is not None:
                    lowest, highest = ((value - start) / size - 0.5 for value in interval)
                    first, end = max(0, ceil(lowest - SLACK)), min(cells, floor(highest + SLACK) + 1)
                    if first >= end:
                        raise InputError(
                            f'{file.path}: [[region]] {number} "{region.name}" {name}: found no centre of a cell from '
                            f"{interval[0]:g} to {interval[1]:g} m; allowed: boxes with cells of the grid, which is "
                            f"from {start:g} to {start + cells * size:g} m in cells of {size:g} m"
                        )
                ranges.append((first, end))
            (x0, x1), (y0, y1), (z0, z1) = ranges
            self._boxes[region.name] = (x0, y0, z0), (x1, y1, z1)

    def box(self, name: str) -> Box:
        """The cells of a region."""
        return self._boxes[name]

    def inside(self, name: str, lo: Sequence[int], hi: Sequence[int]) -> tuple[slice, ...]:
        """Where the cells lo to hi are in a region, as slices of their array."""
        first, end = self._boxes[name]
        return tuple(
            slice(max(f, a) - a, max(min(e, b), max(f, a)) - a) for f, e, a, b in zip(first, end, lo, hi, strict=True)
        )

    def on_side(self, name: str, axis: int, last: bool) -> tuple[slice, slice] | None:
        """Faces of a side whose cells are in a region, as slices along the two other axes; None: there are none."""
        first, end = self._boxes[name]
        if (end[axis] < self.shape[axis]) if last else first[axis] > 0:
            return None
        one, other = (slice(first[a], end[a]) for a in range(3) if a != axis)
        return one, other


def filled(
    regions: Regions, lo: Sequence[int], hi: Sequence[int], base: float, entries: Sequence[tuple[str, float | None]]
) -> npt.NDArray[np.float64]:
    """Values of the cells lo to hi: `base`, replaced in regions by the values of `entries`, None: not there."""
    values = np.full([b - a for a, b in zip(lo, hi, strict=True)], base)
    for name, value in entries:
        if value is not None:
            values[regions.inside(name, lo, hi)] = value
    return values
