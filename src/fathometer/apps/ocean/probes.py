"""What benchmarks of a machine measure of oceans: small ones on each core, all at the same time."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from fathometer.apps.ocean.barotropic.block_layout import HALO
from fathometer.apps.ocean.cases import gyre_text
from fathometer.apps.ocean.cost import STATE_DEEP
from fathometer.apps.ocean.solver.memory import model_bytes
from fathometer.launch.copies import run_copies
from fathometer.plan.machine_file import GradientRate, OceanRates
from fathometer.record.ranks import seconds
from fathometer.runs.probes import ProbesWithoutSteps, SecondsOf
from fathometer.runs.small_runs import Record, small_runs

if TYPE_CHECKING:
    from fathometer.parallel.threads import Binding, ThreadCounts

CELLS, STEPS = (48, 32, 8), 20  # of a run as users start it
FEW = 10_000  # columns, of which calls cost more than work
MEASURE = """
from pathlib import Path
from fathometer.launch.begin_mpi import begin_mpi
begin_mpi()
from fathometer.apps.ocean.measure import main
main(Path())
"""
FIRST = ("start-up", "set up", "other")  # phases
LAST = ("draw", "finish", "report")
Times = Mapping[str, Any]  # of measure.py


class OceanProbes(ProbesWithoutSteps):
    """Rates of the two parts of a step, for the machine file."""

    subject = "an ocean"

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Rates of oceans; nothing where the runs fail."""
        say("oceans, small ones on each core")
        with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
            folders = [Path(name) / str(copy) for copy, _ in enumerate(binding.cpus)]
            for own in folders:
                own.mkdir()
                (own / "run.toml").write_text(gyre_text(CELLS, STEPS, "out"), encoding="utf-8")
            cpus = [str(cpu) for cpu in sorted(binding.cpus)]
            # Runs as users start them: of one rank start and end, of a rank on each core messages.
            words = ["ocean", "run.toml", "--threads", "1"]
            if not run_copies(folders, cpus, [sys.executable, "-P", "-c", MEASURE]):
                return
            times = [json.loads((own / "times.json").read_text(encoding="utf-8")) for own in folders]
            alone, together = (
                small_runs(folders[0], binding.cpus, ranks, words, "out/run.json", seconds_of)
                for ranks in (1, len(cpus))
            )
        if alone and together:
            yield {"ocean": rates_of(times, alone, together).model_dump()}


def rates_of(times: Sequence[Times], alone: Sequence[Record], together: Sequence[Record]) -> OceanRates:
    """Rates from what was measured on each core, means over these, and the records of runs: on one rank, and with a
    rank on each core, of which messages are."""
    found = [_rates(one) for one in times]
    gradients = []
    for rows in zip(*(one["gradients"] for one in times), strict=True):
        kind = {name: rows[0][name] for name in ("solver", "preconditioner", "sums", "columns")}
        gradients.append(GradientRate(**kind, seconds=mean(row["seconds"] for row in rows)))
    means = {name: mean(one[name] for one in found) for name in found[0]}
    return OceanRates(gradients=tuple(gradients), **means, **_least(_ends, alone), **_least(_messages, together))


def _rates(times: Times) -> dict[str, float]:
    shallow, deep = times["oceans"]
    # Two oceans of other numbers of levels: cells and columns are two unknowns.
    per_column = [one["baroclinic"] / one["columns"] for one in (shallow, deep)]
    levels = [one["cells"] / one["columns"] for one in (shallow, deep)]
    cell = max(0.0, (per_column[1] - per_column[0]) / (levels[1] - levels[0]))
    numbers = sum(one["stored"] * one["levels"] for one in (shallow, deep))
    took = {
        name: sum(one[name] for one in (shallow, deep)) / numbers for name in ("setup", "look", "fields", "restart")
    }
    return {
        "cell_seconds": cell,
        "column_seconds": max(0.0, per_column[0] - cell * levels[0]),
        "solve_seconds": median(row["rest"] / row["stored"] for row in times["gradients"] if row["columns"] > FEW),
        "setup_seconds": took["setup"],
        "page_seconds": times["page_seconds"],
        "look_seconds": took["look"],
        "field_seconds": took["fields"],
        "restart_seconds": took["restart"] / STATE_DEEP,
        "process_bytes": times["process_bytes"],
    }


def _least(figures: Callable[[Record], dict[str, float]], records: Sequence[Record]) -> dict[str, float]:
    """The least of each figure of some runs."""
    found = [figures(record) for record in records]
    return {name: min(one[name] for one in found) for name in found[0]}


def _ends(record: Record) -> dict[str, float]:
    """What surrounds the steps of a run."""
    ledger, results = record["ledger"], record["results"]
    phases = {name: seconds(ledger, (name,)) for name in {entry["phase"] for entry in ledger["phases"]}}
    nx, ny, nz = results["grid"]["shape"]
    blocks = [(lo, hi) for lo, hi, rank in results["blocks"]["owners"] if rank == 0]
    stored = sum((hi[0] - lo[0] + 2 * HALO) * (hi[1] - lo[1] + 2 * HALO) for lo, hi in blocks)
    taken = model_bytes(stored, nz, nx * ny, 8, "block", {1: 0, 2: 0, 3: 0})
    files = len(results["field_files"]) + 1
    return {
        "start_seconds": sum(phases.get(name, 0.0) for name in FIRST),
        "file_seconds": (phases.get("write fields", 0.0) + phases.get("write restart", 0.0)) / files,
        "finish_seconds": sum(phases.get(name, 0.0) for name in LAST),
        "finish_bytes": max(0.0, results["peak_memory_bytes"][0] - sum(taken.values())),
    }


def _messages(record: Record) -> dict[str, float]:
    """Of the barotropic solver, on the rank that waits least for others; 0 where there are none."""
    entries = {(entry["phase"], entry["category"]): entry for entry in record["ledger"]["phases"]}
    ranks = len(record["ledger"]["ranks"])

    def message(name: str) -> float:
        entry = entries.get((name, "communication"))
        return entry["seconds"]["min"] / max(1, entry["calls"]["max"]) if entry and ranks > 1 else 0.0

    return {
        "halo_seconds": message("barotropic halo"),
        "sum_seconds": message("barotropic reduction") / max(1, math.ceil(math.log2(ranks))),
    }
