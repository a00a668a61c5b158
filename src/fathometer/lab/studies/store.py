"""A study's folder: what was asked, and every run, one JSON file a case; written whole or not at all.

    FOLDER/study.json            the study as it was begun: its file's tables, cases, figures, machine
    FOLDER/cases/CASE.json       a case: settings and runs
    FOLDER/runs/CASE/KIND-N/     what a run has left: result.json, stdout, stderr, its own record, files
    FOLDER/jobs/                 with sbatch: its jobs (batch_runner.py)
    FOLDER/machine.json          with sbatch: the node of the first job, as in records
    FOLDER/clusters/NAME.json    with [place] cluster: what the links gave (cluster_runner.py)
    FOLDER/lock                  held by the process that runs the study

A case's file is replaced after each of its runs, so that a study that was killed has lost the run under way, no more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, shortened
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.mixes import Baselines, with_throughput
from fathometer.lab.studies.results import CaseRuns, FigureInfo, Results, Run
from fathometer.record.envelope import plain
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values
from fathometer.storage.reading import readable, reading

STUDY, CASES, RUNS, LOCK = "study.json", "cases", "runs", "lock"
JOBS, MACHINE, CLUSTERS = "jobs", "machine.json", "clusters"
SCHEMA_VERSION = 1


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
    factors: Mapping[str, Sequence[Any]]
    figures: Mapping[str, FigureInfo]
    settings: Mapping[str, Mapping[str, Any]]
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
    values = _read(path)
    if values.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"{path}: found schema_version {shortened(values.get('schema_version'), 20)}; allowed: {SCHEMA_VERSION}"
        )
    try:
        figures = {name: FigureInfo(**info) for name, info in values["figures"].items()}
        given = {name: values[name] for name in Header.__dataclass_fields__}
        return Header(**given | {"figures": figures})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: damaged: {type(error).__name__}: {error}; allowed: as it was written") from None


def write_case(folder: Path, case: Case, runs: Sequence[Run]) -> None:
    """Replace a case's file."""
    (folder / CASES).mkdir(exist_ok=True)
    _write(folder / CASES / f"{case.name}.json", {"settings": case.settings, "runs": [run.as_dict() for run in runs]})


def read_case(folder: Path, case: Case) -> list[Run]:
    """The runs of a case; none where it has no file. Raises InputError where the file is damaged."""
    path = folder / CASES / f"{case.name}.json"
    if not path.exists():
        return []
    values = _read(path)
    try:
        return [Run(**{**run, "marks": tuple(run["marks"])}) for run in values["runs"]]
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged: {type(error).__name__}: {error}; allowed: as it was written") from None


def read_results(folder: Path) -> Results:
    """All that a study has measured so far, also while it runs. Raises InputError where the folder holds no study."""
    if not folder.is_dir() or not (folder / STUDY).exists():
        raise InputError(f"{folder}: no study; allowed: a folder that `fathometer study run` has written")
    header = read_header(folder)
    cases = {name: Case(settings) for name, settings in header.settings.items()}
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


def run_folder(folder: Path, case: Case, kind: str, number: int) -> Path:
    """Where a run leaves its files."""
    return Path(f"{folder}/{RUNS}/{case.name}/{kind}-{number}")  # one path, not four: there may be 10,000 cases


def _write(path: Path, values: Mapping[str, Any]) -> None:
    text = json.dumps(plain(values), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    atomic.write(path, text.encode(errors="backslashreplace"))


def _read(path: Path) -> dict[str, Any]:
    with reading(path):
        data = readable(path).read_bytes()
    try:
        values = json_values(data.decode("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: damaged: not valid JSON: {shortened(error)}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: damaged: no object; allowed: as it was written")
    return values
