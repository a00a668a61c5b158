"""Reactive flow as the command line sees it: see runs/application.py.

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

    from fathometer.apps.reactive.flow_file import FlowFile
    from fathometer.apps.reactive.probes import ReactiveProbes
    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome


class ReactiveApplication:
    """Advection, diffusion, dispersion and reactions of aqueous species."""

    name = "reactive"
    commands = ("reactive",)
    sections = frozenset({"grid", "chemistry", "water", "initial", "time"})
    plan_options = frozenset({"ranks", "nodes", "iterations", "like"})
    equations = ()

    def import_modules(self, command: str) -> None:
        """See Application."""
        import fathometer.apps.reactive.driver  # noqa: F401

    def input_model(self) -> type[FlowFile]:
        """The flow file."""
        from fathometer.apps.reactive.flow_file import FlowFile

        return FlowFile

    def load(self, path: Path, settings: Sequence[str] = ()) -> FlowFile:
        """Read and check a flow file; see Application."""
        from fathometer.apps.reactive.flow_file import load_flow

        return load_flow(path, settings)

    def resume_hint(self, command: str, path: Path | None, settings: Sequence[str] = ()) -> str:
        """See Application."""
        from fathometer.runs.restart_hint import resume_hint

        return resume_hint(path, settings) if path is not None else ""

    def protect_inputs(self, input: FlowFile, outputs: Iterable[Path]) -> None:
        """See Application."""
        from fathometer.apps.reactive.case import input_files
        from fathometer.runs.restartable_run import protect_inputs

        protect_inputs(input_files(input), outputs)

    def input_files(self, input: FlowFile) -> list[Path]:
        """The flow file and its chemistry file."""
        from fathometer.apps.reactive.case import input_files

        return input_files(input)

    def run(self, command: str, input: FlowFile, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. See Application."""
        from fathometer.apps.reactive.driver import run_reactive

        return run_reactive(input, comm, context)

    def demo(self, folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. See Application."""
        with ledger.phase("set up"):
            from fathometer.apps.reactive.demo import run_demo

        return run_demo(folder, quick, comm, context)

    def summary(self, outcome: Outcome) -> list[str]:
        """See Application."""
        figures = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
        error = max((row["error"] for row in outcome.record["results"]["balance"]), default=0.0)
        return [
            f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s in {figures['steps']:.0f} steps with "
            f"{figures['newton iterations']:.0f} iterations of Newton's method and {figures['linear iterations']:.0f} "
            f"linear ones; at most {figures['peak memory'] / 1e9:.2g} GB a rank",
            f"moles of all components balance to {error:.1g}",
            *(f"note: {note}" for note in outcome.record["results"]["notes"]),
        ]

    def failure(self, outcome: Outcome) -> str:
        """Nothing is left out: a step that fails ends the run."""
        return ""

    def plan(self, input: FlowFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """See Application."""
        from fathometer.apps.reactive.cost import plan

        return plan(input, machine, options)

    def batch_job(self, input: FlowFile, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """The job of a flow; see Application."""
        from fathometer.runs.restartable_job import restartable_job

        return restartable_job(
            self.name, "a reactive flow", input.path, input.output_directory, program, name, nodes, **options
        )

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """See RecordPanels."""
        from fathometer.apps.reactive.page import heading

        return heading(record)

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """Sections of fields, steps, PETSc's account, the balance."""
        from fathometer.apps.reactive.page import panels_of

        return panels_of(record, path.parent)

    def probes(self) -> ReactiveProbes:
        """Rates of implicit solves."""
        from fathometer.apps.reactive.probes import ReactiveProbes

        return ReactiveProbes()


APPLICATION: Application = ReactiveApplication()
