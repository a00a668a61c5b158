"""How many samples the sum over traces computes: told from geometry and velocities of some traces and columns.

The kernel leaves out traces beyond the aperture of a column, and of a column the times before the first whose dip is
allowed; weights are evaluated at the nodes of all segments (native/kirchhoff/nodes.hpp). The same is done here for
traces and columns at regular distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import split
from fathometer.seismic.kirchhoff.operator import SLOPES, OperatorSettings, segments
from fathometer.seismic.kirchhoff.series import FINER
from fathometer.seismic.kirchhoff.time_layout import TimeLayout, tiles
from fathometer.seismic.shots.shot import Shot

BLOCKS = 12  # that are looked at
TRACES = 192  # of a block
COLUMNS = 24  # along each axis of a block's window; 2D: their square root times as many more
VELOCITIES = 8  # columns along each axis of the image whose velocities are read; 2D: as many as COLUMNS
PAIRS = 6000  # of a trace and a column within its aperture, of a block, that are followed through time
LEAST = 1e-12  # s²: no time is 0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledVelocities:
    """Velocities at the nodes of the kernel in some columns of the image.

    Attributes:
        x, y: indices of the columns. slowness2, eta: (x, y, nodes), s²/m². lowest: m/s, of what was read. origin: in
            words.
    """

    x: npt.NDArray[np.int64]
    y: npt.NDArray[np.int64]
    slowness2: Floats
    eta: Floats
    lowest: float
    highest: float
    origin: str

    def near(self, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Of the nearest column of those that were read: (n, nodes) each."""
        i = np.abs(self.x[None] - x[:, None]).argmin(axis=1)
        j = np.abs(self.y[None] - y[:, None]).argmin(axis=1)
        return self.slowness2[i, j], self.eta[i, j]


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """What a block of traces computes.

    Attributes:
        shape: columns of its window along x and y. traces: that belong to an image. stands_for: blocks of the survey.
        x, y: of the columns that were looked at, indices in the window; each stands for columns / their number.
        pairs, samples: (x, y) of each column there: traces within its aperture, and samples that they compute.
    """

    shape: tuple[int, int]
    traces: int
    stands_for: float
    x: npt.NDArray[np.int64]
    y: npt.NDArray[np.int64]
    pairs: Floats
    samples: Floats

    @property
    def columns(self) -> int:
        """Of the window."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def totals(self) -> tuple[float, float]:
        """Pairs and samples of the whole window."""
        scale = self.columns / self.pairs.size
        return scale * float(self.pairs.sum()), scale * float(self.samples.sum())

    def imbalance(self, ranks: int) -> float:
        """Samples of the rank that has most, of so many that share the window, over their mean.

        Of ranks with fewer columns here than tell anything the shares of larger tiles are taken.
        """
        if ranks == 1 or not self.samples.sum():
            return 1.0
        px, py, _ = tiles((*self.shape, 1), ranks)
        of_axis = []
        for places, parts, count in ((self.x, px, self.shape[0]), (self.y, py, self.shape[1])):
            told = min(parts, max(1, len(places) // 4))
            ends = np.array([split(count, told, part)[1] for part in range(told)])
            of_axis.append((np.searchsorted(ends, places, side="right"), told))
        (i, along_x), (j, along_y) = of_axis
        work, seen = np.zeros((along_x, along_y)), np.zeros((along_x, along_y))
        np.add.at(work, np.ix_(i, j), self.samples)
        np.add.at(seen, np.ix_(i, j), 1.0)
        of_a_column = work / np.maximum(seen, 1.0)
        most = math.ceil(self.shape[0] / px) * math.ceil(self.shape[1] / py)
        return float(of_a_column.max() / self.samples.mean()) * most * ranks / self.columns


@dataclass(frozen=True, eq=False)
class Counts:
    """What a time migration computes and moves, by whatever ranks.

    Attributes:
        blocks: those that were looked at. bank_rows, bank_length: of the filter bank of a trace.
    """

    blocks: tuple[BlockCounts, ...]
    bank_rows: int
    bank_length: int
    segments: int

    @cached_property
    def traces(self) -> float:
        return sum(block.stands_for * block.traces for block in self.blocks)

    @cached_property
    def columns(self) -> float:
        """Of the windows of all blocks together."""
        return sum(block.stands_for * block.columns for block in self.blocks)

    @cached_property
    def samples(self) -> float:
        """That all blocks compute."""
        return sum(block.stands_for * block.totals[1] for block in self.blocks)

    @cached_property
    def nodes(self) -> float:
        """At which weights are evaluated."""
        return (self.segments + 1) * sum(block.stands_for * block.totals[0] for block in self.blocks)

    def imbalance(self, ranks: int) -> float:
        """Of all blocks, weighted by their samples."""
        if not self.samples:
            return 1.0
        of_all = sum(block.stands_for * block.totals[1] * block.imbalance(ranks) for block in self.blocks)
        return of_all / self.samples


def sampled_velocities(layout: TimeLayout, given: tuple[float, float] | None) -> SampledVelocities:
    """Velocities of some columns; given: lowest and highest, m/s, in place of what the survey names.

    Raises InputError for values that are missing or refused.
    """
    nx, ny, nt = layout.grid.shape
    node = np.minimum(np.arange(segments(nt) // _native.KIRCHHOFF_SEGMENT + 1) * _native.KIRCHHOFF_SEGMENT, nt - 1)
    if given is not None:
        rms = np.linspace(*given, nt)[node].reshape(1, 1, -1)
        origin = f"assumed from {given[0]:g} to {given[1]:g} m/s"
        zero = np.zeros(1, np.int64)
        return SampledVelocities(zero, zero, 1 / rms**2, np.zeros_like(rms), *given, origin)
    along = COLUMNS if ny == 1 else VELOCITIES
    x, y = _spread(nx, along), _spread(ny, along)
    slowness2, eta = np.empty((len(x), len(y), len(node))), np.zeros((len(x), len(y), len(node)))
    for i, a in enumerate(x.tolist()):
        for j, b in enumerate(y.tolist()):
            try:
                block = layout.velocities.read((a, b), (a + 1, b + 1))
            except InputError as error:
                raise InputError(
                    f"{error}; a plan needs some columns of the velocities, or --velocities LOWEST,HIGHEST"
                ) from None
            slowness2[i, j] = 1 / np.square(block.rms[0, 0, node], dtype=np.float64)
            if block.eta is not None:
                eta[i, j] = block.eta[0, 0, node]
    lowest, highest = (float(1 / math.sqrt(of)) for of in (slowness2.max(), slowness2.min()))
    origin = f"{lowest:.4g} to {highest:.4g} m/s in {len(x) * len(y)} columns"
    return SampledVelocities(x, y, slowness2, eta, lowest, highest, origin)


def counts_of(layout: TimeLayout, velocities: SampledVelocities) -> Counts:
    """What a time migration computes, from some of its blocks, traces and columns."""
    blocks = layout.blocks
    chosen = _spread(len(blocks), BLOCKS).tolist()
    stands_for = len(blocks) / len(chosen)
    settings, series = layout.settings, layout.series
    longest = SLOPES * max(settings.alias) / velocities.lowest / series.interval
    rows = _native.bank_row(longest) + 1 if longest > 0 else 1
    return Counts(
        tuple(_block_counts(layout, blocks[number], stands_for, velocities) for number in chosen),
        rows,
        _native.bank_length(rows, FINER * series.samples, FINER),
        segments(layout.grid.shape[2]) // _native.KIRCHHOFF_SEGMENT,
    )


def _spread(count: int, most: int) -> npt.NDArray[np.int64]:
    """At most so many of the numbers 0 to count - 1, at equal distances, in the middle of what each stands for."""
    number = min(count, most)
    return ((np.arange(number) + 0.5) * count / number).astype(np.int64)


def _block_counts(
    layout: TimeLayout, shots: Sequence[Shot], stands_for: float, velocities: SampledVelocities
) -> BlockCounts:
    (x0, y0), (x1, y1) = layout.window(shots)
    shape = x1 - x0, y1 - y0
    along = COLUMNS**2 // 4 if shape[1] == 1 else COLUMNS
    x, y = _spread(shape[0], along), _spread(shape[1], along)
    geometry, traces = _some_traces(layout, shots)
    pairs, samples = _columns(layout.grid, layout.settings, geometry, x + x0, y + y0, velocities)
    each = traces / max(1, len(geometry))
    return BlockCounts(shape, traces, stands_for, x, y, each * pairs, each * samples)


def _some_traces(layout: TimeLayout, shots: Sequence[Shot]) -> tuple[Floats, int]:
    """Geometry (n, 5) of some of the block's traces that belong to an image, and how many do."""
    used = [np.flatnonzero(layout.images(shot) >= 0) for shot in shots]
    ends = np.cumsum([len(own) for own in used])
    total = int(ends[-1]) if len(ends) else 0
    places = _spread(total, TRACES)
    of_shot = np.searchsorted(ends, places, side="right")
    parts = []
    for number in np.unique(of_shot).tolist():
        first = int(ends[number]) - len(used[number])
        parts.append(layout.geometry(shots[number], used[number][places[of_shot == number] - first]))
    return (np.concatenate(parts) if parts else np.empty((0, 5))), total


