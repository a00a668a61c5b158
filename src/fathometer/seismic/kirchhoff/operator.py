"""The operator of time migration on a tile of an image (native/kirchhoff/): the sum over traces, and its transpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.series import FINER, SeriesFilter, Summed
from fathometer.seismic.survey.time_migration import TimeMigrationTable

WORKSPACE_BYTES = 1 << 26  # of the filter banks of some traces
EVERYWHERE = 1e9  # m, an aperture that leaves nothing out
VERTICAL = 1e18  # a tangent that leaves no dip out
WEIGHTS: dict[Summed, int] = {"space": 1, "points": 2, "lines": 3}  # native/kirchhoff/operator.hpp
SLOPES = 3.25  # above the largest slope of the operator times the velocity: 1 for each leg, 1.6 at eta = -0.3

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class OperatorSettings:
    """What of the survey the operator needs.

    Attributes:
        weights: number of the native weights. scale: of all weights. aperture: m. tan_dip: tangent of the steepest dip.
        taper: fraction of both. alias: distance of traces along x and y, m; 0: no anti-alias filter.
    """

    weights: int
    scale: float
    aperture: float
    tan_dip: float
    taper: float
    alias: tuple[float, float]

    @classmethod
    def of(cls, keys: TimeMigrationTable, grid: Grid, apart: tuple[float, float] | None = None) -> OperatorSettings:
        """The settings of a survey for an image on `grid`. apart: of traces along x and y, m; None: as the places.

        The weights' constants: 1/4π in 3D and of line sources, √2π/4π of points in 2D (docs/theory.md)."""
        flat = grid.two_dimensional
        summed = summed_of(keys, grid)
        weights, scale = WEIGHTS[summed], 1 / (4 * math.pi)
        if summed == "points":
            scale *= math.sqrt(2 * math.pi)
        if keys.weights == "none":
            weights, scale = 0, 1.0
        spacing = keys.alias_spacing or apart or grid.spacing[: 1 if flat else 2]
        alias = (spacing[0], 0.0 if flat else spacing[-1]) if keys.anti_alias == "triangle" else (0.0, 0.0)
        return cls(
            weights,
            scale,
            EVERYWHERE if keys.aperture is None else keys.aperture,
            VERTICAL if keys.dip == 90 else math.tan(math.radians(keys.dip)),
            keys.taper,
            alias,
        )


def summed_of(keys: TimeMigrationTable, grid: Grid) -> Summed:
    """What the sum for an image on `grid` is over."""
    if not grid.two_dimensional:
        return "space"
    return "points" if keys.sources == "point" else "lines"


def segments(samples: int) -> int:
    """Samples of a column, rounded up to whole segments of the kernel."""
    length: int = _native.KIRCHHOFF_SEGMENT
    return -(-samples // length) * length


def nodes(samples: int) -> int:
    """Nodes of a column of so many samples: the ends of its segments."""
    length: int = _native.KIRCHHOFF_SEGMENT
    return segments(samples) // length + 1


def at_samples(values: Floats, samples: int) -> Floats:
    """Values at nodes (nx, ny, nodes) at all samples of the columns, linear between."""
    length: int = _native.KIRCHHOFF_SEGMENT
    part = np.arange(length, dtype=np.float32) / np.float32(length)
    first, step = values[:, :, :-1, None], np.diff(values, axis=2)[..., None]
    return np.ascontiguousarray((first + part * step).reshape(*values.shape[:2], -1)[:, :, :samples])


def padded(values: Floats) -> Floats:
    """Columns (nx, ny, nt) with whole segments; the last value of each repeats."""
    more = segments(values.shape[2]) - values.shape[2]
    return np.ascontiguousarray(np.pad(values, ((0, 0), (0, 0), (0, more)), mode="edge"), np.float32)


class TileOperator:
    """The operator on the columns of a tile.

    Args:
        grid: of the whole image, vertical="time". first: index (x, y) of the tile's first column. velocity: RMS
            velocity, m/s, (nx, ny, nt) of the tile. eta: effective eta, the same shape; None: 0 everywhere.
        series: the filter of the traces. start: time of their first sample, s.

    Images are float32 (volumes, nx, ny, segments(nt)).
    """

    def __init__(
        self,
        settings: OperatorSettings,
        grid: Grid,
        first: Sequence[int],
        velocity: Floats,
        eta: Floats | None,
        series: SeriesFilter,
        start: float,
    ) -> None:
        self._start, self._series = start, series
        slowest = float(velocity.min())
        longest = SLOPES * max(settings.alias) / slowest / series.interval
        rows = _native.bank_row(longest) + 1 if longest > 0 else 1
        self._operator = _native.TimeOperator(
            slowness2=(1.0 / np.square(padded(velocity))).astype(np.float32),
            eta=None if eta is None else padded(eta),
            first=[int(n) for n in first],
            origin=list(grid.origin),
            spacing=list(grid.spacing),
            weights=settings.weights,
            scale=settings.scale,
            aperture=settings.aperture,
            tan_dip=settings.tan_dip,
            taper=settings.taper,
            alias=list(settings.alias),
            rows=rows,
            unit=FINER,
        )
        bank = rows * _native.bank_length(rows, FINER * series.samples, FINER)
        self._workspace = np.empty(max(bank, WORKSPACE_BYTES // 4 // bank * bank), np.float32)

    def migrate(
        self,
        fine: Floats,
        geometry: npt.NDArray[np.float64],
        volume: npt.NDArray[np.int32],
        image: npt.NDArray[np.float32],
        fold: npt.NDArray[np.float32] | None = None,
        plainly: bool = False,
    ) -> int:
        """image += the sum over filtered traces (n, FINER samples), in their order; the samples that were computed.

        geometry: (n, 5), x and y of source and receiver, m, and a time to add to the operator's, s. volume: (n,), the
        image that each trace belongs to, below 0: none. fold: (nx, ny, nodes(nt)), gets the sum of the tapers at the
        nodes.
        plainly: by the loop that the kernel is measured against.
        """
        done: int = self._operator.migrate(
            traces=fine,
            geometry=geometry,
            volume=volume,
            first=self._start,
            interval=self._series.interval / FINER,
            image=image,
            fold=fold,
            workspace=self._workspace,
            plainly=plainly,
        )
        return done

    def demigrate(
        self, image: Floats, geometry: npt.NDArray[np.float64], volume: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float32]:
        """The transpose of the filter and the sum: traces (n, samples) that an image makes."""
        fine = np.zeros((len(geometry), FINER * self._series.samples), np.float32)
        self._operator.demigrate(
            image=image,
            geometry=geometry,
            volume=volume,
            first=self._start,
            interval=self._series.interval / FINER,
            traces=fine,
            workspace=self._workspace,
        )
        return self._series.transposed(fine)
