"""A farm of tasks as the command line sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.runs.application import Application, Conclusion, CostEstimate, Demo, Heading, Identity, Panel

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.apps.farm.farm_file import FarmFile
    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome

KIND = "the farm file"


class FarmPanels:
    """What shows a farm's records (RecordPanels)."""

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page."""
        from fathometer.apps.farm.page import heading

        return heading(record)

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """The panels."""
        from fathometer.apps.farm.page import panels_of

        return panels_of(record)


IDENTITY = Identity(
    name="farm",
    commands={"farm": "tasks"},
    sections=frozenset({"tasks"}),
    input="fathometer.apps.farm.farm_file:FarmFile",
    plan_options=frozenset({"ranks", "nodes"}),
    draft="fathometer.apps.farm.draft:draft",
    given={
        "fasta": "sequences, FASTA",
        "lines": "a text whose lines are tasks",
        "database": "of BLAST+, by its path without suffix",
    },
    reference="docs/guide/farm-file.md",
)


class FarmApplication:
    """See Application."""

    identity = IDENTITY
    page = FarmPanels()

    def load(self, path: Path | None, settings: Sequence[str] = (), command: str = "") -> FarmFile | None:
        """Read and validate an input file, and import what a run needs."""
        from fathometer.apps.farm.farm_file import FarmFile
        from fathometer.config.input_file import load_input

        input = load_input(FarmFile, path, KIND, settings) if path is not None else None
        if command:
            import fathometer.apps.farm.run  # noqa: F401
        return input

    def files(self, input: Any) -> dict[str, Path]:
        """The files that a run reads, the input file first."""
        from fathometer.apps.farm.inputs import files_of

        return files_of(input)

    def run(self, command: str, input: Any, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run an input, or the demo."""
        from fathometer.apps.farm.run import run_farm

        if isinstance(input, Demo):
            return self._demo(input, comm, context)
        return run_farm(input, comm, context)

    def _demo(self, demo: Demo, comm: MPI.Intracomm, context: Context) -> Outcome:
        from fathometer.apps.farm.demo import write_demo
        from fathometer.apps.farm.run import run_farm
        from fathometer.parallel.collectives import collective_errors
        from fathometer.runs.restart_hint import DEMO
        from fathometer.storage.folder import results_folder

        with results_folder(demo.folder, comm):
            with ledger.phase("set up"), collective_errors(comm):
                if comm.rank == 0:
                    write_demo(demo, context.say)
            input = self.load(demo.folder / DEMO, command="farm")
            assert input is not None, "there is a file"
            return run_farm(input, comm, context)

    def conclusion(self, outcome: Outcome) -> Conclusion:
        """Its rates, and what is missing."""
        from fathometer.apps.farm.page import lines

        return Conclusion(lines(outcome.record) if outcome.record else (), outcome.nothing)

    def plan(self, input: Any, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine, from a sample of its tasks, which are done here."""
        from fathometer.apps.farm.plan import plan

        return plan(input, machine, options)

    def batch_job(self, input: Any, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """The Slurm job of a run. Raises InputError where there can be none."""
        from fathometer.apps.farm.journal import FOLDER
        from fathometer.runs.restartable_job import restartable_job

        return restartable_job(
            "farm", "a farm", input.path, input.output_directory, program, name, nodes, FOLDER, "task", **options
        )


APPLICATION: Application = FarmApplication()
