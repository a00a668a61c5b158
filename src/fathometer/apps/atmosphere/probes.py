"""What benchmarks of a machine measure of atmospheres: a small one on each core, all at the same time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from fathometer.apps.atmosphere.cases import BELL, probe_text
from fathometer.apps.atmosphere.cost import PATH, array_bytes, legendre_work
from fathometer.apps.atmosphere.solver.equations import columns_of
from fathometer.apps.atmosphere.solver.transform import rows_of
from fathometer.config.input_file import validated
from fathometer.plan.machine_file import AtmosphereRates
from fathometer.record.ranks import seconds
from fathometer.runs.probes import ProbesWithoutSteps, SecondsOf
from fathometer.runs.small_runs import runs_on_each_core

if TYPE_CHECKING:
    from fathometer.parallel.threads import Binding, ThreadCounts


# Rates of physics, and what is in the input for them; of tracers, too, of which the first one, which tells of all but
# forcing, has none: a process that draws them takes more memory.
FORCINGS = {
    "relaxation_seconds": 'forcing = "held-suarez"\n',
    "radiation_seconds": 'forcing = "radiation"\n',
    "night_seconds": f'forcing = "radiation"\nsolar_constant = 0.0\n{BELL}',
}


class AtmosphereProbes(ProbesWithoutSteps):
    """Rates of the parts of a step, for the machine file."""

    subject = "an atmosphere"

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """Rates of an atmosphere; nothing where the runs fail."""
        say("an atmosphere, a small one on each core, forced in three ways")
        found = [
            runs_on_each_core(folder, binding.cpus, "atmosphere", probe_text(forcing), seconds_of)
            for forcing in FORCINGS.values()
        ]
        if all(found):
            yield {"atmosphere": rates_of(found).model_dump()}


def rates_of(records: Sequence[Sequence[Mapping[str, Any]]]) -> AtmosphereRates:
    """Rates from the records of runs on one rank each, of the same atmosphere by each of FORCINGS: means over the first
    ones, but for the forcing."""
    found = [[_rates(record) for record in each] for each in records]
    means = {name: mean(one[name] for one in found[0]) for name in found[0][0]}
    del means["physics"]
    for name, each in zip(FORCINGS, found, strict=True):
        means[name] = mean(one["physics"] for one in each)
    means["tracer_seconds"] = mean(one["tracer_seconds"] for one in found[-1])
    return AtmosphereRates(**means)


def _rates(record: Mapping[str, Any]) -> dict[str, float]:
    from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
    from fathometer.apps.atmosphere.case import case_of

    keys = {name: value for name, value in record["input"].items() if name != "atmosphere_file"}
    case = case_of(validated(AtmosphereFile, keys, Path("probe")))
    results, ledger = record["results"], record["ledger"]
    phases = {entry["phase"]: seconds(ledger, (entry["phase"],)) for entry in ledger["phases"]}
    truncation, levels, latitudes, longitudes = case.sizes
    _, inward, back = columns_of(levels)
    places, steps = latitudes * longitudes, results["steps"]
    looks, written = len(results["course"]), len(results["field_files"])
    again = steps + (looks + written) * (4 * levels + 1) / (inward + back)
    tracers = len(case.file.tracers)
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    rows = rows_of(truncation, range(truncation + 1))
    unit = AtmosphereRates(legendre_seconds=0, grid_seconds=0, spectral_seconds=1).row_seconds(levels)
    return {
        "legendre_seconds": phases["Legendre"] / again / legendre_work(case, inward + back),
        "grid_seconds": phases["grid"] / again / (places * (inward + back) * math.log2(longitudes)),
        "spectral_seconds": phases["spectral"] / steps / rows / unit,
        "physics": phases["physics"] / steps / (places * levels),
        "tracer_seconds": phases.get("tracers", 0.0) / steps / (places * levels * (PATH + tracers)),
        "look_seconds": phases["diagnostics"] / looks / (places * levels * (1 + tracers / 4)),
        "value_seconds": phases["write fields"] / written / (places * ((4 + tracers) * levels + 1)),
        "start_seconds": phases["start-up"] + phases.get("set up", 0.0),
        "finish_seconds": sum(phases.get(name, 0.0) for name in ("draw", "finish", "report")),
        "process_bytes": max(0.0, figures["peak memory"] - sum(array_bytes(case, 1, 1).values())),
    }
