"""What benchmarks measure of time migration: its sum over traces, the traces, velocities, exact sums of images."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.grid.grid import Grid
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.machine_file import Rate, SumRate
from fathometer.runs.checksum import checksum
from fathometer.runs.exact_sum import LIMBS, add, top_of
from fathometer.runs.probes import SecondsOf
from fathometer.seismic.cut_work import MakeWave
from fathometer.seismic.kirchhoff.operator import EVERYWHERE, VERTICAL, OperatorSettings, TileOperator, nodes, segments
from fathometer.seismic.kirchhoff.series import FINER, SeriesFilter
from fathometer.seismic.kirchhoff.velocities.velocities import velocities_of
from fathometer.seismic.survey import survey_of

INTERVAL, SPACING = 0.004, 20.0  # s, m
NOWHERE = 1e-3  # m, an aperture that leaves all columns out
FLAT = 1e-9  # a tangent that leaves all dips out
OFFSETS = 1000.0  # m, largest distance of source and receiver along each axis
ETA = 0.05


@dataclass(frozen=True)
class Sizes:
    """Of what is measured: columns along x and y of 3D images (2D: as many along x), samples, traces; values added."""

    columns: int = 32  # fewer are computed from nearer caches than those of images, and at other rates
    samples: int = 400
    traces: int = 128
    values: int = 1 << 20
    model: tuple[int, int, int] = (24, 24, 100)


SIZES = Sizes()  # of the machine file


@dataclass
class SumCase:
    """A sum over traces on a tile, without files: midpoints over the tile, offsets in all directions.

    Attributes:
        counts: columns of the tile, traces, nodes of a column, values of the filter bank of a trace.
    """

    dimensions: int
    eta: bool
    sizes: Sizes
    operator: TileOperator = field(init=False)

    def __post_init__(self) -> None:
        n, nt = self.sizes.columns, self.sizes.samples
        shape = (n, n, nt) if self.dimensions == 3 else (n * n, 1, nt)
        self.grid = Grid(shape, (SPACING, SPACING, INTERVAL), (0.0, 0.0, 0.0), vertical="time")
        self.series = SeriesFilter(INTERVAL, nt, "points" if self.dimensions == 2 else "space")
        rng = np.random.default_rng(1)
        count, extent = self.sizes.traces, SPACING * np.array(shape[:2])
        middle = rng.uniform(-0.5, 1.5, (count, 2)) * extent
        half = 0.5 * rng.uniform(-OFFSETS, OFFSETS, (count, 2))
        self.geometry = np.zeros((count, 5))
        self.geometry[:, :2], self.geometry[:, 2:4] = middle - half, middle + half
        if self.dimensions == 2:
            self.geometry[:, [1, 3]] = 0.0
        self.fine = rng.standard_normal((count, FINER * nt)).astype(np.float32)
        self.volume = np.zeros(count, np.int32)
        self.image = np.zeros((1, *shape[:2], segments(nt)), np.float32)
        self.fold = np.zeros((*shape[:2], nodes(nt)), np.float32)
        velocity = np.broadcast_to(np.linspace(1500, 3500, nt, dtype=np.float32), shape)
        eta = np.full(shape, ETA, np.float32) if self.eta else None
        settings = OperatorSettings(
            1 if self.dimensions == 3 else 2,
            1.0,
            EVERYWHERE,
            VERTICAL,
            0.1,
            (SPACING, SPACING if self.dimensions == 3 else 0.0),
        )
        self.operator, self._without_dips, self._without_columns = (
            TileOperator(of, self.grid, (0, 0), velocity, eta, self.series, 0.0)
            for of in (settings, replace(settings, tan_dip=FLAT), replace(settings, aperture=NOWHERE))
        )
        rows = _native.bank_row(3.0 * SPACING / 1500 / INTERVAL) + 1
        self.bank = rows * _native.bank_length(rows, FINER * nt, FINER)
        self.pairs = count * shape[0] * shape[1]
        self.nodes = self.pairs * (segments(nt) // _native.KIRCHHOFF_SEGMENT + 1)

    def sum(self, operator: TileOperator | None = None, plainly: bool = False) -> int:
        """Sum all traces once; samples that were computed."""
        operator = operator or self.operator
        return operator.migrate(self.fine, self.geometry, self.volume, self.image, self.fold, plainly)

    def rates(self, seconds_of: SecondsOf) -> tuple[SumRate, float]:
        """Rates of samples and nodes, and seconds for a value of the filter bank, all with the threads in use."""
        samples = self.sum()
        whole, nodes, banks = (
            seconds_of(partial(self.sum, of)) for of in (self.operator, self._without_dips, self._without_columns)
        )
        least = 1e-3 * whole  # noise makes none of them free
        rate = SumRate(
            dimensions=3 if self.dimensions == 3 else 2,
            eta=self.eta,
            samples_per_second=samples / max(whole - nodes, least),
            nodes_per_second=self.nodes / max(nodes - banks, least),
        )
        return rate, banks / (self.sizes.traces * self.bank)


def step_rates(threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
    """There are no time steps."""
    return iter(())


def shared_waves() -> dict[str, MakeWave]:
    """There are no waves that ranks share."""
    return {}


def machine_figures(
    folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """All together; `folder`: where a small model may be written."""
    yield time_migration_figures(folder, threads, seconds_of, say)


def time_migration_figures(
    folder: Path, threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None], sizes: Sizes | None = None
) -> dict[str, Any]:
    """The entries of a machine file for time migrations; `folder`: where a small model may be written."""
    sizes = sizes or SIZES
    say("sums over traces")
    cores = threads.propagate
    found = [
        SumCase(dimensions, eta, sizes).rates(seconds_of)
        for dimensions, eta in itertools.product((3, 2), (False, True))
    ]
    return {
        "trace_sums": tuple(rate for rate, _ in found),
        "bank_seconds": cores * sorted(seconds for _, seconds in found)[len(found) // 2],
        "filter_seconds": filter_seconds(sizes, seconds_of),
        "velocity_seconds": velocity_seconds(folder, sizes, seconds_of),
        "term_seconds": term_seconds(sizes, seconds_of),
    }


def filter_seconds(sizes: Sizes, seconds_of: SecondsOf) -> float:
    """Seconds of the filter for a sample of a trace, on one core."""
    traces = np.random.default_rng(1).standard_normal((sizes.traces, sizes.samples)).astype(np.float32)
    return seconds_of(partial(SeriesFilter(INTERVAL, sizes.samples, "space"), traces)) / traces.size


def velocity_seconds(folder: Path, sizes: Sizes, seconds_of: SecondsOf) -> float:
    """Seconds for a sample of velocity and eta made from a VTI model, on one core."""
    np.save(folder / "model.npy", np.full(sizes.model, 2000.0, np.float32))
    model = {"vp": "model.npy", "spacing": [SPACING] * 3, "epsilon": 0.1, "delta": 0.05}
    values = {"model": model, "acquisition": {"gathers": "none.segy"}, "time_migration": {}}
    survey = survey_of(values, folder / "velocity.toml")
    nx, ny, _ = sizes.model
    grid = Grid((nx, ny, sizes.samples), (SPACING, SPACING, INTERVAL), (0.0, 0.0, 0.0), vertical="time")
    velocities = velocities_of(survey, grid)
    return seconds_of(lambda: velocities.read((0, 0), (nx, ny))) / (nx * ny * sizes.samples)


def term_seconds(sizes: Sizes, seconds_of: SecondsOf) -> float:
    """Seconds to check and add a value exactly, on one core."""
    values: npt.NDArray[np.float32] = np.random.default_rng(1).standard_normal((1, 1, sizes.values)).astype(np.float32)
    limbs, top = np.zeros((LIMBS, *values.shape), np.int64), top_of(8.0)

    def term() -> None:
        checksum(values, values.shape, (0, 0, 0))
        add(limbs, top, values)

    return seconds_of(term) / values.size
