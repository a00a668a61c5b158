"""An application whose model steps in time, as data: see `Application`, which it is.

Cheap to import: what it refers to, as "module:name", is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.base.references import referred
from fathometer.runs.application import Conclusion, CostEstimate, Demo, Heading, Identity, Panel

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.config.input_file import InputFile
    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.simulation import Simulation, SimulationCase


@dataclass(frozen=True)
class TimeApplication:
    """An application whose model steps in time, and goes on from states that it has written.

    Attributes:
        identity: its one command has the application's name. kind: of its input file, such as "flow": the flow file.
        noun: of a run, with its article, such as "a reactive flow".
        results: names of the files that a run writes beside fields, states, record and page.
        case: module with `input_files(input)`, the files that a run reads, the input file first, InputError where one
            cannot be opened; `case_of(input)`, the input made ready, the same on all ranks (SimulationCase), InputError
            for what is wrong with it; `case_bytes(input)`, the memory that this takes.
        model: "module:name" of a Simulation, made of a case on the ranks of a communicator.
        demo: "module:name" of the text of the built-in case's input file, quick or not, whose results lie beside it.
        cost: "module:name" of the CostEstimate of an input on a machine, with options of `plan`.
        shown: module with `heading(record)`, the top of its page; `panels_of(record, folder)`, what the page shows of a
            record that lies in a folder, with its fields beside it; `lines(record)`, its time and rates for people.
        needed: "module:name" of what raises InputError, on a communicator, where something that each run needs is
            missing; "": nothing is.
    """

    identity: Identity
    kind: str
    noun: str
    results: Sequence[str]
    case: str
    model: str
    demo: str
    cost: str
    shown: str
    needed: str = ""

    @property
    def name(self) -> str:
        """Of the application, and of its command."""
        return self.identity.name

    @property
    def page(self) -> TimePanels:
        """What shows its records."""
        return TimePanels(self)

    def load(self, path: Path | None, settings: Sequence[str] = (), command: str = "") -> InputFile | None:
        """Read and validate an input file, and import what a run needs."""
        from fathometer.config.input_file import load_input

        input: InputFile | None = None
        if path is not None:
            input = load_input(referred(self.identity.input), path, f"the {self.kind} file", settings)
        if command:
            import fathometer.runs.time_run  # noqa: F401

            referred(self.model)
        return input

    def files(self, input: Any) -> dict[str, Path]:
        """The files that a run reads, the input file first."""
        return {str(path): path for path in import_module(self.case).input_files(input)}

    def require(self, comm: MPI.Intracomm) -> None:
        """Collective. Raises InputError where something that each run needs is missing."""
        if self.needed:
            referred(self.needed)(comm)

    def case_bytes(self, input: Any) -> int:
        """Memory that `case_of` takes."""
        return int(import_module(self.case).case_bytes(input))

    def case_of(self, input: Any) -> SimulationCase:
        """The input made ready, the same on all ranks. Raises InputError for what is wrong with it."""
        case: SimulationCase = import_module(self.case).case_of(input)
        return case

    def simulation(self, case: SimulationCase, comm: MPI.Intracomm) -> Simulation:
        """Collective. The model of a case on these ranks."""
        simulation: Simulation = referred(self.model)(case, comm)
        return simulation

    def panels_of(self, record: Mapping[str, Any], folder: Path) -> list[Panel]:
        """What the page shows of a record that lies in a folder, with its fields beside it."""
        panels: list[Panel] = import_module(self.shown).panels_of(record, folder)
        return panels

    def run(self, command: str, input: Any, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run an input, or the built-in case.

        Raises InputError where the folder of a demo has an input file of its name, or results, but no demo's."""
        from fathometer.runs.time_run import simulate

        if isinstance(input, Demo):
            return self._demo(input, comm, context)
        return simulate(self, input, comm, context)

    def _demo(self, demo: Demo, comm: MPI.Intracomm, context: Context) -> Outcome:
        from fathometer.parallel.collectives import collective_errors
        from fathometer.record.envelope import PAGE, RECORD, UNFINISHED
        from fathometer.runs.foreign import require_own_demo
        from fathometer.runs.restart_hint import DEMO
        from fathometer.runs.time_run import simulate
        from fathometer.storage import atomic
        from fathometer.storage.folder import results_folder

        with ledger.phase("set up"):
            with collective_errors(comm):
                self.require(comm)  # before an earlier input file is replaced
            text: str = referred(self.demo)(demo.quick)
        with results_folder(demo.folder, comm):
            with ledger.phase("set up"):
                with collective_errors(comm):
                    if comm.rank == 0:
                        require_own_demo(demo.folder, text, (*self.results, PAGE, RECORD, UNFINISHED))
                        atomic.write(demo.folder / DEMO, text.encode())
                input = self.load(demo.folder / DEMO, command=self.name)
            return simulate(self, input, comm, context)

    def conclusion(self, outcome: Outcome) -> Conclusion:
        """Its time and rates; nothing is left out, since a step that fails ends the run."""
        return Conclusion(import_module(self.shown).lines(outcome.record) if outcome.record else ())

    def plan(self, input: Any, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine."""
        estimate: CostEstimate = referred(self.cost)(input, machine, options)
        return estimate

    def batch_job(self, input: Any, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """The Slurm job of a run. Raises InputError where there can be none."""
        from fathometer.runs.restartable_job import restartable_job

        return restartable_job(
            self.name, self.noun, input.path, input.output_directory, program, name, nodes, **options
        )


@dataclass(frozen=True)
class TimePanels:
    """What shows the records of a model in time (RecordPanels)."""

    application: TimeApplication

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        heading: Heading = import_module(self.application.shown).heading(record)
        return heading

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """The panels of a record, with the fields beside it."""
        return self.application.panels_of(record, path.parent)
