"""A study's folder: what was asked, and every run, one JSON file a case; written whole or not at all.

    FOLDER/study.json            the study as it was begun: its file's tables, cases, figures, machine
    FOLDER/cases/CASE.json       a case: settings and runs
    FOLDER/runs/CASE/KIND-N/     what a run has left: result.json, stdout, stderr, its own record, files
    FOLDER/jobs/                 with sbatch: its jobs (batch_runner.py)
    FOLDER/machine.json          with sbatch: the node of the first job, as in records
    FOLDER/clusters/NAME.json    with [place] cluster: what the links gave (cluster_runner.py)
    FOLDER/study.html, .md, .parquet   the answer (report/files.py)
    FOLDER/tables/NN-TITLE.csv, .md    its tables, a file each
    FOLDER/predicted.json        with [predict]: what the program predicts (predictions.py)
    FOLDER/lock                  held by the process that runs the study

study.json is written first and removed last: what lies in a folder without it is not a study's. A case's file is
replaced after each of its runs, so that a study that was killed has lost the run under way, no more.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from fathometer.base.errors import InputError, shortened
from fathometer.base.removal import Mark, remove_empty, remove_file, remove_tree
from fathometer.config.problems import first_problem
from fathometer.lab.recipes.expression import Value
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.mixes import ALONE, Baselines, with_throughput
from fathometer.lab.studies.results import CaseRuns, FigureInfo, Results, Run, RunKind
from fathometer.lab.studies.study_file import Study
from fathometer.record.envelope import plain
from fathometer.record.schema import problem_of
from fathometer.storage import atomic
from fathometer.storage.json_text import as_written, json_object

STUDY, CASES, RUNS, LOCK = "study.json", "cases", "runs", "lock"
JOBS, MACHINE, CLUSTERS = "jobs", "machine.json", "clusters"
TABLES, TABLES_LIST, PREDICTED = "tables", "written.json", "predicted.json"
PAGE, TEXT, PARQUET = "study.html", "study.md", "study.parquet"
SCHEMA_VERSION = 1
MARK = Mark(STUDY, b'{\n "schema_version": ')
_NAMES = (STUDY, MACHINE, PAGE, TEXT, PARQUET, PREDICTED)
# Names of what a study writes into its folders: nothing else is ever removed from there.
_CASE = r"[0-9a-f]{10}"
_FILES = {
    CASES: re.compile(rf"{_CASE}\.json"),
    JOBS: re.compile(r"fathometer-study-[0-9a-f]{10}\.(?:json|out)"),
    TABLES: re.compile(r"[0-9]{2,}-[a-z0-9-]+\.(?:csv|md)|written\.json"),
    CLUSTERS: re.compile(r"study-[0-9a-f]{10}-[A-Za-z0-9-]+\.json"),
}
_RUN = re.compile(rf"{_CASE}/(?:{'|'.join(get_args(RunKind))})-\d+")


@dataclass(frozen=True)
class Header:
    """A study as it was begun: what study.json holds.

    Attributes: as of `Results`, and
        text: of the study file. settings: of the cases, by their names.
        inputs: size and time of change of each file that is read.
    """

    title: str
    question: str
    definition: Mapping[str, Any]
    text: str
    designs: Mapping[str, Sequence[str]]
    factors: Mapping[str, Sequence[Value]]
    figures: Mapping[str, FigureInfo]
    settings: Mapping[str, Mapping[str, Value]]
    machine: Mapping[str, Any]
    command: Sequence[str]
    inputs: Mapping[str, Any]
    versions: Mapping[str, str]
    baselines: Baselines
    ended: str = ""


def write_header(folder: Path, header: Header) -> None:
    """Write study.json. Raises FathometerError that names it where that fails."""
    values = {"schema_version": SCHEMA_VERSION} | {name: getattr(header, name) for name in header.__dataclass_fields__}
    values["figures"] = {name: asdict(info) for name, info in header.figures.items()}
    _write(folder / STUDY, values)


def read_header(folder: Path) -> Header:
    """Read study.json. Raises InputError of one line where there is none or where it is none of a study's."""
    path = folder / STUDY
    values = json_object(path)
    if values.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"{path}: found schema_version {shortened(values.get('schema_version'), 20)}; allowed: {SCHEMA_VERSION}"
        )
    try:
        header = as_written(Header, values)
        _check(header)
    except ValueError as error:
        raise _damaged(path, error) from None
    try:
        Study.model_validate({"title": "", **header.definition})
    except ValidationError as error:
        raise _damaged(path, f"definition: {first_problem(error, header.definition, Study)}") from None
    return header


def _check(header: Header) -> None:
    """Raises ValueError where the machine is none, and where parts do not fit each other."""
    if wrong := problem_of(header.machine, "machine"):
        raise ValueError(wrong)
    for design, names in header.designs.items():
        if unknown := [name for name in names if name not in header.settings]:
            raise ValueError(f"designs.{design}: {unknown[0]} is no case")
    for name, settings in header.settings.items():
        alone = ALONE in settings
        if not all(settings[key] in header.factors[key] if key in settings else alone for key in header.factors):
            raise ValueError(f"settings.{name}: no values of the factors")
    for name, jobs in header.baselines.items():
        if unknown := [case for case in (name, *jobs.values()) if case not in header.settings]:
            raise ValueError(f"baselines.{name}: {unknown[0]} is no case")
    if unknown := [name for name, info in header.figures.items() if info.name != name]:
        raise ValueError(f"figures.{unknown[0]}: of another name")


