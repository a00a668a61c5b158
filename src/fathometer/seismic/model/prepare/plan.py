"""Plan of a model's preparation: the cells that are read, the grids of the steps, and their memory."""

from __future__ import annotations

import math

from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.seismic.model import smoothing
from fathometer.seismic.model.prepare import regridding
from fathometer.seismic.model.prepare.extent import along
from fathometer.seismic.model.prepare.input_volume import check_spacing
from fathometer.seismic.model.prepare.request import PreparationRequest

ADVICE = "use --crop or larger cells (--spacing)"


class PreparationPlan:
    """The cells that are read and the grids that result from them.

    Attributes:
        deviation: standard deviations of the smoothing along x, y, z, in cells of the input.
        box: half-open ranges along x, y, z of the cells that are read: those that crop leaves, and those around them
            that smoothing and regridding need. core: ranges of the former within the box.
        read: grid of the box. inner: grid after regridding and crop. pad: cells before and after each axis that extend
            it. result: grid of the files that are written.
    """

    def __init__(self, request: PreparationRequest, grid: Grid) -> None:
        """Raises InputError for a crop outside the model, and for spacings and smoothing out of range."""
        axes = grid.axes
        crop = along(axes, request.crop, "--crop") if request.crop else {}
        deviation = along(axes, request.smooth, "--smooth") if request.smooth else {}
        new_spacing = along(axes, request.spacing, "--spacing") if request.spacing else {}
        extend = along(axes, request.extend, "--extend") if request.extend else {}
        self.deviation = [deviation.get(axis, 0.0) / grid.spacing[axis] for axis in range(3)]
        self.box, self.core, inner_axes = [], [], []
        before, after = [0, 0, 0], [0, 0, 0]
        for axis, n in enumerate(grid.shape):
            origin, spacing = grid.origin[axis], grid.spacing[axis]
            lo, hi = crop[axis].cells(origin, spacing, n) if axis in crop else (0, n)
            if axis in axes and hi - lo < 2:
                raise InputError(
                    f"--crop: leaves {max(0, hi - lo)} cells along {'xyz'[axis]}; allowed: two or more of those from "
                    f"{origin:g} to {origin + (n - 1) * spacing:g} m, every {spacing:g} m"
                )
            _check_smoothing(axis, deviation.get(axis, 0.0), (n - 1) * spacing)
            length = new_spacing.get(axis, spacing)
            check_spacing("--spacing", axis, length)
            margin = smoothing.reach(self.deviation[axis]) + regridding.reach(spacing, length)
            self.box.append((max(0, lo - margin), min(n, hi + margin)))
            self.core.append((lo - self.box[-1][0], hi - self.box[-1][0]))
            if regridding.same_spacing(spacing, length):
                length, cells = spacing, hi - lo
            else:
                cells = regridding.cell_count(origin + lo * spacing, origin + (hi - 1) * spacing, length)
            if axis in axes and cells < 2:
                raise InputError(
                    f"--spacing: found {length:g} m along {'xyz'[axis]}, where the model is "
                    f"{(hi - 1 - lo) * spacing:g} m long; allowed: two cells or more"
                )
            inner_axes.append((origin + lo * spacing, length, cells))
            if axis in extend:
                before[axis], after[axis] = (end.cells(length) for end in (extend[axis].before, extend[axis].after))
        self.read = _part_of(grid, self.box)
        self.inner = _grid_of(inner_axes)
        self.pad = list(zip(before, after, strict=True))
        self.result = _grid_of(
            [(first - b * d, d, n + b + a) for (first, d, n), b, a in zip(inner_axes, before, after, strict=True)]
        )
        self._separate = request.sea_floor is not None  # water and rock are two arrays
        self._properties = 1 + sum(rule is not None for rule in (request.epsilon, request.delta))
        self._averaged = 3 if request.anisotropy_given else 1

    def require_memory(self, itemsize: int) -> None:
        """Raises InputError where the host's memory does not suffice; itemsize: bytes of a value in the file."""
        parts = {
            "model as it is read": math.prod(self.read.shape)
            * (itemsize + 4 * (1 + 2 * self._averaged + 2 * self._separate)),
            "model as it is written": math.prod(self.result.shape)
            * 4
            * (self._properties + self._averaged + self._separate),
        }
        require_memory(parts, usable_memory(MPI.COMM_SELF, 1.0), MPI.COMM_SELF, ADVICE)


def _check_smoothing(axis: int, metres: float, extent: float) -> None:
    """Raises InputError where a standard deviation along an axis (0, 1, 2) is longer than the model, both in m."""
    if not 0 <= metres <= extent:
        raise InputError(
            f"--smooth: found {metres:g} m along {'xyz'[axis]}; allowed: 0 to {extent:g} m, as long as the model is"
        )


def _part_of(grid: Grid, box: list[tuple[int, int]]) -> Grid:
    return _grid_of([(o + lo * d, d, hi - lo) for o, d, (lo, hi) in zip(grid.origin, grid.spacing, box, strict=True)])


def _grid_of(axes: list[tuple[float, float, int]]) -> Grid:
    """Grid with (origin, spacing, cells) along x, y, z."""
    (x, dx, nx), (y, dy, ny), (z, dz, nz) = axes
    return Grid((nx, ny, nz), (dx, dy, dz), (x, y, z))
