"""What benchmarks of a machine measure of elastic waves: time steps, setting up, a small run as users start it."""

from __future__ import annotations

import itertools
import math
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.config.sections import TuningTable
from fathometer.grid.grid import Grid
from fathometer.grid.tuning import tune
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.elastic_rates import ElasticRates
from fathometer.plan.machine_file import Rate
from fathometer.runs.probes import SecondsOf
from fathometer.runs.small_runs import ends_of, small_runs
from fathometer.seismic.cut_work import MakeWave
from fathometer.seismic.elastic.fields import REACH
from fathometer.seismic.elastic.homogeneous import EQUATIONS, homogeneous
from fathometer.seismic.elastic.layers import cells_in_layers
from fathometer.seismic.elastic.peak_map import write_peaks
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.receivers import receiver_points
from fathometer.seismic.elastic.setup import prepare_elastic
from fathometer.seismic.survey import survey_of
from fathometer.seismic.waves.boundary import MultiaxialPml

# Of the machine file: cells, in rows of whole cache lines; few sizes, since a calibration is to be short.
SIZES: dict[int, tuple[Index3, ...]] = {3: ((48, 48, 48), (96, 96, 96)), 2: ((120, 1, 128), (1000, 1, 800))}
LAYERED: dict[int, Index3] = {3: (80, 80, 80), 2: (400, 1, 400)}
ROWS: tuple[Index3, Index3] = (96, 96, 48), (96, 96, 96)  # short and long rows: too many for the nearer caches
MOST_ROW_WORK = 500.0  # in cells: what noise may make of it
SMALL, LARGE = (16, 16, 16), (60, 60, 60)  # cells of the model of small runs
STEPS = 24  # taken at a time
STEPPING = ("source propagation", "between time steps", "tuning")
LOSSY = {"qp": 50.0, "qs": 25.0}

SURVEY = """\
[model]
vp = "vp.npy"
vs = 1500.0
density = 2200.0
spacing = [10.0, 10.0, 10.0]
[acquisition]
sources = {x = 70.0, y = 70.0, z = 70.0}
receivers = {x = [20.0, 120.0, 20.0], y = 70.0, z = 0.0}
[source]
kind = "explosion"
[wavelet]
kind = "ricker"
peak_frequency = 10.0
[propagation]
physics = "elastic"
top = "free-surface"
duration = 0.2
[output]
directory = "out"
"""


