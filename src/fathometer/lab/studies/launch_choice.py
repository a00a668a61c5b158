"""What [launch] of a study file asks for: the launcher, what makes the runs, and the cpus that they have."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations

from fathometer.base.errors import InputError
from fathometer.lab.recipes.times import seconds_of
from fathometer.lab.studies.batch_runner import BatchRunner
from fathometer.lab.studies.cluster_launcher import ClusterLauncher
from fathometer.lab.studies.cluster_runner import ClusterRunner
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.launching import BatchLauncher, Launcher, LocalLauncher, SrunLauncher
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.runner import HostRunner, Runner
from fathometer.lab.studies.study_file import Study
from fathometer.launch.mpirun import find_mpirun
from fathometer.launch.slurm_queue import cpus_of_allocation, cpus_of_nodes


def how_of(study: Study) -> str:
    """ "local", "srun", "sbatch" or "cluster". Raises InputError where Slurm is asked for and not there."""
    how, where = study.launch.how, f"{study.path}: [launch] how"
    if study.place.cluster is not None:
        if how not in ("auto", "local"):
            raise InputError(f'{where}: found "{how}" with [place] cluster; allowed: "local"')
        return "cluster"
    if how == "auto":
        return "srun" if "SLURM_JOB_ID" in os.environ and shutil.which("srun") else "local"
    if how == "srun" and "SLURM_JOB_ID" not in os.environ:
        raise InputError(f'{where}: found "srun" outside an allocation; allowed: inside salloc or sbatch')
    if how == "sbatch":
        missing = [name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None]
        if missing:
            raise InputError(f'{where}: found "sbatch" and no {missing[0]} on PATH; allowed: a host with Slurm')
        if study.job:
            raise InputError(
                f'{where}: found "sbatch" with [[job]], which is of one machine; '
                'allowed: "local", such as inside a job that runs the study'
            )
    return how


def launcher_of(study: Study) -> Launcher:
    """What starts the programs. Raises InputError as `how_of`."""
    how = how_of(study)
    if how == "srun":
        return SrunLauncher()
    if how == "sbatch":
        return BatchLauncher()
    try:
        mpirun = find_mpirun(sys.prefix, os.environ.get("PATH", os.defpath))
    except InputError:
        mpirun = None
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    if how == "cluster":
        return ClusterLauncher(study.folder.absolute(), cpus, mpirun)
    return LocalLauncher(cpus, mpirun, os.geteuid() == 0)


def runner_of(study: Study) -> Runner:
    """What makes the runs. Raises InputError as `how_of`, and for settings that contradict each other."""
    launch = study.launch
    if how_of(study) != "sbatch":
        if launch.options:
            raise InputError(f'{study.path}: [launch] options: found without how = "sbatch"; allowed: with it')
        if study.place.cluster is not None:
            return ClusterRunner(study.folder, study.directory)
        return HostRunner(study.folder)
    if launch.at_once > 1 and launch.job == "round":
        raise InputError(
            f'{study.path}: [launch] at_once: found {launch.at_once} with job = "round", which makes one run after '
            'another; allowed: 1, or job = "case"'
        )
    return BatchRunner(study.folder, launch.options, seconds_of(launch.deadline), launch.job == "round")


def cores_of(study: Study) -> int:
    """Logical cpus that a run may use on each of its hosts; with Slurm those of its smallest node, as Slurm says it."""
    how = how_of(study)
    known = None
    if how == "srun":
        known = cpus_of_allocation(os.environ)
    elif how == "sbatch":
        known = cpus_of_nodes(partition_of(study.launch.options))
    return known or len(os.sched_getaffinity(0))


def partition_of(options: Sequence[str]) -> str | None:
    """The partition that options of sbatch name, the last of them.

    >>> partition_of(["--partition=long", "--account=x"])
    'long'
    """
    found = None
    for option, following in zip(options, [*options, ""][1:], strict=True):
        name, equals, value = option.partition("=")
        if name in ("--partition", "-p"):
            found = value if equals else following
        elif option.startswith("-p") and not option.startswith("--"):
            found = option[2:]
    return found


def check_at_once(study: Study, cases: Sequence[tuple[Case, Sequence[Placement]]]) -> None:
    """Raises InputError where several runs at the same time may disturb each other and the study file does not say so.

    cases: with the placements of what runs in them. Jobs of Slurm have their nodes to themselves.
    """
    launch, how = study.launch, how_of(study)
    if launch.at_once == 1 or (launch.disturb and how != "cluster") or how == "sbatch":
        return
    where = f"{study.path}: [launch] at_once: found {launch.at_once}"
    if how == "cluster":
        raise InputError(f"{where} with [place] cluster, whose nodes share this machine; allowed: 1")
    if how == "srun":
        raise InputError(
            f'{where} with "srun", whose steps share the nodes of the allocation; allowed: 1, how = "sbatch", or '
            "disturb = true"
        )
    for case, other in _sharing(cases):
        what = f"{case} runs on no cpus of its own" if case is other else f"{case} and {other} share cpus"
        raise InputError(
            f"{where}, and {what}; allowed: cpus for each case, of which no two share one, or disturb = true"
        )


def _sharing(cases: Sequence[tuple[Case, Sequence[Placement]]]) -> Iterator[tuple[Case, Case]]:
    """Pairs of cases that have cpus in common; a case with itself where it may run on all."""
    cpus = []
    for case, placements in cases:
        if not all(placement.cpus for placement in placements):
            yield case, case
            return
        cpus.append((case, {cpu for placement in placements for cpu in placement.cpus}))
    for (case, mine), (other, theirs) in combinations(cpus, 2):
        if mine & theirs:
            yield case, other
            return
