"""What benchmarks of a machine measure of incompressible flows: a small one on each core, all at the same time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from fathometer.apps.flow.cost import array_bytes, value_bytes
from fathometer.apps.flow.demo import flow_text
from fathometer.apps.flow.solver.model import NOW
from fathometer.plan.machine_file import SpectralRates
from fathometer.record.ranks import seconds
from fathometer.runs.probes import ProbesWithoutSteps, SecondsOf
from fathometer.runs.small_runs import runs_on_each_core

if TYPE_CHECKING:
    from fathometer.parallel.threads import Binding, ThreadCounts

CELLS, STEPS = 48, 20


class FlowProbes(ProbesWithoutSteps):
    """Rates of the parts of a step, for the machine file."""

    subject = "incompressible flow"

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Rates of incompressible flow; nothing where the runs fail."""
        say("incompressible flow, a small one on each core")
        records = runs_on_each_core(folder, binding.cpus, "flow", flow_text(CELLS, STEPS, 20.0), seconds_of)
        if records:
            yield {"spectral": rates_of(records).model_dump()}


def rates_of(records: Sequence[Mapping[str, Any]]) -> SpectralRates:
    """Rates from the records of runs of the same flow, each on one rank: means over these."""
    found = [_rates(record) for record in records]
    return SpectralRates(**{name: mean(one[name] for one in found) for name in found[0]})


def _rates(record: Mapping[str, Any]) -> dict[str, float]:
    results = record["results"]
    shape, ledger = results["grid"]["shape"], record["ledger"]
    cells, dims = float(math.prod(shape)), len(shape)
    phases = {entry["phase"]: seconds(ledger, (entry["phase"],)) for entry in ledger["phases"]}
    stages = len(NOW) * results["steps"] * cells
    doublings = sum(math.log2(n) for n in shape[: dims - 1])
    values = cells * len(results["variables"]) * len(results["field_times_seconds"])
    kind = record["input"]["output"]["tecplot"]["precision"]
    arrays = array_bytes(math.prod(shape), dims, value_bytes(results["variables"], kind))
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    return {
        "cells": shape[0],
        "momentum_seconds": phases["momentum"] / stages / dims,
        "projection_seconds": (phases["projection"] + phases["halos"]) / stages,
        "transform_seconds": phases["transforms"] / stages / doublings,
        "column_seconds": phases["solve columns"] / stages,
        "look_seconds": phases["diagnostics"] / (results["steps"] + 1) / cells,
        "value_seconds": phases["write fields"] / values,
        "start_seconds": phases["start-up"] + phases.get("set up", 0.0),
        "finish_seconds": sum(phases.get(name, 0.0) for name in ("draw", "finish", "report")),
        "process_bytes": max(0.0, figures["peak memory"] - sum(arrays.values())),
    }