def _damaged(path: Path, what: object) -> InputError:
    return InputError(f"{path}: damaged: {what}; allowed: as it was written")


@dataclass(frozen=True)
class _CaseFile:
    """What a case's file holds."""

    settings: Mapping[str, Value]
    runs: Sequence[Run]


def write_case(folder: Path, case: Case, runs: Sequence[Run]) -> None:
    """Replace a case's file."""
    (folder / CASES).mkdir(exist_ok=True)
    _write(folder / CASES / f"{case.name}.json", {"settings": case.settings, "runs": [run.as_dict() for run in runs]})


def read_case(folder: Path, case: Case) -> list[Run]:
    """The runs of a case; none where it has no file. Raises InputError where the file is damaged."""
    path = folder / CASES / f"{case.name}.json"
    if not path.exists():
        return []
    try:
        return list(as_written(_CaseFile, json_object(path)).runs)
    except ValueError as error:
        raise _damaged(path, error) from None


def read_results(folder: Path) -> Results:
    """All that a study has measured so far, also while it runs. Raises InputError where the folder holds no study."""
    if not folder.is_dir() or not (folder / STUDY).exists():
        raise InputError(f"{folder}: no study; allowed: a folder that `fathometer study run` has written")
    header = read_header(folder)
    cases = {name: Case(settings) for name, settings in header.settings.items()}
    if other := [name for name, case in cases.items() if case.name != name]:
        raise _damaged(folder / STUDY, f"settings.{other[0]}: of another case")
    return Results(
        title=header.title,
        question=header.question,
        definition=header.definition,
        designs=header.designs,
        factors=header.factors,
        figures=header.figures,
        cases=with_throughput(
            {name: CaseRuns(case, read_case(folder, case)) for name, case in cases.items()}, header.baselines
        ),
        machine=header.machine,
        command=header.command,
        ended=header.ended,
        versions=header.versions,
        text=header.text,
        baselines=header.baselines,
    )


def require_own(folder: Path) -> None:
    """Raises InputError where a folder has files named as those of a study, but no study that this program has begun:
    nothing there is replaced or removed."""
    there = [name for name in (*_NAMES, CASES, RUNS, JOBS, CLUSTERS, TABLES) if os.path.lexists(folder / name)]
    if there and not MARK.on(folder):
        found = ", ".join(there)
        raise InputError(
            f"{folder}: holds {found}, but no {STUDY} of this program's: they are not a study's, and are neither "
            "replaced nor removed; allowed: another folder for the results (--output, or [output] directory)"
        )


def refuse_links(folder: Path) -> None:
    """Raises InputError where a folder of a study is a link to one that is not empty: what lies there is not removed
    (and files of these names may be anybody's)."""
    for path in (folder / name for name in (RUNS, *_FILES)):
        if path.is_symlink() and any(path.glob("*")):
            raise InputError(
                f"{path}: is a link to {os.readlink(path)[:200]!r}, and --overwrite removes nothing there; allowed: "
                "remove the link, or what lies there, yourself and repeat, or another folder for the results (--output)"
            )


def is_table(name: str) -> bool:
    """Whether a file of this name in the folder of tables is one of them."""
    return _FILES[TABLES].fullmatch(name) is not None


def erase(folder: Path) -> None:
    """Remove a study from its folder; what it has not written stays. Raises FathometerError where a run's folder cannot
    be removed, InputError, with nothing removed, as `refuse_links`."""
    refuse_links(folder)
    for run in sorted((folder / RUNS).glob("*/*")):
        if _RUN.fullmatch(f"{run.parent.name}/{run.name}"):
            remove_run(folder, run)
            remove_empty(run.parent)
    for place, own in _FILES.items():
        for path in (folder / place).glob("*"):
            if own.fullmatch(path.name):
                remove_file(path)
        atomic.remove_parts(folder / place, own)
        remove_empty(folder / place)
    remove_empty(folder / RUNS)
    atomic.remove_parts(folder, re.compile("|".join(map(re.escape, _NAMES))))
    for name in (MACHINE, PREDICTED, STUDY):
        remove_file(folder / name)


def remove_run(folder: Path, run: Path, keep: Collection[str] = ()) -> None:
    """Remove the folder of a run from that of its study, but for files of some names. Raises FathometerError where that
    cannot be done."""
    remove_tree(run, folder, MARK, keep)


def run_folder(folder: Path, case: Case, kind: str, number: int) -> Path:
    """Where a run leaves its files."""
    return Path(f"{folder}/{RUNS}/{case.name}/{kind}-{number}")  # one path, not four: there may be 10,000 cases


def _write(path: Path, values: Mapping[str, Any]) -> None:
    text = json.dumps(plain(values), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    atomic.write(path, text.encode(errors="backslashreplace"))
