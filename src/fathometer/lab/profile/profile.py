"""`fathometer profile`: run a command, gather what its ranks left, make the record."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import Mark, remove_file
from fathometer.lab.profile import monitoring
from fathometer.lab.profile.account import account_of, account_without_times
from fathometer.lab.profile.advice import findings
from fathometer.lab.profile.headline import headline
from fathometer.lab.profile.jobs import NAME, Damaged, Job, chosen, jobs_in, told
from fathometer.lab.profile.launching import PROBLEM, Ended, run, run_in
from fathometer.lab.profile.options import ProfileOptions
from fathometer.lab.profile.own_account import own_account
from fathometer.lab.profile.programs import obstacles, refuse_static
from fathometer.lab.profile.results import results_of
from fathometer.lab.profile.shares import MOST_RANKS, figures, missing_ranks, ranks_text
from fathometer.lab.profile.symbols import named
from fathometer.lab.profile.uncounted import SEEN, what_was_seen, why_nothing
from fathometer.record.envelope import BEGINNING, plain, record
from fathometer.record.machine_of_runs import machine_of_runs
from fathometer.record.profiled import HIDE, OWN_RECORD

RECORD, PAGE = "profile.json", "profile.html"  # in the profile's folder
MARK = Mark(RECORD, BEGINNING)
_LEFT = re.compile("|".join((NAME.pattern, monitoring.NAME.pattern, *map(re.escape, (PROBLEM, SEEN, OWN_RECORD)))))


def make_profile(
    options: ProfileOptions, words: Sequence[str], machine: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], Ended]:
    """The record of a profile, and how the command ended. words: of this command line. machine: where it is known.

    A file of a rank that cannot be read is left out, which the record says.
    Raises InputError where the folder has a profile already, for a static program, and where no process of the command
    has called MPI_Init; FathometerError where the library could not count, and where no file can be read.
    """
    _prepare(options)
    begin = time.monotonic()
    ended = _run(options) if options.command else Ended(0, False)
    seconds = time.monotonic() - begin
    reasons = []
    if ended.interrupted:
        reasons.append("the command was interrupted")
    elif ended.code:
        reasons.append(f"the command ended with exit code {ended.code}")
    if options.profiler == "ompi":
        results, damaged = _monitored(options, ended, seconds)
        account = account_without_times(results)
    else:
        jobs, damaged = _jobs(options, ended)
        job = chosen(jobs, options.job)
        results, account = results_of(job), account_of(job)
        if options.hide_arguments:
            results["program"] = results["program"].partition(" ")[0]
        reasons += doubts(job)
        results["notes"] = notes(jobs, job)
    if damaged:
        several = "files" if len(damaged) > 1 else "file"
        reasons.append(f"{len(damaged)} {several} of ranks cannot be read, and will not be removed: {told(damaged)}")
    if left_out := missing_ranks(results, MOST_RANKS + 1):
        reasons.append(f"no number includes {ranks_text(left_out)}: there is no file that can be read")
    results["damaged"] = [{"file": each.path.name, "problem": each.problem} for each in damaged]
    results["sites"] = named(results["sites"])
    try:
        results["own_account"] = own_account(options.folder, options.hide_arguments)
    except InputError as error:
        reasons.append(f"the program's own account is missing: {error}")
    results["headline"], results["findings"] = headline(results), plain(findings(results))
    made = record(
        application="profile",
        command=[*words[: len(words) - len(options.command)], *options.shown],
        input={
            "command": options.shown,
            "arguments_hidden": options.hide_arguments,
            "folder": options.folder,
            "profiler": options.profiler,
            "counted": list(options.counted),
        },
        machine=machine_of_runs() if machine is None else machine,
        account=account,
        figures=figures(results),
        results=results,
        reasons=reasons,
        finished=not ended.interrupted,
    )
    return made, ended


def remove_left(folder: Path, record: Mapping[str, Any]) -> None:
    """Remove what ranks have left in a folder, but for damaged files: once the record is written, which a full disk can
    prevent."""
    damaged = {each["file"] for each in record["results"]["damaged"]}
    for path in _left(folder):
        if path.name not in damaged:
            remove_file(path)


def _prepare(options: ProfileOptions) -> None:
    folder = options.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written to; allowed: -o with another folder")
    if not options.command:
        return
    if os.path.lexists(folder / RECORD) and not MARK.on(folder):
        raise InputError(
            f"{folder}: holds {RECORD}, which is no record of this program's, and stays; allowed: another folder"
        )
    there = [*_left(folder), *(path for name in (RECORD, PAGE) if (path := folder / name).exists())]
    if there and not options.overwrite:
        raise InputError(f"{folder}: has a profile already ({there[0].name}); allowed: another folder, or --overwrite")
    for path in there:
        remove_file(path)


def _left(folder: Path) -> list[Path]:
    """What ranks have left in a folder."""
    return [path for path in folder.iterdir() if _LEFT.fullmatch(path.name) and not path.is_dir()]


def _run(options: ProfileOptions) -> Ended:
    if options.profiler == "ompi":
        refuse_static(options.command)
        return run_in(options.command, {**os.environ, **monitoring.variables(options.folder)})
    counted = (*options.counted, HIDE) if options.hide_arguments else options.counted
    return run(options.command, options.folder, counted, options.newer)


def _monitored(options: ProfileOptions, ended: Ended, seconds: float) -> tuple[dict[str, Any], list[Damaged]]:
    results, damaged = monitoring.results_in(options.folder, seconds)
    if results is not None:
        return results, damaged
    if damaged:
        raise _unreadable(options, damaged)
    _refuse_failed(options, ended)
    raise InputError(_nothing(options, "wrote no file of Open MPI's monitoring: it is no Open MPI program"))


def _jobs(options: ProfileOptions, ended: Ended) -> tuple[list[Job], list[Damaged]]:
    with suppress(OSError):
        raise FathometerError((options.folder / PROBLEM).read_text(encoding="utf-8", errors="replace").strip())
    jobs, damaged = jobs_in(options.folder)
    if not jobs and damaged:
        raise _unreadable(options, damaged)
    if not jobs:
        _refuse_failed(options, ended)
        raise InputError(_nothing(options, why_nothing(options.command, options.folder)))
    return jobs, damaged


def _refuse_failed(options: ProfileOptions, ended: Ended) -> None:
    if ended.code:
        failed = f"{options.command[0]}: ended with exit code {ended.code} before a process of it called MPI_Init"
        seen = [text for text in (what_was_seen(options.folder), *obstacles(options.command)) if text]
        raise FathometerError("; ".join([failed, *seen]))


def _unreadable(options: ProfileOptions, damaged: Sequence[Damaged]) -> FathometerError:
    kind = FathometerError if options.command else InputError
    return kind(f"{options.folder}: none of {len(damaged)} files of ranks can be read: {told(damaged)}")


def _nothing(options: ProfileOptions, why: str) -> str:
    if not options.command:
        seen = what_was_seen(options.folder)
        told = f"no files of ranks: {seen}" if seen else "no files of ranks"
        return f"{options.folder}: {told}; allowed: a folder in which a profile was counted"
    return f"{options.command[0]}: nothing to profile: {why}"


def doubts(job: Job) -> list[str]:
    """Why a profile is not to be trusted as a whole."""
    reasons = []
    for end in dict.fromkeys(rank.end for rank in job.ranks):
        ranks = [rank for rank in job.ranks if rank.end == end]
        if end != "finalized":
            inside = {rank.inside for rank in ranks if rank.inside}
            where = f", inside {' and '.join(sorted(inside))}" if inside else ""
            reasons.append(
                f"{ranks_text([rank.rank for rank in ranks])} {end}{where}: what had ended by then is counted"
            )
    dropped = sum(rank.dropped for rank in job.ranks)
    if dropped:
        reasons.append(f"{dropped} calls or threads had no room in the tables and are not counted")
    if any(rank.newer_calls for rank in job.ranks):
        reasons.append("functions of MPI 4 with large counts were not listened to; --mpi 4 counts them")
    return reasons


def notes(jobs: Sequence[Job], job: Job) -> list[str]:
    """Which of several jobs this is; what was asked for and is not there."""
    which = f"the command ran {len(jobs)} MPI jobs; this is number {jobs.index(job) + 1} (--job N --keep shows others)"
    refused = {rank.counter_error for rank in job.ranks if "counters" in rank.options and rank.counter_error}
    return [*([which] if len(jobs) > 1 else []), *map(refusal, sorted(refused))]


def refusal(error: int) -> str:
    """Why there are no counters of the processor, in words."""
    match error:
        case errno.ENOENT | errno.EOPNOTSUPP | errno.ENODEV:
            why = "this processor, or the virtual machine, has none to count with"
        case errno.EACCES | errno.EPERM:
            why = "the system does not allow it (kernel.perf_event_paranoid, or a container)"
        case errno.ENOSYS:
            why = "this kernel has no perf events"
        case _:
            why = os.strerror(error)
    return f"no cycles, instructions and cache misses: {why}"
