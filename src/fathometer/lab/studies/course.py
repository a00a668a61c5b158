"""A study from its file to its results: begun, gone on with, ended."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError, shortened
from fathometer.base.host import cpu_model
from fathometer.base.ledger import now
from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.batch_runner import cancel_jobs
from fathometer.lab.studies.builds import to_repeat
from fathometer.lab.studies.cluster_runner import clusters_in
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.mixes import with_throughput
from fathometer.lab.studies.results import CaseRuns, Results, Run, seconds_of_runs
from fathometer.lab.studies.rounds import Rounds, StudyDisplay
from fathometer.lab.studies.selection import winners
from fathometer.lab.studies.store import (
    LOCK,
    MACHINE,
    STUDY,
    Header,
    erase,
    read_case,
    read_header,
    read_results,
    refuse_links,
    remove_run,
    require_own,
    run_folder,
    write_case,
    write_header,
)
from fathometer.lab.studies.study import ReadyStudy
from fathometer.record.envelope import plain
from fathometer.record.machine import own_commit
from fathometer.record.machine_of_runs import machine_of_runs
from fathometer.record.schema import problem_of
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values
from fathometer.storage.lock import FileLock

# What may change between two sessions of a study: how long it goes on, and how its answer is shown.
FREE = ("title", "question", "limits", "table", "plot", "landscape", "predict", "beside", "output")
FREE_IN = {
    "runs": ("repetitions", "budget", "keep"),
    "launch": ("deadline",),
    "gate": ("figures", "tolerance"),
}


def run_study(
    study: ReadyStudy, command: Sequence[str], overwrite: bool, progress: StudyDisplay, retry_failed: bool = False
) -> Results:
    """Run a study, or go on with it; all that it has measured.

    command: the words of the command line. overwrite: what an earlier study has left in the folder is removed.
    retry_failed: runs that have failed are made again.
    Raises InputError where the folder is in use, or holds another study or something else; FathometerError where
    results cannot be written.
    """
    folder = study.file.folder
    require_own(folder)
    with atomic.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / LOCK) as lock:
        if not lock.acquire():
            raise InputError(f"{folder}: in use by another `fathometer study run`; allowed: one at a time")
        try:
            return _session(study, command, overwrite, progress, retry_failed)
        finally:
            study.runs.close()


def _session(
    study: ReadyStudy, command: Sequence[str], overwrite: bool, progress: StudyDisplay, retry_failed: bool
) -> Results:
    """A session of a study, whose folder is locked."""
    folder = study.file.folder
    study.runs.recover()  # what a killed study has left running
    header = _begun(study, folder, command, overwrite)
    runs = {case.name: read_case(folder, case) for case in study.cases}
    if retry_failed:
        _forget_failed(folder, study.cases, runs)
    spent = seconds_of_runs(run for some in runs.values() for run in some)
    rounds = Rounds(
        cases=study.cases,
        runs=runs,
        limits=study.limits,
        work=study.runs,
        keep=lambda case, made: write_case(folder, case, made),
        progress=progress,
        clock=now,
        spent=spent,
        groups=study.pairs,
    )
    ended = rounds.measure(lambda made: not study.rule.wide(_values(study, made)))
    if study.pairs and ended != "budget":
        ended = ended if rounds.repeat(lambda made: to_repeat(study.pairs, made, rounds.measured)) else "budget"
    results = read_results(folder)
    if not rounds.measure_again(winners(results, answer_of(results))):
        ended = "budget"
    _require_unchanged(header.inputs, study.inputs, "while the study ran: its runs cannot be compared")
    write_header(folder, replace(header, ended=ended, machine=_machine(folder, header)))
    return read_results(folder)


def require_success(results: Results) -> None:
    """Raises FathometerError where runs were made, and none has succeeded."""
    runs = [run for case in results.cases.values() for run in case.runs]
    if runs and all(run.failed for run in runs):
        reason = shortened(runs[-1].failed.splitlines()[0], 120)
        raise FathometerError(f"{results.title}: no run has succeeded: all {len(runs)} failed, the last: {reason}")


def under_way(folder: Path) -> bool:
    """Whether a `study run` is at work in a study's folder on this host."""
    try:
        with FileLock(folder / LOCK, create=False) as lock:
            return not lock.acquire(shared=True)
    except FathometerError:  # there is no lock, or none can be had
        return False