def step_rates(threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
    """Time steps in both dimensions, with and without attenuation, without absorbing layers and without a search."""
    say("time steps, elastic")
    for (equation, relaxing), (dimensions, shapes) in itertools.product(EQUATIONS.items(), SIZES.items()):
        for shape in shapes:
            points = float(math.prod(shape))
            once = _step_seconds(shape, 0, True, threads, STEPS, seconds_of, relaxing)
            yield Rate(
                physics=equation,
                dimensions=3 if dimensions == 3 else 2,
                order=2 * REACH,
                points=points,
                points_per_second=STEPS * points / once,
            )


def shared_waves() -> dict[str, MakeWave]:
    """Of the equation without attenuation."""

    def make(shape: Index3, ranks: Index3, comm: MPI.Intracomm) -> ElasticPropagator:
        return homogeneous(shape, MultiaxialPml().width, False, False, ranks=ranks, comm=comm)

    return {"elastic": make}


def layer_work(dimensions: int, threads: ThreadCounts, steps: int, seconds_of: SecondsOf) -> float:
    """What a layer adds to the steps of a cell in it, in steps of a cell without."""
    shape, width = LAYERED[dimensions], MultiaxialPml().width
    times = [_step_seconds(shape, cells, False, threads, steps, seconds_of) for cells in (0, width)]
    alone = Decomposition(shape)
    return max(0.0, times[1] / times[0] - 1) * math.prod(shape) / cells_in_layers(alone, shape, width, False)


def row_work(threads: ThreadCounts, steps: int, seconds_of: SecondsOf) -> float:
    """What a row along z costs beside its cells, in steps of a cell."""
    short, long = (_step_seconds(shape, 0, True, threads, steps, seconds_of) for shape in ROWS)
    fewer, more = (shape[2] for shape in ROWS)
    if long <= short:  # noise, which says nothing
        return 0.0
    # From seconds = rows (work + cells of a row).
    return min(max(0.0, (short * more - long * fewer) / (long - short)), MOST_ROW_WORK)


def _step_seconds(
    shape: Index3,
    width: int,
    free_surface: bool,
    threads: ThreadCounts,
    steps: int,
    seconds_of: SecondsOf,
    relaxing: bool = False,
) -> float:
    """Of some steps, without a search, recorded by a receiver between points of its field, as in runs."""
    wave = homogeneous(shape, width, free_surface, relaxing, off_grid=True)
    wave.threads = threads
    tune(wave, TuningTable(search="never"), steps, 1, threads.propagate, lambda line: None)
    place = np.array([[n // 2 * h for n, h in zip(shape, wave.grid.spacing, strict=True)]])
    receivers = wave.samplers(receiver_points(wave.grid, place, ("vx",), free_surface))
    recorded = np.empty((steps, 1), wave.scheme.dtype)
    seconds = seconds_of(lambda: wave.advance(steps, receivers=receivers, recorded=recorded), 2)
    wave.close()
    return seconds


def machine_figures(
    folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """What an elastic run costs beside its time steps; nothing where the small run fails."""
    say("a small elastic run")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".elastic-") as name:
        here = Path(name)
        np.save(here / "vp.npy", np.full(SMALL, 3000.0, np.float32))
        (here / "run.toml").write_text(SURVEY, encoding="utf-8")
        records = small_runs(here, binding.cpus, 1, ["model", "run.toml"], "out/run.json", seconds_of)
        if not records:
            return
        peaks = np.random.default_rng(1).random((2, *LARGE[:2])).astype(np.float32)
        draw = seconds_of(lambda: write_peaks(Grid(LARGE, (10.0,) * 3), peaks, here, "map", "A map"), 1)
        checks, medium = _cell_seconds(here, {})
        _, lossy = _cell_seconds(here, LOSSY)
    rates = ElasticRates(
        **_ends(records),
        model_cell_seconds=checks,
        medium_cell_seconds=medium,
        relaxation_cell_seconds=max(0.0, lossy - medium),
        layer_work_3d=layer_work(3, threads, STEPS, seconds_of),
        layer_work_2d=layer_work(2, threads, STEPS, seconds_of),
        row_work_3d=row_work(threads, STEPS, seconds_of),
        map_seconds=draw,
    )
    yield {"elastic": rates.model_dump()}


def _cell_seconds(folder: Path, lossy: Mapping[str, float]) -> tuple[float, float]:
    """Seconds for a cell, from two models: of checking the model, of making medium and fields."""
    small, large = (_set_up_seconds(folder, shape, lossy) for shape in (SMALL, LARGE))
    points = large[0] - small[0]
    return max(0.0, (large[1] - small[1]) / points), max(0.0, (large[2] - small[2]) / points)


def _set_up_seconds(folder: Path, shape: Index3, lossy: Mapping[str, float]) -> tuple[int, float, float]:
    """Cells of the grid; seconds of checking a model, and of making medium and fields."""
    np.save(folder / "vp.npy", np.full(shape, 3000.0, np.float32))
    values = tomllib.loads(SURVEY)
    values["model"] |= lossy
    with ledger.Ledger() as account, ledger.phase("set up"):
        setup = prepare_elastic(survey_of(values, folder / "run.toml"), MPI.COMM_SELF)
        wave = setup.propagator()
        wave.reset()
        wave.close()
    return math.prod(setup.grid.full_shape), account.seconds("read model"), account.seconds("set up")


def _ends(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What surrounds the steps of a run."""
    arrays = records[0]["results"]["predicted_memory_bytes"]
    ends = ends_of("model", records, STEPPING, arrays, arrays)
    return {
        "start_seconds": ends.start_seconds,
        "setup_seconds": ends.setup_seconds,
        "finish_seconds": ends.finish_seconds,
        "finish_bytes": ends.finish_bytes,
    }
