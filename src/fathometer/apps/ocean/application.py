"""Ocean circulation as the command line sees it: see runs/application.py.

Cheap to import: what does the work is imported inside the methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.runs.application import Application, CostEstimate, Heading, Panel

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.ocean.ocean_file import OceanFile
    from fathometer.apps.ocean.probes import OceanProbes
    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome


class OceanApplication:
    """Hydrostatic circulation with an implicit free surface."""

    name = "ocean"
    commands = ("ocean",)
    sections = frozenset({"grid", "bathymetry", "time"})
    plan_options = frozenset({"ranks", "nodes", "iterations", "like"})
    equations = ()

    def import_modules(self, command: str) -> None:
        """See Application."""
        import fathometer.apps.ocean.driver  # noqa: F401

    def input_model(self) -> type[OceanFile]:
        """The ocean file."""
        from fathometer.apps.ocean.ocean_file import OceanFile

        return OceanFile

    def load(self, path: Path, settings: Sequence[str] = ()) -> OceanFile:
        """Read and check an ocean file; see Application."""
        from fathometer.apps.ocean.ocean_file import load_ocean

        return load_ocean(path, settings)

    def resume_hint(self, command: str, path: Path | None, settings: Sequence[str] = ()) -> str:
        """See Application."""
        from fathometer.runs.restart_hint import resume_hint

        return resume_hint(path, settings) if path is not None else ""

    def protect_inputs(self, input: OceanFile, outputs: Iterable[Path]) -> None:
        """See Application."""
        from fathometer.apps.ocean.case import input_files
        from fathometer.runs.restartable_run import protect_inputs

        protect_inputs(input_files(input), outputs)

    def input_files(self, input: OceanFile) -> list[Path]:
        """The ocean file and those that it names."""
        from fathometer.apps.ocean.case import input_files

        return input_files(input)

    def run(self, command: str, input: OceanFile, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. See Application."""
        from fathometer.apps.ocean.driver import run_ocean

        return run_ocean(input, comm, context)

    def demo(self, folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. See Application."""
        with ledger.phase("set up"):
            from fathometer.apps.ocean.demo import run_demo

        return run_demo(folder, quick, comm, context)

    def summary(self, outcome: Outcome) -> list[str]:
        """See Application."""
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

    def failure(self, outcome: Outcome) -> str:
        """Nothing is left out: a step that fails ends the run."""
        return ""

    def plan(self, input: OceanFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """See Application."""
        from fathometer.apps.ocean.cost import plan

        return plan(input, machine, options)

    def batch_job(self, input: OceanFile, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """The job of a run; see Application."""
        from fathometer.runs.restartable_job import restartable_job

        return restartable_job(
            self.name, "an ocean", input.path, input.output_directory, program, name, nodes, **options
        )

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """See RecordPanels."""
        from fathometer.apps.ocean.page import heading

        return heading(record)

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """Maps, section, time series, solver, blocks, balance."""
        from fathometer.apps.ocean.page import panels_of

        return panels_of(record, path.parent)

    def probes(self) -> OceanProbes:
        """Rates of the two parts of a step."""
        from fathometer.apps.ocean.probes import OceanProbes

        return OceanProbes()


APPLICATION: Application = OceanApplication()