def _forget_failed(folder: Path, cases: Sequence[Case], runs: dict[str, list[Run]]) -> None:
    """Remove the runs that have failed, with what they have left: they are made again."""
    for case in cases:
        kept = [run for run in runs[case.name] if not run.failed]
        if len(kept) < len(runs[case.name]):
            for run in runs[case.name]:
                if run.failed:
                    remove_run(folder, run_folder(folder, case, run.kind, run.number))
            write_case(folder, case, kept)
            runs[case.name] = kept


def _values(study: ReadyStudy, runs: Mapping[str, Sequence[Run]]) -> dict[tuple[str, str], list[float]]:
    """The merits of all cases: what is to be known as precisely as asked."""
    merits = [name for name, info in study.figures.items() if info.role == "merit"]
    cases = with_throughput({case.name: CaseRuns(case, runs[case.name]) for case in study.cases}, study.baselines)
    return {(name, figure): list(case.values(figure).values()) for name, case in cases.items() for figure in merits}


def _begun(study: ReadyStudy, folder: Path, command: Sequence[str], overwrite: bool) -> Header:
    """The header of the study in the folder, which is written where there is none."""
    if overwrite and (folder / STUDY).exists():
        refuse_links(folder)
        cancel_jobs(folder)
        erase(folder)
    before = read_header(folder) if (folder / STUDY).exists() else None
    header = Header(
        title=study.file.title,
        question=study.file.question,
        definition=plain(study.file.model_dump(mode="json")),
        text=_text_of(study.file.path),
        designs={name: [case.name for case in cases] for name, cases in study.designs.items()},
        factors={name: list(values) for name, values in study.file.factors.items()},
        figures=study.figures,
        settings={case.name: dict(case.settings) for case in study.cases},
        machine=machine_of_runs() if before is None else before.machine,
        command=list(command),
        inputs=fingerprints(study.inputs),
        versions=study.runs.versions(),
        baselines=study.baselines,
    )
    if before is not None:
        _require_same(before, header, folder)
    write_header(folder, header)
    return header


def _require_same(before: Header, header: Header, folder: Path) -> None:
    """Raises InputError where the study in the folder is another one than that which is to go on."""
    hint = "allowed: the same, --overwrite to begin anew, or another [output] directory"
    for name, value in header.definition.items():
        if name in FREE:
            continue
        earlier = before.definition.get(name)
        if name in FREE_IN and isinstance(earlier, dict):
            value, earlier = ({key: v for key, v in x.items() if key not in FREE_IN[name]} for x in (value, earlier))
        if value != earlier:
            raise InputError(f"{folder}: the study there was begun with another [{name}]; {hint}")
    if before.versions != header.versions:
        raise InputError(f"{folder}: the study there was begun with other programs; {hint}")
    here: dict[str, object] = {"commit": own_commit()}
    if header.definition["launch"]["how"] != "sbatch":  # jobs say of themselves where they run, see job.py
        here |= {"cpu": cpu_model(), "logical_cpus": os.cpu_count()}
    for key, value in here.items():
        if before.machine.get(key) != value:
            found = f"{before.machine.get(key)}, now {value}"
            raise InputError(f"{folder}: the study there was begun with {key.replace('_', ' ')} {found}; {hint}")
    if changed := _changed(before.inputs, header.inputs):
        raise InputError(f"{folder}: {changed[0]} has changed since the study there was begun; {hint}")


def _require_unchanged(before: Mapping[str, Any], inputs: Sequence[Path], words: str) -> None:
    if changed := _changed(before, fingerprints(inputs)):
        raise FathometerError(f"{changed[0]}: has changed {words}")


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Files that are others, that are new, or that are gone."""
    return [name for name in {**after, **before} if before.get(name) != after.get(name)]


def fingerprints(inputs: Iterable[Path]) -> dict[str, list[int]]:
    """Size (bytes) and time of change (ns) of each file; of folders, of all files in them."""
    found = {}
    for path in inputs:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                state = file.stat()
                found[str(file)] = [state.st_size, state.st_mtime_ns]
    return found


def _machine(folder: Path, header: Header) -> dict[str, Any]:
    """The machine of the runs: the host or the jobs' first node, and the clusters on it."""
    found = _machine_of_jobs(folder) or dict(header.machine)
    clusters = clusters_in(folder)
    return found | {"clusters": clusters} if clusters else found


def _machine_of_jobs(folder: Path) -> dict[str, Any]:
    """The node of the study's first job; {} where it has none."""
    with suppress(OSError, ValueError):
        described: dict[str, Any] = json_values((folder / MACHINE).read_bytes())
        return {} if problem_of(described, "machine") else described
    return {}


def _text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8")
