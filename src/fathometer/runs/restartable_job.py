"""The batch job of a run that goes on from restart files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, naming
from fathometer.launch.slurm import Job, job_name, require_shared
from fathometer.runs.restart_hint import FOLDER


def restartable_job(
    command: str,
    kind: str,
    file: Path,
    output: Path,
    program: Sequence[str],
    name: str | None,
    nodes: int,
    states: str = FOLDER,
    task: str = "restart file",
    **options: Any,
) -> Job:
    """The job that runs an input file.

    Args:
        command: of the program. kind: of run, with its article: "an ocean". output: folder of the results.
        states: folder within, with what a run goes on from: lines in it say that it gets on. task: what a line is of.
        options: further attributes of the job.

    Raises InputError: an array of jobs, a time migration, a folder that the other nodes cannot see.
    """
    if options.get("array_size") is not None:
        raise InputError(f"{file}: --array: found; allowed only for what consists of tasks, which {kind} does not")
    if options.pop("in_time", False):
        raise InputError(f"{file}: --migrate-time: found; it is {kind}; allowed: without it")
    output, path = output.absolute(), file.absolute()
    with naming(f"{file}: [output] directory"):
        require_shared(output, nodes)
    words = (*program, command, str(path), "--resume")
    return Job(words, output, output / states, name or job_name(path), nodes=nodes, task=task, **options)
