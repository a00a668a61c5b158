"""The batch job of an ocean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.base.errors import InputError, naming
from fathometer.launch.slurm import Job, job_name, require_shared
from fathometer.runs.restart_folder import FOLDER


def job_of(file: OceanFile, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
    """The job that runs an ocean; options: further attributes of the job.

    Raises InputError: an array of jobs, a folder that the other nodes cannot see.
    """
    if options.get("array_size") is not None:
        raise InputError(
            f"{file.path}: --array: found; allowed only for what consists of tasks, which an ocean does not"
        )
    if options.pop("in_time", False):
        raise InputError(f"{file.path}: --migrate-time: found; it is an ocean; allowed: without it")
    output, path = Path(file.output_directory).absolute(), file.path.absolute()
    with naming(f"{file.path}: [output] directory"):
        require_shared(output, nodes)
    command = (*program, "ocean", str(path), "--resume")
    return Job(command, output, output / FOLDER, name or job_name(path), nodes, task="restart file", **options)
