"""An image in time stretched to depth, column by column.

z(t) is that of [model], t(z) = 2 int dz / vp from the datum; without [model], the sum of Dix's interval velocities of
the RMS velocities. Columns stay where they are: nothing is moved sideways, as image rays would.

Between its samples the image is interpolated by a sinc of eight points under a Kaiser window. Linear interpolation
would take up to 30 % of an amplitude at half the Nyquist frequency, and that only between samples, so that the loss
would follow the depth's sampling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.depth_model import DepthModel, last_nodes
from fathometer.seismic.kirchhoff.velocities.limits import FASTEST, SLOWEST
from fathometer.seismic.kirchhoff.velocities.places import slabs, times_of
from fathometer.seismic.kirchhoff.velocities.source import Columns, Floats
from fathometer.seismic.kirchhoff.velocities.velocities import Velocities
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.survey import Survey

TAPS = 8  # samples that a value is made of
BETA = 5.0  # of Kaiser's window
FRACTIONS = 4096  # places between two samples for which there are weights
STEPS = (5.0, 2.5, 2.0, 1.0)  # of depth, times a power of 10


@dataclass(frozen=True)
class Reach:
    """What the depth axis of an image has to resolve and to hold, by Dix's velocities.

    Attributes:
        slowest: interval velocity, m/s. deepest: depth below the datum, m.
        limited: samples whose interval velocity does not exist or is out of range, and was taken as the nearest limit.
    """

    slowest: float = math.inf
    deepest: float = 0.0
    limited: int = 0

    def joined(self, other: Reach) -> Reach:
        """Of the columns of both; exact, in any order."""
        return Reach(min(self.slowest, other.slowest), max(self.deepest, other.deepest), self.limited + other.limited)


class DepthStretch:
    """From time to depth.

    Attributes:
        grid: of the image in depth: the columns of that in time, vertical "depth". notes: what depths are by.
    """

    def __init__(self, image: Grid, grid: Grid, model: DepthModel | None, velocities: Velocities, note: str) -> None:
        self.grid, self.notes = grid, (note,)
        self._image, self._model, self._velocities = image, model, velocities

    def to_depth(self, image: NDArray[np.float32], lo: Columns, hi: Columns) -> NDArray[np.float32]:
        """The image in depth, float32 (nx, ny, nz), of the columns in the half-open box [lo, hi), not collective.

        image: (nx, ny, nt), of these columns. 0 at depths that the image's times do not reach. InputError as of
        `Velocities.read`, and for values of [model] that the checks refuse.
        """
        result = np.empty((*image.shape[:2], self.grid.shape[2]), np.float32)
        for first, end in slabs(lo, hi, max(image.shape[2], self.grid.shape[2])):
            part = slice(first[0] - lo[0], end[0] - lo[0]), slice(first[1] - lo[1], end[1] - lo[1])
            positions = self._positions(first, end)
            columns = image[part].reshape(-1, image.shape[2])
            result[part] = interpolated(columns, positions).reshape(*result[part].shape)
        return result

    def _positions(self, lo: Columns, hi: Columns) -> Floats:
        """Place of each depth in samples of the image in time, (columns, nz); NaN outside."""
        if self._model is None:
            depths, _ = dix_depths(self._velocities.read(lo, hi).rms, self._image)
            return positions_of(depths + self.grid.origin[2], self.grid)
        vp = self._model.properties(lo, hi)["vp"]
        nodes = np.repeat(positions_of(self._model.depths[None, :], self.grid), len(vp), axis=0)
        whole = np.floor(np.nan_to_num(nodes)).astype(np.int64)
        times = self._model.times(vp)
        behind = np.minimum(whole + 1, times.shape[1] - 1)
        before, after = (np.take_along_axis(times, index, axis=1) for index in (whole, behind))
        at = before + (nodes - whole) * (after - before)
        samples = (at - self._image.origin[2]) / self._image.spacing[2]
        return np.where((samples >= 0) & (samples <= self._image.shape[2] - 1), samples, np.nan)


def depth_stretch_of(
    survey: Survey, image: Grid, velocities: Velocities, earth: EarthFiles | None = None, reach: Reach | None = None
) -> DepthStretch:
    """How the image of a time migration comes to depth.

    With [model], depths are those of its samples, so that the result can be compared with a depth migration. Without,
    they begin at the datum, as far apart as a sample of time is thick where waves are slowest, or less.

    Args:
        image: its grid, in time. velocities: of it. earth: the files of [model] where they are open already.
        reach: of all columns, without [model]: `reach_of` of the blocks that ranks read, joined; left out: all columns
            are read here.

    InputError as of `velocities_of`; without `reach` and [model] as of `Velocities.read`.
    """
    datum = survey.time_migration.datum
    if survey.model is not None:
        model = DepthModel(str(survey.path), earth or EarthFiles(survey), image, datum)
        own = model.earth.grid
        grid = _in_depth(image, own.shape[2], own.spacing[2], own.origin[2])
        return DepthStretch(image, grid, model, velocities, "depths are those of vertical times through [model]'s vp")
    if reach is None:
        reach = Reach()
        for lo, hi in slabs((0, 0), (image.shape[0], image.shape[1]), image.shape[2]):
            reach = reach.joined(reach_of(velocities.read(lo, hi).rms, image))
    step = step_of(reach.slowest * image.spacing[2] / 2)
    grid = _in_depth(image, math.ceil(reach.deepest / step) + 1, step, datum)
    note = (
        "depths are by Dix's interval velocities of the RMS velocities, which are those of NMO: in VTI media they are "
        "too deep by a factor of about sqrt(1 + 2 delta)"
    )
    if reach.limited:
        note += (
            f"; at {reach.limited} samples the interval velocity does not exist or lies outside {SLOWEST:g} to "
            f"{FASTEST:g} m/s, and the nearest of these was taken"
        )
    return DepthStretch(image, grid, None, velocities, note)


def reach_of(rms: NDArray[np.float32], image: Grid) -> Reach:
    """Reach of columns with the RMS velocities (nx, ny, nt), m/s."""
    if not rms.size:
        return Reach()
    depths, limited = dix_depths(rms, image)
    intervals = np.diff(depths, axis=1) * (2.0 / image.spacing[2])
    slowest = float(intervals.min(initial=math.inf))
    # Single samples at the lower limit would make the depth axis absurdly fine.
    return Reach(max(slowest, 0.5 * float(rms.min())), float(depths.max()), limited)


def dix_depths(rms: NDArray[np.float32], image: Grid) -> tuple[Floats, int]:
    """Depths (columns, nt), m below the datum, of the image's times by Dix's interval velocities of RMS velocities
    (nx, ny, nt), m/s; and how many of these had to be limited to SLOWEST to FASTEST."""
    times = times_of(image)
    speeds = rms.reshape(-1, rms.shape[-1]).astype(np.float64)
    squares = np.diff(times * speeds**2, axis=1) / image.spacing[2]
    kept = np.clip(squares, SLOWEST**2, FASTEST**2)
    depths = np.empty_like(speeds)
    # Of what is above the first sample only the RMS velocity is known.
    depths[:, 0] = 0.5 * times[0] * speeds[:, 0]
    np.cumsum(0.5 * image.spacing[2] * np.sqrt(kept), axis=1, out=depths[:, 1:])
    depths[:, 1:] += depths[:, :1]
    return depths, int(np.count_nonzero(kept != squares))


def positions_of(nodes: Floats, grid: Grid) -> Floats:
    """Where the vertical samples of a grid lie between nodes that ascend, (columns, n), in nodes: (columns, nz); NaN
    outside."""
    last = last_nodes(nodes, grid)
    before, behind = np.maximum(last, 0), np.minimum(np.maximum(last, 0) + 1, nodes.shape[1] - 1)
    samples = times_of(grid)
    begin, end = (np.take_along_axis(nodes, index, axis=1) for index in (before, behind))
    tolerance = 1e-9 * grid.spacing[2]
    fraction = (samples - begin) / np.where(end > begin, end - begin, 1.0)
    inside = (last >= 0) & (samples <= nodes[:, -1:] + tolerance)
    return np.where(inside, before + np.clip(fraction, 0.0, 1.0) * (end > begin), np.nan)


def interpolated(columns: NDArray[Any], positions: Floats) -> Floats:
    """Columns (n, nt) at positions (n, nz), in samples, by the windowed sinc; 0 where a position is NaN."""
    outside = np.isnan(positions)
    place = np.where(outside, 0.0, positions)
    first = np.floor(place)
    fraction = np.rint((place - first) * FRACTIONS).astype(np.int64)
    first = first.astype(np.int64) - (TAPS // 2 - 1)
    weights, count = _weights(), columns.shape[1]
    total = np.zeros(positions.shape)
    for tap in range(TAPS):
        index = first + tap
        values = np.take_along_axis(columns, np.clip(index, 0, count - 1), axis=1)
        total += np.where((index >= 0) & (index < count), weights[tap][fraction] * values, 0.0)
    total[outside] = 0.0
    return total


@lru_cache(maxsize=1)
def _weights() -> Floats:
    """Weights (TAPS, FRACTIONS + 1) of the samples around each fraction of a sample; their sum is 1."""
    away = np.arange(FRACTIONS + 1) / FRACTIONS - (np.arange(TAPS)[:, None] - (TAPS // 2 - 1))
    window = np.i0(BETA * np.sqrt(np.clip(1.0 - (away / (TAPS / 2)) ** 2, 0.0, None)))
    weights = np.sinc(away) * window
    return np.asarray(weights / weights.sum(axis=0))


def step_of(most: float) -> float:
    """The largest round number not above: 1, 2, 2.5 or 5 times a power of 10.

    >>> step_of(3.2)
    2.5
    """
    power = 10.0 ** math.floor(math.log10(most) + 1e-12)
    return next(step * power for step in STEPS if step * power <= most * (1 + 1e-9))


def _in_depth(image: Grid, count: int, step: float, first: float) -> Grid:
    """The grid of an image's columns with other vertical samples, in m."""
    return replace(
        image,
        shape=(*image.shape[:2], count),
        spacing=(*image.spacing[:2], step),
        origin=(*image.origin[:2], first),
        vertical="depth",
    )
