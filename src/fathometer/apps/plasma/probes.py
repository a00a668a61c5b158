"""What benchmarks of a machine measure of plasmas: a small box on each core, all at the same time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from fathometer.apps.plasma.cases import probe_text
from fathometer.apps.plasma.cost import array_bytes, bracket_work
from fathometer.apps.plasma.plasma_file import PlasmaFile
from fathometer.config.input_file import validated
from fathometer.plan.machine_file import PlasmaRates
from fathometer.record.ranks import seconds
from fathometer.runs.probes import ProbesWithoutSteps, SecondsOf
from fathometer.runs.small_runs import runs_on_each_core

if TYPE_CHECKING:
    from fathometer.parallel.threads import Binding, ThreadCounts


class PlasmaProbes(ProbesWithoutSteps):
    """Rates of the parts of a step, for the machine file."""

    subject = "a plasma"

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Rates of a plasma; nothing where the runs fail."""
        say("plasma turbulence, a small box on each core, and one on all of them")
        records, shared = (
            runs_on_each_core(folder, binding.cpus, "plasma", probe_text(), seconds_of, together)
            for together in (False, True)
        )
        if records and shared:
            rates = rates_of(records).model_dump()
            if len(binding.cpus) > 1:
                bracket = rates_of(shared).bracket_seconds * len(binding.cpus)
                rates["shared_bracket_seconds"] = bracket
            yield {"plasma": rates}


def rates_of(records: Sequence[Mapping[str, Any]]) -> PlasmaRates:
    """Rates from the records of runs of the same plasma, each on one rank: means over these."""
    found = [_rates(record) for record in records]
    return PlasmaRates(**{name: mean(one[name] for one in found) for name in found[0]})


def _rates(record: Mapping[str, Any]) -> dict[str, float]:
    from fathometer.apps.plasma.case import case_of

    keys = {name: value for name, value in record["input"].items() if name != "plasma_file"}
    plasma = case_of(validated(PlasmaFile, keys, Path("probe"))).plasma
    results, ledger = record["results"], record["ledger"]
    phases = {entry["phase"]: seconds(ledger, (entry["phase"],)) for entry in ledger["phases"]}
    points = math.prod(plasma.sizes)
    stepped = results["stages"] * results["steps"] * points
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    arrays = array_bytes(plasma, (1, 1), record["input"]["time"]["method"])
    return {
        "line_seconds": phases["field lines"] / stepped,
        "velocity_seconds": phases["velocities"] / stepped / plasma.grid.cosines,
        "field_seconds": phases["fields"] / stepped,
        "bracket_seconds": phases["bracket"] / stepped / bracket_work(plasma),
        "update_seconds": phases["update"] / stepped,
        "look_seconds": phases["diagnostics"] / len(results["course"]) / points,
        "start_seconds": phases["start-up"] + phases.get("set up", 0.0),
        "finish_seconds": sum(phases.get(name, 0.0) for name in ("draw", "finish", "report")),
        "process_bytes": max(0.0, figures["peak memory"] - sum(arrays.values())),
    }
