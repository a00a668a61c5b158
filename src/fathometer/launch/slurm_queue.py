"""Jobs in Slurm's queue: submitted, asked for, cancelled, by Slurm's own commands."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.names import visible_name

ANSWER_SECONDS = 120.0  # that a command of Slurm's may take; its own patience with its daemon is less
WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
AT_WORK = {"CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING"}
UNKNOWN_JOB = "invalid job id"  # in what squeue says of a job that Slurm has forgotten


@dataclass(frozen=True)
class JobState:
    """A job as Slurm shows it.

    Attributes:
        state: such as PENDING; "" where Slurm has forgotten the job. reason: why it is so. nodes: where it is.
    """

    state: str
    reason: str = ""
    nodes: str = ""

    @property
    def waits(self) -> bool:
        """Whether it has not started."""
        return self.state in WAITING

    @property
    def works(self) -> bool:
        """Whether it has started and not ended."""
        return self.state in AT_WORK

    def __str__(self) -> str:
        why = self.reason if self.reason not in ("", "None") else ""
        state = self.state.lower().replace("_", " ") or "no longer known to Slurm"
        return state + (f" ({why})" if why else "")


def submit_script(script: str) -> str:
    """Submit a batch script; the job's number.

    Raises InputError where there is no sbatch, FathometerError where Slurm refuses.
    """
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise InputError("sbatch: no such program on the path; allowed: a host that submits to Slurm")
    done = _call([sbatch, "--parsable"], script)
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise FathometerError(f"sbatch: {visible_name(reason.removeprefix('sbatch: '))}")
    return done.stdout.strip().partition(";")[0]


def state_of(job: str) -> JobState | None:
    """The state of a job, also of one that has ended lately; None where Slurm does not answer."""
    done = _call(["squeue", "--noheader", "--states=all", "--format=%T|%r|%N", "--jobs", job])
    if done.returncode:
        return JobState("") if UNKNOWN_JOB in done.stderr.lower() else None
    lines = done.stdout.splitlines()
    if not lines:
        return JobState("")
    state, reason, nodes = (text.strip() for text in lines[0].split("|", 2))
    return JobState(state, reason, nodes)


def job_named(name: str) -> str | None:
    """The number of this user's job of a name that waits or runs; None where there is none.

    Raises FathometerError where Slurm does not answer: whether there is one cannot be known then.
    """
    done = _call(["squeue", "--noheader", "--me", f"--name={name}", "--format=%A"])
    if done.returncode:
        raise FathometerError(f"squeue: {' '.join(done.stderr.split()) or f'exit code {done.returncode}'}")
    return next(iter(done.stdout.split()), None)


def cancel(jobs: Iterable[str]) -> None:
    """Cancel these jobs, as far as they are there; without an error where Slurm does not answer."""
    words = list(dict.fromkeys(jobs))
    if words and shutil.which("scancel") is not None:
        _call(["scancel", "--quiet", *words])


def cpus_of_nodes(partition: str | None) -> int | None:
    """Logical cpus of the smallest node of a partition, or of the default one; None where Slurm does not say."""
    done = _call(["sinfo", "--noheader", "--format=%P|%c", *([f"--partition={partition}"] if partition else [])])
    rows = [line.split("|", 1) for line in done.stdout.splitlines() if "|" in line]
    default = [row for row in rows if row[0].endswith("*")]
    found = [int(row[1].rstrip("+ ")) for row in (rows if partition or not default else default)]
    return min(found, default=None)


def cpus_of_allocation(environ: Mapping[str, str]) -> int | None:
    """Logical cpus of this job on that of its nodes where it has fewest, from Slurm's variables.

    >>> cpus_of_allocation({"SLURM_JOB_CPUS_PER_NODE": "16(x3),8"})
    8
    """
    text = environ.get("SLURM_JOB_CPUS_PER_NODE", "")
    return min((int(found) for found in re.findall(r"(?:^|,)(\d+)", text)), default=None)


def _call(words: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, input=given, capture_output=True, text=True, errors="replace", check=False, timeout=ANSWER_SECONDS
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(words, 127, "", f"{words[0]}: no such program on the path")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"{words[0]}: no answer in {ANSWER_SECONDS:g} s")
