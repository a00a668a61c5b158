"""Ocean circulation as the command line sees it: see runs/time_application.py.

Cheap to import: what does the work is imported inside the methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.runs.application import Application, CostEstimate, Heading, Panel
from fathometer.runs.time_application import TimeApplication

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.ocean.case import OceanCase
    from fathometer.apps.ocean.ocean_file import OceanFile
    from fathometer.apps.ocean.probes import OceanProbes
    from fathometer.apps.ocean.simulation import OceanSimulation
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome


class OceanApplication(TimeApplication):
    """Hydrostatic circulation with an implicit free surface."""

    name, kind, noun = "ocean", "ocean", "an ocean"
    sections = frozenset({"grid", "bathymetry", "time"})
    results = ("ocean.png",)

    def import_modules(self, command: str) -> None:
        """Import what the command needs, so that this counts as start-up time."""
        import fathometer.apps.ocean.simulation
        import fathometer.runs.time_run  # noqa: F401

    def input_model(self) -> type[OceanFile]:
        """The pydantic class of its input files; its fields are their sections."""
        from fathometer.apps.ocean.ocean_file import OceanFile

        return OceanFile

    def input_files(self, input: OceanFile) -> list[Path]:
        """The ocean file and those that it names."""
        from fathometer.apps.ocean.case import input_files

        return input_files(input)

    def demo_text(self, quick: bool) -> str:
        """The input file of the built-in case, whose results lie beside it."""
        from fathometer.apps.ocean.cases import demo_text

        return demo_text(quick)

    def case_bytes(self, input: OceanFile) -> int:
        """Memory that `case` takes."""
        import math

        from fathometer.apps.ocean.solver.memory import case_bytes

        return case_bytes(math.prod(input.grid.cells))

    def case(self, input: OceanFile) -> OceanCase:
        """The input made ready, the same on all ranks."""
        from fathometer.apps.ocean.case import case_of

        return case_of(input)

    def simulation(self, case: OceanCase, comm: MPI.Intracomm) -> OceanSimulation:
        """Collective. The model of a case on these ranks."""
        from fathometer.apps.ocean.simulation import OceanSimulation

        return OceanSimulation(case, comm)

    def run(self, command: str, input: OceanFile, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run one of `commands`; the results and the record are on disk afterwards."""
        from fathometer.runs.time_run import simulate

        return simulate(self, input, comm, context)

    def summary(self, outcome: Outcome) -> list[str]:
        """The time and rates of a run, for people; rank 0 only, where there is a record."""
        figures = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
        results = outcome.record["results"]
        lines = [
            f"{figures['total']:.1f} s, of these {figures['baroclinic']:.1f} s baroclinic and "
            f"{figures['barotropic']:.1f} s barotropic in {figures['steps']:.0f} steps with "
            f"{figures['iterations a step']:.3g} iterations; at most {figures['peak memory'] / 1e9:.2g} GB a rank"
        ]
        if figures["simulated years a day"]:
            lines.append(
                f"{figures['simulated years a day']:.3g} simulated years a day, "
                f"{figures['reductions a second']:.3g} reductions a second"
            )
        error = max((row["error"] for row in results["balance"]), default=0.0)
        return [*lines, f"contents of all tracers balance to {error:.1g}", *(f"note: {n}" for n in results["notes"])]

    def plan(self, input: OceanFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine."""
        from fathometer.apps.ocean.cost import plan

        return plan(input, machine, options)

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        from fathometer.apps.ocean.page import heading

        return heading(record)

    def panels_of(self, record: Mapping[str, Any], folder: Path) -> list[Panel]:
        """Maps, section, time series, solver, blocks, balance."""
        from fathometer.apps.ocean.page import panels_of

        return panels_of(record, folder)

    def probes(self) -> OceanProbes:
        """Rates of the two parts of a step."""
        from fathometer.apps.ocean.probes import OceanProbes

        return OceanProbes()


APPLICATION: Application = OceanApplication()
