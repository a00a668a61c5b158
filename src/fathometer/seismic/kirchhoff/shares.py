"""The weights of a survey's traces: what each stands for (areas.py), by bins of offset."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.areas import ClassAreas
from fathometer.seismic.kirchhoff.coverage import Coverage
from fathometer.seismic.shots.acquisition import Acquisition

Doubles = npt.NDArray[np.float64]
FEWEST = 8  # positions of midpoints along an axis that tell how far apart they are


@dataclass(frozen=True, eq=False)
class TraceShares:
    """Weights of the traces of an acquisition, and of the classes that they are taken by: the bins of offset, or one.

    Attributes:
        traces: of each shot, (receivers,), m² (2D: m): the area of a trace. parts: of each class, that of the traces;
            they add up to 1.
        medians: of the areas of each class, m² (2D: m). offsets: smallest and largest of each, m.
    """

    traces: tuple[npt.NDArray[np.float32], ...]
    parts: tuple[float, ...]
    medians: tuple[float, ...]
    offsets: tuple[tuple[float, float], ...]
    _classes: tuple[ClassAreas, ...]

    @classmethod
    def of(
        cls, acquisition: Acquisition, images: Iterable[npt.NDArray[np.int32]], grid: Grid, number: int
    ) -> TraceShares:
        """images: of each shot, (receivers,) the image that a trace belongs to, of `number`; below 0: none.

        Traces that are silent or muted (Acquisition.lifeless) have no area.
        """
        shots = acquisition.shots
        counts = np.array([len(shot.receivers) for shot in shots])
        image = np.concatenate(list(images))
        image[np.concatenate([acquisition.lifeless(shot) for shot in shots])] = -1
        offsets = np.concatenate([shot.offsets for shot in shots])
        middles = acquisition.midpoints[:, : 1 if grid.two_dimensional else 2]
        weights, found, ends = np.zeros(len(image), np.float32), [], []
        for one in range(number):
            own = image == one
            found.append(ClassAreas.of(middles[own], grid.spacing[: middles.shape[1]]))
            weights[own] = found[-1].traces
            ends.append((float(offsets[own].min()), float(offsets[own].max())) if own.any() else (0.0, 0.0))
        live = np.array([len(one.traces) for one in found])
        return cls(
            tuple(np.split(weights, np.cumsum(counts)[:-1])),
            tuple((live / max(1, live.sum())).tolist()),
            tuple(float(np.median(one.traces)) if len(one.traces) else 0.0 for one in found),
            tuple(ends),
            tuple(found),
        )

    def record(self) -> list[dict[str, Any]]:
        """The classes with their part of the traces and the area of one of them, as JSON values."""
        return [
            {"offsets_metres": ends, "part_of_traces": part, "median_area_of_a_trace": area}
            for ends, part, area in zip(self.offsets, self.parts, self.medians, strict=True)
        ]

    def coverage(self, grid: Grid, one: int | None = None) -> Coverage:
        """Of the image of a class, or of that of all classes, weighted by their traces."""
        chosen = list(zip(self.parts, self._classes, strict=True)) if one is None else [(1.0, self._classes[one])]
        axes = 1 if grid.two_dimensional else 2
        middles = np.concatenate([cells.midpoints.reshape(-1, axes) for _, cells in chosen])
        areas = np.concatenate([part * cells.cells for part, cells in chosen])
        apart = max((float(np.median(cells.cells)) for _, cells in chosen if len(cells.cells)), default=0.0)
        return Coverage(grid, middles, areas, apart if axes == 1 else math.sqrt(apart))


def steps_between(middles: Doubles, grid: Grid) -> tuple[int, int]:
    """Places of a grid from one midpoint to the next along x and y: the median, at least 1; 1 where
    there are too few midpoints to tell."""
    steps = []
    for axis in (0, 1):
        held = _places(middles, grid, axis)
        steps.append(max(1, int(np.median(np.diff(held)))) if len(held) >= FEWEST and grid.shape[axis] > 1 else 1)
    return steps[0], steps[1]


def coarsened(middles: Doubles, grid: Grid) -> Grid:
    """The columns of `grid` that are as far apart as the midpoints, and where they lie; `grid` where it has no more."""
    shape, spacing, origin = list(grid.shape), list(grid.spacing), list(grid.origin)
    for axis, step in enumerate(steps_between(middles, grid)):
        held = _places(middles, grid, axis) % step
        first = int(np.bincount(held).argmax()) if len(held) else 0
        count = (grid.shape[axis] - 1 - first) // step + 1
        if step > 1 and count > 1:
            shape[axis], spacing[axis] = count, step * grid.spacing[axis]
            origin[axis] += first * grid.spacing[axis]
    return Grid((shape[0], shape[1], shape[2]), (spacing[0], spacing[1], spacing[2]), (origin[0], origin[1], origin[2]))


def _places(middles: Doubles, grid: Grid, axis: int) -> npt.NDArray[np.int64]:
    """Indices along an axis of the grid that hold midpoints, ascending, also beyond its ends."""
    # Halves go up: to the even ones, as rint has it, midpoints half way between places would lie two places apart.
    places = np.floor((middles[:, axis] - grid.origin[axis]) / grid.spacing[axis] + 0.5)
    return np.unique(places.astype(np.int64))
