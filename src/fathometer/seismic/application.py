"""Seismic modelling and migration as the command line sees them: see runs/application.py.

Cheap to import: what does the work is imported inside the methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base.formatting import bytes_in_words
from fathometer.runs.application import Application, Conclusion, CostEstimate, Demo, Heading, Identity, Panel
from fathometer.seismic.physics import of_command, of_record

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome
    from fathometer.seismic.survey import Survey


class SeismicApplication:
    """Forward modelling and migration of a survey, in depth and in time."""

    identity = Identity(
        name="seismic",
        commands={"model": "shots", "migrate": "shots", "migrate-time": "blocks of traces"},
        sections=frozenset({"acquisition"}),
        input="fathometer.seismic.survey:Survey",
        plan_options=frozenset(
            {"ranks", "nodes", "decomposition", "within", "velocities", "migrate", "model", "migrate_time", "history"}
        ),
        probes="fathometer.seismic.probes:SeismicProbes",
        equations=("vti", "isotropic"),
        draft="fathometer.seismic.draft:draft",
        given={
            "vp": "P velocity",
            "epsilon": "Thomsen's epsilon",
            "delta": "Thomsen's delta",
            "vs": "S velocity",
            "density": "density",
            "qp": "quality factor of P waves",
            "qs": "quality factor of S waves",
            "gathers": "recorded shots, SEG-Y or SU, or an index of them",
            "sources": "table of source positions",
            "receivers": "table of receiver positions",
            "velocity": "RMS velocities for migrate-time, a volume or picks",
        },
        reference="docs/guide/survey-file.md",
    )

    @property
    def page(self) -> SeismicPanels:
        """What shows records of any physics."""
        return SeismicPanels()

    def load(self, path: Path | None, settings: Sequence[str] = (), command: str = "") -> Survey | None:
        """Read and check a survey file, and import the driver of a command; without a path that of the demo."""
        from fathometer.seismic.survey import load_survey

        survey = load_survey(path, settings) if path is not None else None
        if command:
            if survey is None:
                import_module("fathometer.seismic.demo")
            else:
                of_command(command, survey.propagation.physics).driver(command)
        return survey

    def files(self, input: Survey) -> dict[str, Path]:
        """The survey, what it names, and what that consists of; an index of gathers stands for its files."""
        from fathometer.seismic.setup.input_files import input_files

        return input_files(input)

    def run(self, command: str, input: Survey | Demo, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run one of the commands, or the demo."""
        if isinstance(input, Demo):
            from fathometer.seismic.demo import run_demo

            return run_demo(input.folder, input.quick, comm, context)
        return of_command(command, input.propagation.physics).driver(command)(input, comm, context)

    def conclusion(self, outcome: Outcome) -> Conclusion:
        """Time and rates; which tasks are not in the image, or that it is zero."""
        return Conclusion([*_lines(outcome.record), *outcome.words] if outcome.record else (), _missing(outcome))

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


class SeismicPanels:
    """What shows the records of surveys (RecordPanels)."""

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        return of_record(record).heading(record)

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """The image, a map, a gather."""
        return of_record(record).panels(record, path)


def _lines(record: Mapping[str, Any]) -> list[str]:
    """The time and rates of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    results, physics = record["results"], of_record(record)
    weak = results.get("illumination", {}).get("note")
    rate = f" at {figures[physics.rate] / 1e6:.0f} million {physics.units} a second" if figures["kernel"] else ""
    return [
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s {physics.work}{rate}; "
        f"at most {bytes_in_words(figures['peak memory'])} a rank",
        *(f"note: {note}" for note in [*results.get("same_everywhere", []), *([weak] if weak else [])]),
    ]


def _missing(outcome: Outcome) -> str:
    """What is not in the image; an image of zeros."""
    if not outcome.failed:
        return outcome.nothing
    tasks = of_record(outcome.record).tasks if outcome.record else "tasks"  # above rank 0, which alone says it
    return (
        f"{len(outcome.failed)} {tasks} are not in the image (--resume --retry-failed "
        f"migrates them again): {'; '.join(outcome.failed.values())}"
    )


APPLICATION: Application = SeismicApplication()
