"""What benchmarks measure of the seismic application: see runs/probes.py.

The propagator in homogeneous models, with absorbing boundaries where a run has them; traces resampled; a tiny migration
for what every run costs.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.config.sections import TuningTable
from fathometer.grid.grid import Grid
from fathometer.grid.tiling import Tiling, Tuned
from fathometer.grid.tuning import best_tiling, tune
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.machine_file import Rate
from fathometer.runs.probes import SecondsOf, StepCost
from fathometer.runs.small_runs import ends_of, small_runs
from fathometer.seismic.acoustic.predict import MODEL_ITEM
from fathometer.seismic.elastic.probes import elastic_figures, elastic_step_rates
from fathometer.seismic.kirchhoff.probes import time_migration_figures
from fathometer.seismic.model.extremes import extremes
from fathometer.seismic.traces.dispersion import adjoint_of_inverse, inverse_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous, NoBoundary
from fathometer.seismic.waves.physics import PHYSICS
from fathometer.seismic.waves.points import halo_depth, sinc_points

ITEM_BYTES = 4  # float32
MATERIALS = {"vti": VTI, "isotropic": ISOTROPIC}

# Of the machine file.
SIZES: dict[int, tuple[Index3, ...]] = {
    3: ((40, 40, 40), (96, 96, 96), (200, 200, 200)),
    2: ((100, 1, 100), (500, 1, 400), (2500, 1, 1200)),
}
ORDERS = (4, 8, 12, 16)

SURVEY = """\
[model]
vp = "vp.npy"
spacing = [10.0, 10.0]
[wavelet]
kind = "ricker"
peak_frequency = 10.0
[tuning]
search = "never"
"""
RECORDED = """\
[acquisition]
gathers = "model-1/shots.segy"
"""
SECTION = (300, 190)  # cells: pictures of larger ones take little more memory, those of volumes a little less
RUNS = {  # small ones, by their commands
    "model": """\
[propagation]
duration = 0.2
[acquisition]
sources = {x = 1500.0, z = 20.0}
receivers = {x = [0.0, 2980.0, 20.0], z = 20.0}
""",
    "migrate": RECORDED,
    "migrate-time": f"{RECORDED}[time_migration]\nvelocity = 2000.0\n",
}
# Phases of these that are the work itself.
WORK = (
    *("source propagation", "receiver propagation", "halo exchange", "between time steps", "tuning", "first arrivals"),
    *("history push", "history pop", "migrate", "wait for traces", "exchange traces"),
)
STEPS = 24  # taken at a time: of modelling and of most migrations up to 40, which are little faster
TRACES, TRACE_STEPS = (8, 200), 2000
POINTS = 4000


class HomogeneousStepper:
    """The propagator in a homogeneous model without absorbing boundaries."""

    def __init__(
        self, equation: str, order: int, shape: Index3, ranks: Index3, threads: ThreadCounts, comm: MPI.Intracomm
    ) -> None:
        self._threads = threads
        self._propagator = Homogeneous(
            shape, MATERIALS[equation], NoBoundary(), order, ranks=ranks, comm=comm
        ).propagator
        self._propagator.threads = threads

    def tune(self, time_depth: int, steps: int, say: Callable[[str], None]) -> Tuned:
        """Collective. See Stepper."""
        wanted = TuningTable() if time_depth == 0 else TuningTable(time_depth=time_depth)
        return best_tiling(self._propagator, wanted, steps, self._threads.propagate, say)

    def advance(self, steps: int, tiling: Tiling) -> None:
        """Collective. Take time steps."""
        self._propagator.tiling = tiling
        self._propagator.advance(steps)

    def close(self) -> None:
        """Free the halo exchanges."""
        self._propagator.close()


class SeismicProbes:
    """The propagator, the traces, and a small run."""

    def step_cost(self, equation: str, order: int, shape: Index3, ranks: int) -> StepCost:
        """See Probes."""
        x, y, z = (n + (1 if n == 1 else 2 * order) for n in shape)
        physics = PHYSICS[equation]
        return StepCost(
            physics.flops_per_point(order, shape[1] == 1),
            ITEM_BYTES * physics.fewest_moves,
            halo_depth(order // 2, False),
            {
                "wavefields": ITEM_BYTES * 2 * physics.fields * x * y * z // ranks,
                "model": ITEM_BYTES * 2 * physics.models * x * y * z // ranks,  # and what it is made of
            },
        )

    def stepper(
        self, equation: str, order: int, shape: Index3, ranks: Index3, threads: ThreadCounts, comm: MPI.Intracomm
    ) -> HomogeneousStepper:
        """Collective. See Probes."""
        return HomogeneousStepper(equation, order, shape, ranks, threads, comm)

    def step_rates(self, threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
        """The propagators of all equations and dimensions, with absorbing boundaries and no search for a tiling."""
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
        say("time steps, elastic")
        yield from elastic_step_rates(threads, STEPS, seconds_of)

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Traces, checks of a model, weights of points, and what every run costs beside its work."""
        say("traces")
        yield trace_seconds(threads, seconds_of)
        yield {"model_cell_seconds": model_cell_seconds(seconds_of), "point_seconds": point_seconds(seconds_of)}
        yield {"step_seconds": step_seconds(seconds_of)}
        with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
            yield time_migration_figures(Path(name), threads, seconds_of, say)
            say("small runs")
            yield run_figures(Path(name), sorted(binding.cpus), seconds_of)
            say("a small elastic run")
            yield elastic_figures(Path(name), threads, STEPS, binding, seconds_of)


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


def run_figures(folder: Path, cpus: Sequence[int], seconds_of: SecondsOf) -> dict[str, Any]:
    """What every run costs beside its work, of each command, on one rank and on two; nothing where a run fails."""
    np.save(folder / "vp.npy", np.full(SECTION, 2000.0, np.float32))
    for command, text in RUNS.items():
        (folder / f"{command}.toml").write_text(SURVEY + text, encoding="utf-8")
    found = []
    for command in RUNS:
        for ranks in (1, 2)[: len(cpus)]:
            words = [command, f"{command}.toml", "--set", f"output.directory={command}-{ranks}"]
            place = f"{command}-{ranks}/" + "time/" * (command == "migrate-time")
            records = small_runs(folder, cpus, ranks, words, f"{place}run.json", seconds_of)
            if not records:
                return {}
            arrays = max(_array_bytes(command, record) for record in records)
            found.append(ends_of(command, records, WORK, arrays, None if command == "model" else 0.0))
    of_migration = next(ends for ends in found if ends.command == "migrate")
    return {
        "runs": tuple(ends.model_dump() for ends in found),
        "start_seconds": of_migration.start_seconds,
        "finish_seconds": of_migration.finish_seconds,
        "process_bytes": next(ends.process_bytes for ends in found if ends.command == "model"),
    }


def _array_bytes(command: str, record: Mapping[str, Any]) -> float:
    """Of a rank of a small run: of a time migration next to none, since what it counts on is that of whole batches of
    traces and of the largest filter banks."""
    if command == "migrate-time":
        return 0.0
    history = record["results"].get("history") or {}
    page = MODEL_ITEM * math.prod(SECTION) if command == "model" else 0
    return float(record["results"]["predicted_memory_bytes"] + history.get("predicted_memory_bytes", 0) + page)
