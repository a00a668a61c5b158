"""Slurm batch scripts of migrations that end and go on.

the scheduler   sends SIGTERM to the ranks LEAD_SECONDS before the time is over, and when it pre-empts the job
the ranks       drop their shots and end with the exit code that means: resume me
the script      puts its job back into the queue, as long as shots get done; it ends with any other exit code itself
the job         runs again, in the same output directory, and goes on with the shots that are not done

Everything but `submit` is a pure function of its arguments.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.signals import RESUMABLE

LEAD_SECONDS = 60  # before the end of the job's time; Slurm's clock ticks by the minute
FRUITLESS = 3  # runs in a row in which no shot was finished, until a job is not queued again


@dataclass(frozen=True)
class Job:
    """What is to be run, and on what.

    Attributes:
        program: words that start the program. survey, output, journal: files and folders, absolute.
        seconds: the job's time. threads: a rank; None: whole nodes, whose cores the ranks share out themselves.
        tasks: of an array, each of `nodes` nodes; None: one job.
    """

    program: Sequence[str]
    survey: Path
    output: Path
    journal: Path
    name: str
    nodes: int
    seconds: float
    ranks_per_node: int = 1
    threads: int | None = None
    partition: str | None = None
    account: str | None = None
    tasks: int | None = None


def options(job: Job) -> list[str]:
    """What sbatch is asked for."""
    log = str(job.output).replace("%", "%%")
    found = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.ranks_per_node}",
        "--exclusive" if job.threads is None else f"--cpus-per-task={job.threads}",
        f"--time={slurm_time(job.seconds)}",
        "--requeue",
        "--open-mode=append",
        f"--signal=TERM@{LEAD_SECONDS}",
        f"--output={log}/slurm-{'%A_%a' if job.tasks else '%j'}.out",
    ]
    for key, value in (("partition", job.partition), ("account", job.account)):
        if value is not None:
            found.append(f"--{key}={value}")
    if job.tasks:
        found.append(f"--array=0-{job.tasks - 1}")
    return found


def step(job: Job) -> list[str]:
    """The words that start the ranks."""
    words = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1"]
    if job.threads is None:
        words.append("--cpu-bind=none")
    else:
        words.append(f"--cpus-per-task={job.threads}")
    words += [*job.program, "migrate", str(job.survey), "--resume"]
    return words if job.threads is None else [*words, "--threads", str(job.threads)]


def batch_script(job: Job) -> str:
    """The script that sbatch is given."""
    lines = "\n".join(f"#SBATCH {shlex.quote(option)}" for option in options(job))
    this = '"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' if job.tasks else '"$SLURM_JOB_ID"'
    share = ' --share "array job $SLURM_ARRAY_JOB_ID"' if job.tasks else ""
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
{shlex.join(step(job))}{share} &
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
if [ "$runs" -ge {FRUITLESS} ]; then
    echo "fathometer: no shot was finished in $runs runs: the job is not queued again" >&2
    rm -f "$fruitless"
    exit {RESUMABLE}
fi
echo "$runs" > "$fruitless"
scontrol requeue "$job" || echo "fathometer: job $job is not queued again, or was already" >&2
exit {RESUMABLE}
"""


def slurm_time(seconds: float) -> str:
    """As Slurm writes times, rounded up to a minute, which is its tick.

    >>> slurm_time(90), slurm_time(8 * 3600), slurm_time(2.5 * 86400)
    ('0-00:02:00', '0-08:00:00', '2-12:00:00')
    """
    minutes = int(-(-seconds // 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


def submit(job: Job) -> str:
    """Give the job to Slurm; its number. InputError where there is no Slurm, FathometerError where it refuses."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise InputError("submit: no sbatch found on the path; allowed: a host that submits to Slurm, or --print")
    try:
        job.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{job.output}: cannot make the output directory: {reason}") from None
    done = subprocess.run([sbatch, "--parsable"], input=batch_script(job), capture_output=True, text=True, check=False)
    if done.returncode:
        told = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise FathometerError(f"sbatch: {told}")
    return done.stdout.strip().partition(";")[0]
