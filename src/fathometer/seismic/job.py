"""The batch job of a migration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, naming
from fathometer.launch.slurm import Job, job_name, require_shared
from fathometer.runs.journal import FOLDER
from fathometer.seismic.physics import of_command
from fathometer.seismic.survey import Survey


def job_of(command: str, survey: Survey, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
    """The job that migrates a survey by one of the commands `migrate…`; options: further attributes of the job.

    Raises InputError: a survey without gathers, a folder that the other nodes cannot see.
    """
    survey.require_acoustic("submit")
    if survey.acquisition.gathers is None:
        raise InputError(f"{survey.path}: [acquisition] gathers: missing; `submit` migrates recorded shots (SEG-Y)")
    physics = of_command(command)
    output = Path(physics.own_survey(survey).output_directory).absolute()
    with naming(f"{survey.path}: [output] directory"):
        require_shared(output, nodes)
    path = survey.path.absolute()
    usual = job_name(path) + command.removeprefix("migrate")
    words = (*program, command, str(path), "--resume")
    return Job(words, output, output / FOLDER, name or usual, nodes=nodes, task=physics.task, **options)
