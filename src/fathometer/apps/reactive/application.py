"""Reactive flow as the command line sees it: see runs/time_application.py.

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

    from fathometer.apps.reactive.case import FlowCase
    from fathometer.apps.reactive.flow_file import FlowFile
    from fathometer.apps.reactive.probes import ReactiveProbes
    from fathometer.apps.reactive.simulation import FlowSimulation
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome


class ReactiveApplication(TimeApplication):
    """Advection, diffusion, dispersion and reactions of aqueous species."""

    name, kind, noun = "reactive", "flow", "a reactive flow"
    sections = frozenset({"grid", "chemistry", "water", "initial", "time"})
    results = ("flow.png", "flow.xdmf")

    def import_modules(self, command: str) -> None:
        """Import what the command needs, so that this counts as start-up time."""
        import fathometer.apps.reactive.simulation
        import fathometer.runs.time_run  # noqa: F401

    def input_model(self) -> type[FlowFile]:
        """The pydantic class of its input files; its fields are their sections."""
        from fathometer.apps.reactive.flow_file import FlowFile

        return FlowFile

    def input_files(self, input: FlowFile) -> list[Path]:
        """The flow file and its chemistry file."""
        from fathometer.apps.reactive.case import input_files

        return input_files(input)

    def demo_text(self, quick: bool) -> str:
        """The input file of the built-in case, whose results lie beside it."""
        from fathometer.apps.reactive.demo import demo_text

        return demo_text(quick)

    def require(self, comm: MPI.Intracomm) -> None:
        """Collective. PETSc."""
        from fathometer.apps.reactive.solver.petsc import require_petsc

        require_petsc(comm)

    def case_bytes(self, input: FlowFile) -> int:
        """Memory that `case` takes."""
        from fathometer.apps.reactive.solver.memory import case_bytes

        return case_bytes(input.grid.cells)

    def case(self, input: FlowFile) -> FlowCase:
        """The input made ready, the same on all ranks."""
        from fathometer.apps.reactive.case import case_of

        return case_of(input)

    def simulation(self, case: FlowCase, comm: MPI.Intracomm) -> FlowSimulation:
        """Collective. The model of a case on these ranks."""
        from fathometer.apps.reactive.simulation import FlowSimulation

        return FlowSimulation(case, comm)

    def run(self, command: str, input: FlowFile, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run one of `commands`; the results and the record are on disk afterwards."""
        from fathometer.runs.time_run import simulate

        return simulate(self, input, comm, context)

    def summary(self, outcome: Outcome) -> list[str]:
        """The time and rates of a run, for people; rank 0 only, where there is a record."""
        figures = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
        error = max((row["error"] for row in outcome.record["results"]["balance"]), default=0.0)
        return [
            f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s in {figures['steps']:.0f} steps with "
            f"{figures['newton iterations']:.0f} iterations of Newton's method and {figures['linear iterations']:.0f} "
            f"linear ones; at most {figures['peak memory'] / 1e9:.2g} GB a rank",
            f"moles of all components balance to {error:.1g}",
            *(f"note: {note}" for note in outcome.record["results"]["notes"]),
        ]

    def plan(self, input: FlowFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine."""
        from fathometer.apps.reactive.cost import plan

        return plan(input, machine, options)

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        from fathometer.apps.reactive.page import heading

        return heading(record)

    def panels_of(self, record: Mapping[str, Any], folder: Path) -> list[Panel]:
        """Sections of fields, steps, PETSc's account, the balance."""
        from fathometer.apps.reactive.page import panels_of

        return panels_of(record, folder)

    def probes(self) -> ReactiveProbes:
        """Rates of implicit solves."""
        from fathometer.apps.reactive.probes import ReactiveProbes

        return ReactiveProbes()


APPLICATION: Application = ReactiveApplication()
