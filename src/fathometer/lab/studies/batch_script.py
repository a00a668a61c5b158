"""Slurm batch scripts of a study's runs: pure functions of their arguments, tested word by word."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.names import check_script_name
from fathometer.lab.studies.placement import Placement
from fathometer.launch.slurm import slurm_time

LEAD_SECONDS = 120.0  # of a job beyond the time limits of its runs: to start, to end them, to describe the machine
# A job has its nodes to itself unless one of these says otherwise.
SHARING = ("--exclusive", "--oversubscribe", "--share", "-s")


@dataclass(frozen=True)
class Batch:
    """A job of a study.

    Attributes:
        name: of the job. python: the interpreter. study: the study's folder. log: what the job prints; both absolute.
        runs: folders of its runs, in order. placements: of each. seconds: its time limit; None: the partition's.
        options: further options of sbatch, which come last.
    """

    name: str
    python: str
    study: Path
    log: Path
    runs: Sequence[Path]
    placements: Sequence[Placement]
    seconds: float | None = None
    options: Sequence[str] = ()


def batch_script(batch: Batch) -> str:
    """The script that sbatch is given (bash).

    Raises InputError where a word of it holds a control character: a line end in a comment such as #SBATCH would make a
    command of what follows.
    """
    command = [batch.python, "-P", "-m", "fathometer.lab.studies.job", *map(str, (batch.study, *batch.runs))]
    options = sbatch_options(batch)
    for what, words in (("[launch] options", batch.options), ("folders", [*command, str(batch.log)])):
        for word in words:
            check_script_name(word, what)
    lines = "\n".join(f"#SBATCH {shlex.quote(option)}" for option in options)
    return f"#!/bin/bash\n# Written by `fathometer study run`.\n{lines}\n\nexec {shlex.join(command)}\n"


def sbatch_options(batch: Batch) -> list[str]:
    """The options of sbatch, one word each.

    A job is not queued again when its node fails: its run would begin a second time in a folder that is not new.
    """
    words = [
        f"--job-name={batch.name}",
        *resources(batch.placements),
        "--no-requeue",
        f"--output={str(batch.log).replace('%', '%%')}",  # sbatch expands % in file names
        f"--chdir={batch.study}",
    ]
    if not any(option.partition("=")[0] in SHARING for option in batch.options):
        words.append("--exclusive")
    if batch.seconds is not None:
        words.append(f"--time={slurm_time(batch.seconds + LEAD_SECONDS)}")
    return [*words, *batch.options]


def resources(placements: Sequence[Placement]) -> list[str]:
    """What a job asks for in which runs of these placements are made one after another.

    Where they differ: as many nodes as the largest asks for, and on each as many cpus as any run has on one.
    """
    asked = {(p.nodes, p.ranks, p.ranks_per_node, p.threads) for p in placements}
    if len(asked) == 1:
        [(nodes, ranks, each, threads)] = asked
        words = [f"--nodes={nodes}", f"--ntasks={ranks}"]
        words += [f"--ntasks-per-node={each}"] if each is not None else []
        words += [f"--cpus-per-task={threads}"] if threads is not None else []
    else:
        cpus = max(cpus_of_node(placement) for placement in placements)
        words = [f"--nodes={max(p.nodes for p in placements)}", f"--ntasks-per-node={cpus}", "--cpus-per-task=1"]
    per_core = {p.threads_per_core for p in placements}
    if len(per_core) == 1 and None not in per_core:
        words.append(f"--threads-per-core={per_core.pop()}")
    return words


def cpus_of_node(placement: Placement) -> int:
    """Cpus that a run has on one of its nodes, at most."""
    each = placement.ranks_per_node or -(-placement.ranks // placement.nodes)
    return each * (placement.threads or 1)