def _columns(
    grid: Grid,
    settings: OperatorSettings,
    geometry: Floats,
    x: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    velocities: SampledVelocities,
) -> tuple[Floats, Floats]:
    """Of the columns (x, y) of the image: traces within the aperture, and samples that these compute, (x, y) each."""
    ix, iy = (axis.reshape(-1) for axis in np.meshgrid(x, y, indexing="ij"))
    px: Floats = np.asarray(grid.origin[0] + ix * grid.spacing[0])
    py: Floats = np.asarray(grid.origin[1] + iy * grid.spacing[1])
    mx, my = 0.5 * (geometry[:, 0] + geometry[:, 2]), 0.5 * (geometry[:, 1] + geometry[:, 3])
    near = np.hypot(px[:, None] - mx, py[:, None] - my) < settings.aperture
    column, trace = np.nonzero(near)
    chosen = _spread(len(column), PAIRS)
    column, trace = column[chosen], trace[chosen]
    u, eta = velocities.near(ix[column], iy[column])
    of_pair = _samples(grid, settings, geometry[trace], px[column], py[column], u, eta)
    total, seen = (np.bincount(column, weights, len(ix)) for weights in (of_pair, None))
    mean = of_pair.mean() if len(of_pair) else 0.0
    pairs = near.sum(axis=1).astype(np.float64)
    samples = pairs * np.where(seen > 0, total / np.maximum(seen, 1), mean)
    shape = len(x), len(y)
    return pairs.reshape(shape), samples.reshape(shape)


