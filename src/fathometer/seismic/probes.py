"""What benchmarks measure of the seismic application: see runs/probes.py.

The propagator in homogeneous models without absorbing boundaries, what each physics says of itself, and tiny runs for
what every run costs.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.config.sections import TuningTable
from fathometer.grid.tiling import Tiling, Tuned, slab_rows
from fathometer.grid.tuning import best_tiling
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.machine_file import CutWork, Rate
from fathometer.runs.probes import SecondsOf, StepCost
from fathometer.runs.small_runs import ends_of, small_runs
from fathometer.seismic.acoustic.card_probes import card_figures
from fathometer.seismic.acoustic.predict import MODEL_ITEM
from fathometer.seismic.acoustic.probes import MATERIALS
from fathometer.seismic.cut_work import cut_works
from fathometer.seismic.physics import PHYSICS as ALL_PHYSICS
from fathometer.seismic.waves.homogeneous import Homogeneous, NoBoundary
from fathometer.seismic.waves.physics import PHYSICS

ITEM_BYTES = 4  # float32

SURVEY = """\
[model]
vp = "vp.npy"
spacing = [10.0, 10.0]
[wavelet]
kind = "ricker"
peak_frequency = 10.0
[tuning]
search = "never"
[parallel]
processor = "cpu"
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
        """Flops and bytes that a step takes for a cell, depth of the halo, memory of a rank."""
        x, y, z = (n + (1 if n == 1 else 2 * order) for n in shape)
        physics = PHYSICS[equation]
        return StepCost(
            physics.flops_per_point(order, shape[1] == 1),
            ITEM_BYTES * physics.fewest_moves,
            order // 2,
            None if shape[1] == 1 else slab_rows(order // 2, physics.stages),
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
        """Of all physics."""
        for physics in ALL_PHYSICS.values():
            yield from physics.probes().step_rates(threads, seconds_of, say)

    def cut_works(
        self,
        pair: MPI.Intracomm,
        threads: ThreadCounts,
        least_of: Callable[[Sequence[float]], float],
        say: Callable[[str], None],
    ) -> Iterator[CutWork]:
        """Of all physics."""
        waves = {name: make for of in ALL_PHYSICS.values() for name, make in of.probes().shared_waves().items()}
        return cut_works(waves, pair, threads, least_of, say)

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Of all physics, what every run costs beside its work, and graphics cards."""
        with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
            here = Path(name)
            for physics in ALL_PHYSICS.values():
                yield from physics.probes().machine_figures(here, threads, binding, seconds_of, say)
            say("small runs")
            yield run_figures(here, sorted(binding.cpus), seconds_of)
        yield from card_figures(seconds_of, say)


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
