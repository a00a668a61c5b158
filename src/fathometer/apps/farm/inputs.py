"""The files that a farm reads, and by what a later run knows that its results are of the same tasks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.apps.farm.farm_file import CommandTable, FarmFile, FastaTasks, TasksTable
from fathometer.apps.farm.forms import names_in
from fathometer.base.errors import InputError
from fathometer.base.meant import file_meant
from fathometer.storage.fingerprint import FileState

INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|lua)[\d.]*|(?:da|ba|z|k)?sh|Rscript|julia|node|octave(?:-cli)?")
PACKAGES = {"blastp": "ncbi-blast+", "blastn": "ncbi-blast+", "blastx": "ncbi-blast+", "tblastn": "ncbi-blast+"}


def program_of(input: FarmFile, table: TasksTable) -> Path | None:
    """The program of a command; None where a task's values name it. Raises InputError where it is not there."""
    if not table.words or names_in(table.words[:1]):
        return None
    word = table.words[0]
    if "/" in word:
        path: Path | None = input.place(word)
        found = shutil.which(str(path))
    else:
        found = shutil.which(word)
    if found is None:
        package = f" (package {PACKAGES[word]})" if word in PACKAGES else ""
        raise InputError(
            f'{input.path}: [[tasks]] command: found no program "{word}"; needed: one that is installed{package}'
        )
    return Path(found)


def database_files(input: FarmFile, table: FastaTasks) -> list[Path]:
    """The files of a database of BLAST+. Raises InputError where there are none."""
    if table.database is None:
        return []
    path = input.place(table.database)
    try:
        found = sorted(one for one in path.parent.iterdir() if one.name.startswith(f"{path.name}.") and one.is_file())
    except OSError:
        found = []
    if not found:
        raise InputError(
            f"{input.path}: [[tasks]] database: found no files {path}.*; needed: a database that makeblastdb has made, "
            "by its path without suffix"
        )
    return found


def files_of(input: FarmFile) -> dict[str, Path]:
    """All files that a run reads, by what names them: the input file first. A script after its interpreter counts, too.

    Raises InputError where one of them is missing.
    """
    found = {str(input.path): input.path}
    for table in input.tasks:
        for path in _files(input, table).values():
            found.setdefault(str(path), path)
    return found


def _files(input: FarmFile, table: TasksTable) -> dict[str, Path]:
    """The files that tasks read, by their names in the input."""
    found: dict[str, Path] = {}
    if not isinstance(table, CommandTable):
        return found
    program = program_of(input, table)
    if program is not None:
        found[table.words[0]] = program
    for name in (*table.input_files().values(), *table.files):
        path = input.place(name)
        if not path.is_file():
            raise InputError(
                f"{input.path}: [[tasks]]: found no file {path}; needed: one that can be read{file_meant(path)}"
            )
        found[name] = path
    script = next(iter(table.words[1:2]), "")
    interpreted = program is not None and INTERPRETERS.fullmatch(program.name) is not None
    if interpreted and script and "\0" not in script and not names_in([script]) and input.place(script).is_file():
        found[script] = input.place(script)
    if isinstance(table, FastaTasks) and table.database is not None:
        for path in database_files(input, table):
            found[f"{table.database}{path.name.removeprefix(Path(table.database).name)}"] = path
    return found


def fingerprint(input: FarmFile, states: Mapping[str, FileState], queries: Mapping[str, int]) -> dict[str, Any]:
    """What the results depend on, JSON-ready. states: of the files, with their hashes. queries: sequences of a task, by
    the tasks' name, where these are measured."""
    tasks = {}
    for table in input.tasks:
        keys = table.model_dump(mode="json", exclude_none=True)
        for free in ("priority", "tries", "time_limit", "after", "files", "priority_field"):
            keys.pop(free, None)
        keys["queries"] = keys.get("queries", queries.get(table.name))
        if "values" in keys:
            keys["values"] = [list(one) for one in keys["values"].items()]  # in an order, by which points have numbers
        keys["read"] = {name: states[str(path)].words for name, path in _files(input, table).items()}
        tasks[keys.pop("name")] = keys
    found = {"order": list(tasks), "tasks": tasks, "framing": input.output.framing}
    return found if input.output.framing == "zstd" else found | {"compression": input.output.compression}


def states_of(paths: Sequence[Path], earlier: Mapping[str, Any]) -> tuple[list[FileState], list[FileState]]:
    """The files as they are now: those whose hash is known from an earlier look, and those that are to be read."""
    known, unknown = [], []
    for path in paths:
        state = FileState.of(path)
        before = _earlier(earlier.get(str(path)))
        if before is not None and state.untouched_since(before):
            known.append(before)
        else:
            unknown.append(state)
    return known, unknown


def _earlier(values: Any) -> FileState | None:
    try:
        return FileState.from_dict(values)
    except (KeyError, TypeError, ValueError):
        return None
