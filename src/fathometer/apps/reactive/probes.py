"""What benchmarks of a machine measure of reactive flows: a small one on each core, all at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from fathometer.apps.reactive.demo import flow_text
from fathometer.apps.reactive.solver.distributed_grid import GHOST_WIDTH
from fathometer.apps.reactive.solver.memory import solver_bytes
from fathometer.plan.machine_file import ImplicitRates
from fathometer.record.ranks import seconds
from fathometer.runs.probes import ProbesWithoutSteps, SecondsOf
from fathometer.runs.small_runs import runs_on_each_core

if TYPE_CHECKING:
    from fathometer.parallel.threads import Binding, ThreadCounts

CELLS, STEPS = 32, 3


class ReactiveProbes(ProbesWithoutSteps):
    """Rates of implicit solves, for the machine file."""

    subject = "reactive flow"

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Rates of implicit solves; nothing without PETSc, or where the runs fail."""
        if find_spec("petsc4py") is None:
            return
        say("implicit solves, a small one on each core")
        records = runs_on_each_core(folder, binding.cpus, "reactive", flow_text(CELLS, STEPS, "."), seconds_of)
        if records:
            yield {"implicit": rates_of(records).model_dump()}


def rates_of(records: Sequence[Mapping[str, Any]]) -> ImplicitRates:
    """Rates from the records of runs of the same flow, each on one rank: means over these."""
    found = [_rates(record) for record in records]
    return ImplicitRates(**{name: mean(one[name] for one in found) for name in found[0]})


def _rates(record: Mapping[str, Any]) -> dict[str, float]:
    shape, system = record["results"]["grid"]["shape"], record["results"]["chemistry"]
    cells = float(shape[0] * shape[1] * shape[2])
    (events,) = record["results"]["petsc"]["ranks"]
    names = {entry["phase"] for entry in record["ledger"]["phases"]}
    phases = {name: seconds(record["ledger"], (name,)) for name in names}
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    n, minerals = len(system["primary"]), len(system["minerals"])
    setup, linear = events["PCSetUp"], figures["linear iterations"]
    written = len(record["results"]["fields"]) * len(record["results"]["field_times_seconds"])
    course = record["results"]["course"]
    most = max(row["linear_iterations"] / max(1, row["newton_iterations"]) for row in course)
    scheme = record["input"]["transport"]["scheme"]
    peak = figures["peak memory"] - sum(solver_bytes(tuple(shape), (1, 1, 1), n, minerals, scheme, most).values())
    return {
        "components": n,
        "entries": 1 + 6 * GHOST_WIDTH[record["input"]["transport"]["scheme"]],
        "residual_seconds": phases["assemble residual"] / events["SNESFunctionEval"]["calls"] / cells,
        "jacobian_seconds": phases["assemble Jacobian"] / events["SNESJacobianEval"]["calls"] / cells,
        "setup_seconds": setup["seconds"] / max(1.0, figures["newton iterations"]) / cells,
        "iteration_seconds": max(0.0, phases["solve"] - setup["seconds"]) / linear / cells,
        "file_seconds": phases.get("write fields", 0.0) / max(1, written),
        "start_seconds": phases.get("set up", 0.0),
        "finish_seconds": sum(phases.get(name, 0.0) for name in ("draw", "finish", "report")),
        "process_bytes": max(0.0, peak),
    }
