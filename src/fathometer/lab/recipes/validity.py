"""Whether a run did its work: its exit code, patterns in its output, files, figures with known values."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

from fathometer.lab.recipes.keys import ReferenceTable, ValidityTable
from fathometer.lab.recipes.line_search import TIME_LIMIT, Search, found_in
from fathometer.lab.recipes.run_folder import RunFiles
from fathometer.lab.recipes.template import Values

STDERR = "stderr"


def validity_problems(
    table: ValidityTable,
    folder: Path,
    values: Values,
    exit_code: int,
    figures: Mapping[str, float],
    seconds: float = TIME_LIMIT,
) -> list[str]:
    """A line for each thing that is wrong with a run; none: it did its work.

    Args:
        folder: of the run, with its output in the files `stdout` and `stderr`. values: of the names in braces.
        exit_code: negative: the number of the signal that ended it. figures: as `figures_of` found them.
        seconds: for the patterns of one file.

    Raises InputError for a name in braces that has no value, and for a file that is not in the folder.
    """
    problems = []
    if exit_code not in table.exit_codes:
        problems.append(f"{_ended(exit_code)}; allowed: exit code {' or '.join(map(str, table.exit_codes)) or 'none'}")
    run = RunFiles(folder, values)
    problems += _pattern_problems(table, run, run.name(table.file), seconds)
    for name in map(run.name, table.files):
        try:
            problems += [] if run.path(name).exists() else [f"no file {name}"]
        except ValueError as error:
            problems.append(f"{name}: {error}")
    problems += [problem for known in table.reference if (problem := _reference_problem(known, figures))]
    return problems


def _ended(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"ended by signal {-exit_code}"


def _pattern_problems(table: ValidityTable, run: RunFiles, file: str, seconds: float) -> list[str]:
    problems = []
    for name in dict.fromkeys((file, STDERR)):
        must = run.patterns(table.must) if name == file else []
        patterns = [*must, *run.patterns(table.must_not)]
        if not patterns:
            continue
        try:
            path = run.path(name)
        except ValueError as error:
            problems.append(f"{name}: {error}")
            continue
        if not path.is_file():
            if must:
                problems.append(f"no file {name}, in which '{must[0]}' must occur")
            continue
        found = found_in(path, [Search(pattern, "count") for pattern in patterns], seconds)
        if found[0].problem:
            problems.append(f"{name}: {found[0].problem}")
            continue
        for place, (pattern, matches) in enumerate(zip(patterns, found, strict=True)):
            if (place < len(must)) != bool(matches.count):
                problems.append(f"'{pattern}' {'is missing' if place < len(must) else 'found'} in {name}")
    return problems


def _reference_problem(known: ReferenceTable, figures: Mapping[str, float]) -> str:
    if known.figure not in figures:
        return f"{known.figure}: missing; it must be {known.value:g}"
    value = figures[known.figure]
    if abs(value - known.value) <= known.tolerance * abs(known.value):
        return ""
    within = f", to {known.tolerance:g} of it" if known.tolerance else ""
    return f"{known.figure}: found {value:.10g}; it must be {known.value:.10g}{within}"
