"""What benchmarks of a machine measure of acoustic waves: time steps, traces, checks of a model, weights of points.

Time steps are those of homogeneous models, with absorbing boundaries and no search for a tiling.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.config.sections import TuningTable
from fathometer.grid.grid import Grid
from fathometer.grid.tuning import tune
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.machine_file import Rate
from fathometer.runs.probes import SecondsOf
from fathometer.seismic.cut_work import MakeWave
from fathometer.seismic.model.extremes import extremes
from fathometer.seismic.traces.dispersion import adjoint_of_inverse, inverse_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous, Material
from fathometer.seismic.waves.points import sinc_points
from fathometer.seismic.waves.propagator import Propagator

MATERIALS = {"vti": VTI, "isotropic": ISOTROPIC}

# Of the machine file.
SIZES: dict[int, tuple[Index3, ...]] = {
    3: ((40, 40, 40), (96, 96, 96), (200, 200, 200)),
    2: ((100, 1, 100), (500, 1, 400), (2500, 1, 1200)),
}
ORDERS = (4, 8, 12, 16)

STEPS = 24  # taken at a time: of modelling and of most migrations up to 40, which are little faster
TRACES, TRACE_STEPS = (8, 200), 2000
POINTS = 4000


def step_rates(threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
    """The propagators of all equations and dimensions."""
    for equation, material in MATERIALS.items():
        for dimensions, shapes in SIZES.items():
            say(f"time steps, {material.name}, {dimensions}D")
            for shape, order in itertools.product(shapes, ORDERS):
                medium = Homogeneous(shape, material, Pml(), order)
                wave = medium.propagator
                wave.threads = threads
                tune(wave, TuningTable(search="never"), STEPS, 1, threads.propagate, lambda line: None)
                points = float(np.prod(medium.grid.full_shape))
                seconds = seconds_of(partial(wave.advance, STEPS))
                wave.close()
                yield Rate(
                    physics="isotropic" if equation == "isotropic" else "vti",
                    dimensions=3 if dimensions == 3 else 2,
                    order=order,
                    points=points,
                    points_per_second=STEPS * points / seconds,
                )


def machine_figures(
    folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """Traces, checks of a model, weights of points, and a call for some time steps."""
    say("traces")
    yield trace_seconds(threads, seconds_of)
    yield {"model_cell_seconds": model_cell_seconds(seconds_of), "point_seconds": point_seconds(seconds_of)}
    yield {"step_seconds": step_seconds(seconds_of)}


def shared_waves() -> dict[str, MakeWave]:
    """Of both equations."""

    def make(material: Material, shape: Index3, ranks: Index3, comm: MPI.Intracomm) -> Propagator:
        x, y, z = (n - 2 * Pml().width for n in shape)
        return Homogeneous((x, y, z), material, Pml(), ranks=ranks, comm=comm).propagator

    return {name: partial(make, material) for name, material in MATERIALS.items()}


def trace_seconds(threads: ThreadCounts, seconds_of: SecondsOf) -> dict[str, float]:
    """One core's seconds for the traces of a shot and a time step: a part for the shot, a part for each trace.

    All cores share the traces, as in a run: each gets less than it would alone.
    """
    rng, dt, interval = np.random.default_rng(1), 0.001, 0.004
    seconds = []
    for count in TRACES:
        stepped = rng.standard_normal((count, TRACE_STEPS)).astype(np.float32)
        sampled = rng.standard_normal((count, TRACE_STEPS // 4)).astype(np.float32)

        def model(traces: np.ndarray) -> np.ndarray:
            return resample(inverse_transform(traces, 100), -0.1, dt, 0.0, interval, TRACE_STEPS // 4, 50.0)

        def migrate(traces: np.ndarray) -> np.ndarray:
            return adjoint_of_inverse(resample(traces, 0.0, interval, -0.1, dt, TRACE_STEPS, 50.0), 100)

        both = [
            seconds_of(partial(threads.map_rows, model, stepped)),
            seconds_of(partial(threads.map_rows, migrate, sampled)),
        ]
        seconds.append(sum(both) / 2)
    each = max(0.0, (seconds[1] - seconds[0]) / (TRACES[1] - TRACES[0]))
    return {
        "trace_step_seconds": threads.io * each / TRACE_STEPS,
        "shot_step_seconds": max(0.0, seconds[0] - TRACES[0] * each) / TRACE_STEPS,
    }


def point_seconds(seconds_of: SecondsOf) -> float:
    """Seconds for the weights of one point, on one core."""
    medium = Homogeneous((64, 64, 64), ISOTROPIC, Pml())
    cells = 8 + 40 * np.random.default_rng(1).random((POINTS, 3))
    return seconds_of(lambda: medium.propagator.injectors(sinc_points(cells))) / POINTS


def model_cell_seconds(seconds_of: SecondsOf) -> float:
    """Seconds for a cell of a VTI model that has been read: the checks and extremes, on one core."""
    vp = np.full((40, 100, 100), 2000.0, np.float32)
    epsilon = np.full_like(vp, 0.1)
    grid = Grid(vp.shape, (10.0,) * 3)

    def check() -> None:
        for values in (vp, epsilon, epsilon):
            bool((~np.isfinite(values)).sum() + (~((values >= 0) & (values <= 9000))).sum())
        extremes(vp, epsilon, epsilon, grid, 4, "taylor")

    return seconds_of(check) / vp.size


def step_seconds(seconds_of: SecondsOf) -> float:
    """Seconds of each call for some steps of a grid that costs nothing."""
    medium = Homogeneous((8, 8, 8), VTI, Pml(4), 2)
    return seconds_of(partial(medium.propagator.advance, 1), 50)
