"""Figures of runs that a study profiles: how much of their time is in MPI, how much data they move."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fathometer.base.errors import FathometerError
from fathometer.lab.profile.jobs import chosen, jobs_in, told
from fathometer.lab.profile.launching import PROBLEM, environment
from fathometer.lab.profile.options import ProfileOptions
from fathometer.lab.profile.profile import MARK, RECORD, make_profile, remove_left
from fathometer.lab.profile.programs import has_newer_calls
from fathometer.lab.profile.results import results_of
from fathometer.lab.profile.shares import figures
from fathometer.lab.profile.uncounted import what_was_seen
from fathometer.record.envelope import write_record
from fathometer.report.records import read_record

FOLDER = "profile"  # in a run's folder
RATIO = "MPI over user time"
SHARES = ("calls below 4 KB", "Allreduce of MPI time")  # 0 where there are no such calls
# Names and units, all of which every run has.
UNITS: Mapping[str, str] = MappingProxyType(
    {
        "time in MPI": "seconds",
        "time outside of MPI": "seconds",
        RATIO: "1",
        "load imbalance": "1",
        "data of all ranks": "bytes",
        "data a rank": "bytes",
        "messages": "1",
        "calls of MPI": "1",
        "calls below 4 KB": "1",
        "Allreduce of MPI time": "1",
    }
)


def variables(folder: Path, words: Sequence[str]) -> dict[str, str]:
    """The variables with which a run of these words is counted. folder: of the run.

    Raises FathometerError where the library is not built.
    """
    return environment(folder / FOLDER, (), has_newer_calls(words), os.environ)


def figures_in(folder: Path) -> dict[str, float]:
    """The figures of a run that has ended, from its folder; of several MPI jobs that with the most time.

    Raises FathometerError where its ranks left nothing, or not all of them a file that can be read.
    """
    problem = folder / FOLDER / PROBLEM
    if problem.exists():
        raise FathometerError(f"profile: {problem.read_text(encoding='utf-8', errors='replace').strip()}")
    if MARK.on(folder / FOLDER):  # `keep_record` was the last that was done before a kill
        kept = read_record(folder / FOLDER / RECORD).record["figures"]
        found = dict.fromkeys(SHARES, 0.0) | {figure["name"]: float(figure["value"]) for figure in kept}
        return {name: found[name] for name in UNITS}
    jobs, damaged = jobs_in(folder / FOLDER)
    if damaged:
        raise FathometerError(f"profile: files of ranks cannot be read: {told(damaged)}")
    if not jobs:
        seen = what_was_seen(folder / FOLDER)
        raise FathometerError(f"profile: {seen or 'no process of the run has called MPI_Init'}")
    job = chosen(jobs, None)
    if job.missing:
        raise FathometerError(f"profile: {job.missing} of {job.size} ranks left no file")
    found = {figure.name: figure.value for figure in figures(results_of(job))}
    found = dict.fromkeys(SHARES, 0.0) | found  # of nothing
    missing = [name for name in UNITS if name not in found]
    if missing:
        raise FathometerError(f"profile: no {', '.join(missing)}: the run spent no time outside of MPI")
    return {name: found[name] for name in UNITS}


def keep_record(folder: Path, words: Sequence[str], machine: Mapping[str, Any]) -> None:
    """Make the record of a run's profile from what its ranks have left in its folder, in place of that.

    words: of the run's command. Raises FathometerError where it cannot be written.
    """
    where = folder / FOLDER
    if MARK.on(where):
        return
    made, _ = make_profile(ProfileOptions((), where, ran=tuple(words)), (), machine)
    write_record(where / RECORD, made)
    remove_left(where, made)
