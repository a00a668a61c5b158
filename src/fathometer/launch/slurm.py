"""Slurm batch scripts of resumable runs, which requeue their job until the run is complete.

the scheduler   sends SIGTERM to the ranks LEAD_SECONDS before the job's time limit, and when it pre-empts the job
the ranks       drop their unfinished tasks and exit with the code RESUMABLE
the script      requeues its job on that code, as long as tasks get done; with any other exit code it ends itself
the job         runs again in the same output directory and resumes with the tasks that are not done

Everything but `submit` is a pure function of its arguments.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.hardware import file_systems
from fathometer.base.names import check_script_name
from fathometer.base.option_types import count, job_time, slurm_name
from fathometer.base.options import option
from fathometer.base.signals import RESUMABLE
from fathometer.launch.slurm_queue import submit_script

LEAD_SECONDS = 60  # from the signal to the job's time limit; Slurm's time resolution is a minute
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")  # file systems that no other node sees
MAX_FRUITLESS_RUNS = 3  # in a row, in which no task was finished: then the job is not requeued


@dataclass(frozen=True)
class Job:
    """A resumable run and the resources that it asks Slurm for, which are options of `fathometer submit`.

    Attributes:
        command: the words that run, or resume, the application on one rank; --threads and --share are added to them.
        output: folder of the results and of Slurm's log. journal: folder of the run's journal. Both absolute.
        nodes: of the job, or of each job of an array. seconds: the job's time limit.
        threads: OpenMP threads per rank; None: whole nodes, whose cores the ranks divide among themselves.
        array_size: jobs of a job array that share the tasks; None: a single job.
        task: what the application calls one of its tasks, for a message.
    """

    command: Sequence[str]
    output: Path
    journal: Path
    name: str
    seconds: float = option("30m, 8h, 2d, or 1-12:00:00", "--time", type=job_time, metavar="TIME")
    nodes: int = option("nodes of the job, or of each of an array (1)", type=count, default=1, metavar="N")
    ranks_per_node: int = option("MPI ranks on each node (1)", type=count, default=1, metavar="R")
    threads: int | None = option(
        "threads a rank (whole nodes, and all their cores)", type=count, default=None, metavar="T"
    )
    partition: str | None = option("where it runs (Slurm's default)", type=slurm_name, default=None, metavar="NAME")
    account: str | None = option("who pays (Slurm's default)", type=slurm_name, default=None, metavar="NAME")
    array_size: int | None = option(
        "K jobs that share the shots, without MPI between them", "--array", type=count, default=None, metavar="K"
    )
    task: str = "task"


def job_name(path: Path) -> str:
    """The usual name of the job of an input file."""
    return "fathometer-" + re.sub(r"[^\w.-]", "-", path.stem)


def require_shared(output: Path, nodes: int) -> None:
    """Raises InputError where several nodes would write into a folder that lies in the memory of this host."""
    existing = next(folder for folder in (output, *output.parents) if folder.exists())
    kinds = [str(mount.get("type", "")) for mount in file_systems([existing])]
    if nodes > 1 and set(kinds) & set(IN_MEMORY):
        raise InputError(
            f"{output} lies in the memory of this host ({kinds[0]}); allowed: a file system that all {nodes} nodes "
            "share"
        )


def sbatch_options(job: Job) -> list[str]:
    """The options of sbatch, one word each."""
    log = str(job.output).replace("%", "%%")  # sbatch expands % in file names
    words = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.ranks_per_node}",
        "--exclusive" if job.threads is None else f"--cpus-per-task={job.threads}",
        f"--time={slurm_time(job.seconds)}",
        "--requeue",
        "--open-mode=append",
        f"--signal=TERM@{LEAD_SECONDS}",
        f"--output={log}/slurm-{'%A_%a' if job.array_size else '%j'}.out",
    ]
    for key, value in (("partition", job.partition), ("account", job.account)):
        if value is not None:
            words.append(f"--{key}={value}")
    if job.array_size:
        words.append(f"--array=0-{job.array_size - 1}")
    return words


def srun_command(job: Job) -> list[str]:
    """The words of the srun that starts the ranks."""
    words = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1"]
    if job.threads is None:
        words.append("--cpu-bind=none")
    else:
        words.append(f"--cpus-per-task={job.threads}")
    words += job.command
    return words if job.threads is None else [*words, "--threads", str(job.threads)]


def batch_script(job: Job) -> str:
    """The script that sbatch is given (bash).

    Raises InputError where a word of it holds a control character: a line end, of which quotes are no hindrance in a
    comment such as #SBATCH, would make a command of what follows.
    """
    for what, words in (
        ("output directory", [str(job.output), str(job.journal)]),
        ("command", job.command),
        ("job", [word for word in (job.name, job.partition, job.account, job.task) if word is not None]),
    ):
        for word in words:
            check_script_name(word, f"submit: {what}")
    lines = "\n".join(f"#SBATCH {shlex.quote(option)}" for option in sbatch_options(job))
    this = '"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' if job.array_size else '"$SLURM_JOB_ID"'
    share = ' --share "array job $SLURM_ARRAY_JOB_ID"' if job.array_size else ""
    return f"""\
#!/bin/bash
# Written by `fathometer submit`. Exit code {RESUMABLE} means: interrupted, go on later with --resume.
{lines}

job={this}
journal={shlex.quote(str(job.journal))}
fruitless={shlex.quote(str(job.output))}/.slurm-$job.fruitless
finished() {{ cat "$journal"/*.jsonl 2>/dev/null | wc -l; }}

# Who tells this script to end means its ranks; srun would kill them.
trap 'scancel --signal=TERM "$job"' TERM

before=$(finished)
{shlex.join(srun_command(job))}{share} &
ranks=$!
while kill -0 "$ranks" 2>/dev/null; do wait "$ranks"; done
wait "$ranks"; code=$?

# 143: told before they could listen.
if [ "$code" -ne {RESUMABLE} ] && [ "$code" -ne 143 ]; then
    rm -f "$fruitless"
    exit "$code"
fi
trap '' TERM
if [ "$(squeue --noheader --jobs="$job" --format=%T)" != RUNNING ]; then
    exit {RESUMABLE} # cancelled, or queued again by Slurm itself
fi
runs=0
if [ "$(finished)" -le "$before" ]; then
    runs=$(($(cat "$fruitless" 2>/dev/null || echo 0) + 1))
fi
if [ "$runs" -ge {MAX_FRUITLESS_RUNS} ]; then
    echo "fathometer: no {job.task} was finished in $runs runs: the job is not queued again" >&2
    rm -f "$fruitless"
    exit {RESUMABLE}
fi
echo "$runs" > "$fruitless"
scontrol requeue "$job" || echo "fathometer: job $job is not queued again, or was already" >&2
exit {RESUMABLE}
"""


def slurm_time(seconds: float) -> str:
    """Seconds in Slurm's notation, D-HH:MM:SS, rounded up to a minute, which is its resolution.

    >>> slurm_time(90), slurm_time(8 * 3600), slurm_time(2.5 * 86400)
    ('0-00:02:00', '0-08:00:00', '2-12:00:00')
    """
    minutes = int(-(-seconds // 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


def submit(job: Job) -> str:
    """Submit the job; the job number as Slurm prints it.

    Raises InputError where there is no sbatch or no output directory, FathometerError where Slurm refuses.
    """
    if shutil.which("sbatch") is None:
        raise InputError("submit: no sbatch found on the path; allowed: a host that submits to Slurm, or --print")
    try:
        job.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{job.output}: cannot make the output directory: {reason}") from None
    return submit_script(batch_script(job))
