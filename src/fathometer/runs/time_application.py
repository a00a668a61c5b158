"""What all applications whose model steps in time answer to the command line alike: see `Application`.

Cheap to import: what does the work is imported inside the methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fathometer.base import ledger
from fathometer.runs.application import CostEstimate, Heading, Panel

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.config.input_file import InputFile
    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.probes import Probes
    from fathometer.runs.simulation import Simulation, SimulationCase


class TimeApplication(ABC):
    """An application whose model steps in time, and goes on from states that it has written.

    Attributes:
        name: of the application and of its command. kind: of its input file, such as "flow": the flow file. noun: of a
            run, with its article, such as "a reactive flow".
        results: names of the files that a run writes beside fields, states, record and page.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    noun: ClassVar[str]
    sections: ClassVar[frozenset[str]]
    results: ClassVar[tuple[str, ...]]
    plan_options: ClassVar[frozenset[str]] = frozenset({"ranks", "nodes", "iterations", "like"})
    equations: ClassVar[Sequence[str]] = ()

    @property
    def commands(self) -> Sequence[str]:
        """Commands that `run` takes, each with an input file as its argument."""
        return (self.name,)

    # What an application states.

    @abstractmethod
    def import_modules(self, command: str) -> None:
        """Import what the command needs, so that this counts as start-up time."""

    @abstractmethod
    def input_model(self) -> type[InputFile]:
        """The pydantic class of its input files; its fields are their sections."""

    @abstractmethod
    def input_files(self, input: Any) -> Sequence[Path]:
        """Files that a run reads, the input file first. Raises InputError where one of them cannot be opened."""

    @abstractmethod
    def demo_text(self, quick: bool) -> str:
        """The input file of the built-in case, whose results lie beside it."""

    def require(self, comm: MPI.Intracomm) -> None:
        """Collective. Raises InputError where something that each run needs is missing."""
        return

    @abstractmethod
    def case_bytes(self, input: Any) -> int:
        """Memory that `case` takes."""

    @abstractmethod
    def case(self, input: Any) -> SimulationCase:
        """The input made ready, the same on all ranks. Raises InputError for what is wrong with it."""

    @abstractmethod
    def simulation(self, case: Any, comm: MPI.Intracomm) -> Simulation:
        """Collective. The model of a case on these ranks."""

    @abstractmethod
    def run(self, command: str, input: Any, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. See Application; by `simulate` of time_run.py."""

    @abstractmethod
    def summary(self, outcome: Outcome) -> list[str]:
        """The time and rates of a run, for people; rank 0 only, where there is a record."""

    @abstractmethod
    def plan(self, input: Any, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine."""

    @abstractmethod
    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""

    @abstractmethod
    def panels_of(self, record: Mapping[str, Any], folder: Path) -> list[Panel]:
        """The panels of a record that lies in a folder, with its fields beside it."""

    def probes(self) -> Probes | None:
        """What benchmarks of the machine can measure of this application; None: nothing."""
        return None

    # What follows.

    def load(self, path: Path, settings: Sequence[str] = ()) -> InputFile:
        """Read and validate an input file."""
        from fathometer.config.input_file import load_input

        return load_input(self.input_model(), path, f"the {self.kind} file", settings)

    def resume_hint(self, command: str, path: Path | None, settings: Sequence[str] = ()) -> str:
        """See Application."""
        from fathometer.runs.restart_hint import resume_hint

        return resume_hint(path, settings) if path is not None else ""

    def protect_inputs(self, input: Any, outputs: Iterable[Path]) -> None:
        """Raises InputError where one of the outputs would replace a file that the input names."""
        from fathometer.runs.restartable_run import protect_inputs

        protect_inputs(self.input_files(input), outputs)

    def demo(self, folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. See Application.

        Raises InputError where the folder has an input file of that name, or results, but no demo's.
        """
        from fathometer.parallel.collectives import collective_errors
        from fathometer.record.envelope import PAGE, RECORD, UNFINISHED
        from fathometer.runs.foreign import require_own_demo
        from fathometer.runs.restart_hint import DEMO
        from fathometer.storage import atomic
        from fathometer.storage.folder import results_folder

        with ledger.phase("set up"):
            self.import_modules(self.name)
            with collective_errors(comm):
                self.require(comm)  # before an earlier input file is replaced
            text = self.demo_text(quick)
        with results_folder(folder, comm):
            with ledger.phase("set up"):
                with collective_errors(comm):
                    if comm.rank == 0:
                        require_own_demo(folder, text, (*self.results, PAGE, RECORD, UNFINISHED))
                        atomic.write(folder / DEMO, text.encode())
                input = self.load(folder / DEMO)
            return self.run(self.name, input, comm, context)

    def failure(self, outcome: Outcome) -> str:
        """Nothing is left out: a step that fails ends the run."""
        return ""

    def batch_job(self, input: Any, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """See Application."""
        from fathometer.runs.restartable_job import restartable_job

        return restartable_job(
            self.name, self.noun, input.path, input.output_directory, program, name, nodes, **options
        )

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """See RecordPanels."""
        return self.panels_of(record, path.parent)
