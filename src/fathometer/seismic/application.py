"""Seismic modelling and migration as the command line sees them: see runs/application.py.

Cheap to import: what does the work is imported inside the methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words
from fathometer.runs.application import Application, CostEstimate, Heading, Panel
from fathometer.seismic.physics import PHYSICS, of_command, of_record

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome
    from fathometer.seismic.probes import SeismicProbes
    from fathometer.seismic.survey import Survey


class SeismicApplication:
    """Forward modelling and reverse time migration of a survey."""

    name = "seismic"
    commands = ("model", "migrate", "migrate-time")
    sections = frozenset({"acquisition"})
    plan_options = frozenset(
        {"ranks", "nodes", "decomposition", "within", "velocities", "migrate", "model", "migrate_time", "history"}
    )
    equations = ("vti", "isotropic")

    def import_modules(self, command: str) -> None:
        """Import what the command needs, so that this counts as start-up time."""
        if command == "demo":
            import_module("fathometer.seismic.demo")
        else:
            of_command(command).driver(command)

    def input_model(self) -> type[Survey]:
        """The survey file."""
        from fathometer.seismic.survey import Survey

        return Survey

    def load(self, path: Path, settings: Sequence[str] = ()) -> Survey:
        """Read and check a survey file; see Application."""
        from fathometer.seismic.survey import load_survey

        return load_survey(path, settings)

    def resume_hint(self, command: str, path: Path | None, settings: Sequence[str] = ()) -> str:
        """What to print where a run was interrupted that can be resumed; "" where it cannot."""
        physics = of_command(command, _waves(path, settings) if path is not None else "")
        return f"--resume goes on with the {physics.tasks} that are not done" if command in physics.resumable else ""

    def protect_inputs(self, input: Survey, outputs: Iterable[Path]) -> None:
        """Raises InputError where one of the outputs would replace a file that the input names."""
        from fathometer.seismic.setup.run_files import protect_inputs

        protect_inputs(input, outputs)

    def input_files(self, input: Survey) -> list[Path]:
        """The files that a run of this input reads, by which a study knows that they are still the same."""
        from fathometer.seismic.setup.input_files import input_files

        return input_files(input)

    def run(self, command: str, input: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. One of `commands`."""
        physics = of_command(command, input.propagation.physics)
        if context.options.resume and command not in physics.resumable:
            able = ", ".join(one.name for one in PHYSICS.values() if command in one.resumable)
            raise InputError(
                f"--resume: found with {physics.name} waves; allowed only with [propagation] physics = {able}"
            )
        return physics.run(command, input, comm, context)

    def demo(self, folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. A complete example on an input made by code, all of it in `folder`; `quick`: a smaller one."""
        from fathometer.seismic.demo import run_demo

        return run_demo(folder, quick, comm, context)

    def summary(self, outcome: Outcome) -> list[str]:
        """The time and rates of a run, for people; rank 0 only, where there is a record."""
        figures = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
        results = outcome.record["results"]
        weak = results.get("illumination", {}).get("note")
        physics = of_record(outcome.record)
        rate = f" at {figures[physics.rate] / 1e6:.0f} million {physics.units} a second" if figures["kernel"] else ""
        return [
            f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s {physics.work}{rate}; "
            f"at most {bytes_in_words(figures['peak memory'])} a rank",
            *(f"note: {note}" for note in [*results.get("same_everywhere", []), *([weak] if weak else [])]),
        ]

    def failure(self, outcome: Outcome) -> str:
        """What is not in the image; an image of zeros."""
        if not outcome.failed:
            return outcome.nothing
        tasks = of_record(outcome.record).tasks if outcome.record else "tasks"  # above rank 0, which alone says it
        return (
            f"{len(outcome.failed)} {tasks} are not in the image (--resume --retry-failed "
            f"migrates them again): {'; '.join(outcome.failed.values())}"
        )

    def plan(self, input: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine."""
        command = "migrate-time" if options["migrate_time"] else "model"
        return of_command(command, input.propagation.physics).plan(input, machine, options)

    def batch_job(
        self, input: Survey, program: Sequence[str], name: str | None, nodes: int, in_time: bool = False, **options: Any
    ) -> Job:
        """The job of a migration, in depth or in time; see Application."""
        from fathometer.seismic.job import job_of

        return job_of("migrate-time" if in_time else "migrate", input, program, name, nodes, **options)

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        return of_record(record).heading(record)

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """The image, a map, a gather."""
        return of_record(record).panels(record, path)

    def probes(self) -> SeismicProbes:
        """The propagator in homogeneous models, traces, a small run."""
        from fathometer.seismic.probes import SeismicProbes

        return SeismicProbes()


def _waves(path: Path, settings: Sequence[str]) -> str:
    """[propagation] physics of a survey file, right or wrong in all else; "" where there is none."""
    import tomllib

    from fathometer.base.errors import FathometerError
    from fathometer.base.regular_file import read_regular
    from fathometer.config.settings import with_settings

    try:
        values = with_settings(tomllib.loads(read_regular(path).decode("utf-8")), settings)
        return str(values["propagation"]["physics"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError, FathometerError):
        return ""


APPLICATION: Application = SeismicApplication()
