"""Time migration driven by its operator alone, for tests against analytic traces; numbers in m and s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.operator import OperatorSettings, TileOperator, segments, summed_of
from fathometer.seismic.kirchhoff.series import SeriesFilter
from fathometer.seismic.survey.time_migration import TimeMigrationTable

FEW = 1000  # traces at a time


@dataclass(frozen=True)
class Experiment:
    """An image grid, its velocities, and traces of an interval and number of samples, the first at time 0.

    shape, spacing, origin: (x, y, t0). eta: None, a number. keys: [time_migration].
    """

    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]
    velocity: float
    eta: float | None
    interval: float
    samples: int
    keys: dict[str, Any]

    @property
    def grid(self) -> Grid:
        return Grid(self.shape, self.spacing, self.origin, vertical="time")

    @property
    def series(self) -> SeriesFilter:
        summed = summed_of(TimeMigrationTable(**self.keys), self.grid)
        return SeriesFilter(self.interval, self.samples, summed)

    @property
    def operator(self) -> TileOperator:
        eta = None if self.eta is None else np.full(self.shape, self.eta, np.float32)
        settings = OperatorSettings.of(TimeMigrationTable(**self.keys), self.grid)
        velocity = np.full(self.shape, self.velocity, np.float32)
        return TileOperator(settings, self.grid, (0, 0), velocity, eta, self.series, 0.0)

    @property
    def times(self) -> np.ndarray:
        """Of the traces' samples."""
        return self.interval * np.arange(self.samples)

    @property
    def t0(self) -> np.ndarray:
        """Of the image's samples."""
        return self.origin[2] + self.spacing[2] * np.arange(self.shape[2])

    def image(self, traces: np.ndarray, geometry: np.ndarray, volumes: np.ndarray | None = None) -> np.ndarray:
        """Images (volumes, nx, ny, nt) of traces (n, samples). geometry: (n, 4), x and y of source and receiver."""
        return self.image_of_fine(self.series(traces), geometry, volumes)

    def image_of_fine(
        self, fine: np.ndarray, geometry: np.ndarray, volumes: np.ndarray | None = None, plainly: bool = False
    ) -> np.ndarray:
        """The same of traces that are filtered already; one of them: all are like it."""
        count = len(geometry)
        volumes = np.zeros(count, np.int32) if volumes is None else np.asarray(volumes, np.int32)
        nx, ny, nt = self.shape
        sums = np.zeros((int(volumes.max()) + 1, nx, ny, segments(nt)), np.float32)
        operator = self.operator
        for begin in range(0, count, FEW):
            some = slice(begin, begin + FEW)
            part = np.ascontiguousarray(five(geometry[some]))
            mine = np.repeat(fine, len(part), axis=0) if len(fine) == 1 else fine[some]
            operator.migrate(np.ascontiguousarray(mine, np.float32), part, volumes[some], sums, None, plainly)
        return sums[..., :nt]

    def demigrated(self, image: np.ndarray, geometry: np.ndarray) -> np.ndarray:
        """Traces (n, samples) that an image (nx, ny, nt) makes."""
        nx, ny, nt = self.shape
        whole = np.zeros((1, nx, ny, segments(nt)), np.float32)
        whole[0, :, :, :nt] = image
        return self.operator.demigrate(whole, five(geometry), np.zeros(len(geometry), np.int32))


def five(geometry: np.ndarray) -> np.ndarray:
    """Places (n, 4) and no time to be added."""
    return np.ascontiguousarray(np.column_stack([geometry, np.zeros(len(geometry))]))


def pairs(middles_x: Any, middles_y: Any, offset: float) -> np.ndarray:
    """Sources and receivers (n, 4) about midpoints, the offset along x."""
    x, y = (one.ravel() for one in np.meshgrid(middles_x, middles_y, indexing="ij"))
    return np.column_stack([x - offset / 2, y, x + offset / 2, y])


def legs(geometry: np.ndarray, point: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Distances of sources and receivers from a point (x, y, z), m."""
    x, y, z = point
    return tuple(np.sqrt((geometry[:, a] - x) ** 2 + (geometry[:, a + 1] - y) ** 2 + z**2) for a in (0, 2))


def peak(values: np.ndarray) -> tuple[float, float]:
    """Place, in samples, and height of the largest value, by a parabola through it and its neighbours."""
    k = int(np.argmax(values))
    before, at, after = (float(values[n]) for n in (k - 1, k, k + 1))
    part = 0.5 * (before - after) / (before - 2 * at + after)
    return k + part, at - 0.25 * (before - after) * part


def decibels(ratio: float) -> float:
    return float(20 * np.log10(ratio))
