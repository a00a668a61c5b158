"""The batch job of a migration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.hardware import file_systems
from fathometer.launch.slurm import Job
from fathometer.runs.journal import FOLDER
from fathometer.seismic.kirchhoff.layout import in_own_folder
from fathometer.seismic.survey import Survey

IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")  # which no other node sees


def job_of(
    survey: Survey, program: Sequence[str], name: str | None, nodes: int, in_time: bool = False, **options: Any
) -> Job:
    """The job that migrates a survey; in_time: by Kirchhoff time migration; options: further attributes of the job.

    Raises InputError: a survey without gathers, a folder that the other nodes cannot see.
    """
    if survey.acquisition.gathers is None:
        raise InputError(f"{survey.path}: [acquisition] gathers: missing; `submit` migrates recorded shots (SEG-Y)")
    survey = in_own_folder(survey) if in_time else survey
    output = Path(survey.output_directory).absolute()
    kinds = [str(mount.get("type", "")) for mount in file_systems([_nearest(output)])]
    if nodes > 1 and set(kinds) & set(IN_MEMORY):
        raise InputError(
            f"{survey.path}: [output] directory: {output} lies in the memory of this host ({kinds[0]}); allowed: a "
            f"file system that all {nodes} nodes share"
        )
    path = survey.path.absolute()
    usual = "fathometer-" + re.sub(r"[^\w.-]", "-", path.stem)
    usual += "-time" if in_time else ""
    command = (*program, "migrate-time" if in_time else "migrate", str(path), "--resume")
    task = "block" if in_time else "shot"
    return Job(command, output, output / FOLDER, name or usual, nodes, task=task, **options)


def _nearest(path: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())
