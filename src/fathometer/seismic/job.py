"""The batch job of a migration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, naming
from fathometer.launch.slurm import Job, job_name, require_shared
from fathometer.runs.journal import FOLDER
from fathometer.seismic.kirchhoff.layout import in_own_folder
from fathometer.seismic.survey import Survey


def job_of(
    survey: Survey, program: Sequence[str], name: str | None, nodes: int, in_time: bool = False, **options: Any
) -> Job:
    """The job that migrates a survey; in_time: by Kirchhoff time migration; options: further attributes of the job.

    Raises InputError: a survey without gathers, a folder that the other nodes cannot see.
    """
    survey.require_acoustic("submit")
    if survey.acquisition.gathers is None:
        raise InputError(f"{survey.path}: [acquisition] gathers: missing; `submit` migrates recorded shots (SEG-Y)")
    survey = in_own_folder(survey) if in_time else survey
    output = Path(survey.output_directory).absolute()
    with naming(f"{survey.path}: [output] directory"):
        require_shared(output, nodes)
    path = survey.path.absolute()
    usual = job_name(path) + "-time" * in_time
    command = (*program, "migrate-time" if in_time else "migrate", str(path), "--resume")
    task = "block" if in_time else "shot"
    return Job(command, output, output / FOLDER, name or usual, nodes, task=task, **options)