def _samples(
    grid: Grid, settings: OperatorSettings, geometry: Floats, x: Floats, y: Floats, u: Floats, eta: Floats
) -> Floats:
    """Samples that traces compute in columns at (x, y), each one in one: (n,). u, eta: (n, nodes) of these columns."""
    nodes = u.shape[1]
    half = 0.5 * (grid.origin[2] + np.arange(nodes) * _native.KIRCHHOFF_SEGMENT * grid.spacing[2])
    legs = [(x - geometry[:, 0], y - geometry[:, 1]), (x - geometry[:, 2], y - geometry[:, 3])]
    inverse = []
    for dx, dy in legs:
        moved = (dx**2 + dy**2)[:, None] * u
        flat, part = half**2 + moved / (1 + 2 * eta), 0.25 / (1 + eta)
        bent = (part * flat) ** 2 + (1 - 4 * part) / (1 + 2 * eta) * half**2 * moved
        square = (1 - part) * flat + np.sqrt(bent)
        inverse.append(1 / np.sqrt(np.maximum(square, LEAST)))
    qx, qy = (legs[0][axis][:, None] * inverse[0] + legs[1][axis][:, None] * inverse[1] for axis in (0, 1))
    tangent = np.sqrt(u * (qx**2 + qy**2)) / (half * (inverse[0] + inverse[1]) + 1e-20)
    weighted = tangent < settings.tan_dip
    if settings.weights:  # they are in proportion to the time
        weighted &= half > 0
    first = np.where(weighted.any(axis=1), np.maximum(weighted.argmax(axis=1) - 1, 0), nodes - 1)
    return np.asarray((nodes - 1 - first) * float(_native.KIRCHHOFF_SEGMENT))
