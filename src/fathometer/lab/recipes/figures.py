"""The figures that a run has left: in its output, in JSON or CSV files, or made from other figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fathometer.base.errors import InputError, shortened
from fathometer.lab.recipes import expression
from fathometer.lab.recipes.csv_column import column
from fathometer.lab.recipes.json_path import values_at
from fathometer.lab.recipes.keys import FigureTable
from fathometer.lab.recipes.line_search import TIME_LIMIT, Found, Search, found_in
from fathometer.lab.recipes.run_folder import RunFiles
from fathometer.lab.recipes.taking import Taken, number_of
from fathometer.lab.recipes.template import Values, fill_pattern
from fathometer.storage.json_text import json_values

LARGEST_JSON = 1 << 28  # bytes; it is read whole


def figures_of(
    tables: Sequence[FigureTable], folder: Path, values: Values, seconds: float = TIME_LIMIT
) -> tuple[dict[str, float], list[str]]:
    """The figures of a run, by name, in their units; and a line for each that is missing or no number.

    Args:
        tables: names are unique. folder: of the run, with its output in the files `stdout` and `stderr`.
        values: of the names in braces and in expressions, with wall_seconds. seconds: for the patterns of one file.

    Raises InputError for a name in braces that has no value, and for a file that is not in the folder.
    """
    reading = _Reading(tables, folder, values, seconds)
    figures: dict[str, float] = {}
    problems: list[str] = []
    for table in tables:
        try:
            number = reading.number(table, figures)
        except _MissingError as missing:
            if table.default is not None and missing.absent:
                figures[table.name] = table.default
            elif not (table.optional and missing.absent):
                problems.append(f"{table.name}: {missing}")
        else:
            figures[table.name] = number
    return figures, problems


def variable(name: str) -> str:
    """The name of a figure in expressions."""
    return "_".join(name.split())


class _MissingError(Exception):
    """Why a figure has no number. absent: it is not there; else there is something that cannot be right."""

    def __init__(self, reason: str, absent: bool = True) -> None:
        super().__init__(shortened(reason, 400))
        self.absent = absent


class _Known(dict[str, expression.Value]):
    """What names in an expression stand for. One that has no value is missing where it is used: `a if b else c` needs a
    only where b is true."""

    def __missing__(self, name: str) -> expression.Value:
        raise _MissingError(f"no {name}, of which it is made")


class _Reading:
    """The files of a run, of which each is searched once."""

    def __init__(self, tables: Sequence[FigureTable], folder: Path, values: Values, seconds: float) -> None:
        self._run, self._values, self._seconds = RunFiles(folder, values), values, seconds
        self._files = {table.name: self._run.name(table.file) for table in tables}
        self._found: dict[str, Found] = {}
        self._search([table for table in tables if table.pattern is not None])

    def _search(self, tables: Sequence[FigureTable]) -> None:
        for file in dict.fromkeys(self._files[table.name] for table in tables):
            with suppress(_MissingError):  # told of each figure
                path = self._path(file)
                here = [table for table in tables if self._files[table.name] == file]
                searches = [self._wanted(table) for table in here]
                found = found_in(path, searches, self._seconds)
                self._found |= dict(zip((table.name for table in here), found, strict=True))

    def _wanted(self, table: FigureTable) -> Search:
        filled = [
            fill_pattern(word, self._values) if word is not None else None
            for word in (table.pattern, table.not_after, table.since)
        ]
        return Search(filled[0] or "", table.take, table.skip, *filled[1:])

    def _path(self, file: str) -> Path:
        """Where a file is. Raises _MissingError."""
        try:
            path = self._run.path(file)
        except ValueError as error:
            raise _MissingError(f"{file}: {error}", absent=False) from None
        if not path.is_file():
            raise _MissingError(f"no file {file}")
        return path

    def number(self, table: FigureTable, figures: Mapping[str, float]) -> float:
        """A figure in its unit. Raises _MissingError."""
        if table.expression is not None:
            number = self._calculated(table.expression, figures)
        elif table.pattern is not None:
            number = self._matched(table)
        else:
            number = self._read(table)
        if not math.isfinite(number * table.scale):
            raise _MissingError(f"{number:g} times {table.scale:g} is not a finite number", absent=False)
        return number * table.scale

    def _matched(self, table: FigureTable) -> float:
        file = self._files[table.name]
        self._path(file)
        found = self._found[table.name]
        if found.problem:
            raise _MissingError(f"{file}: {found.problem}", absent=False)
        if found.value is not None:
            return found.value
        pattern = f"'{self._wanted(table).pattern}' in {file}"
        if not found.count:
            raise _MissingError(f"no match of {pattern}")
        raise _MissingError(f"{found.count} matches of {pattern}, none of which is left to count")

    def _read(self, table: FigureTable) -> float:
        """A number of a JSON or CSV file."""
        file = self._files[table.name]
        path = self._path(file)
        taken = Taken(table.take, table.skip)
        try:
            for value in _json(path, table.json_path) if table.json_path else column(path, table.csv_column or ""):
                taken.add(0.0 if table.take == "count" else _number(value))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise _MissingError(f"{file}: {reason}", absent=False) from None
        if taken.problem:
            raise _MissingError(f"{file}: {taken.problem}", absent=False)
        if taken.value is None:
            left = f", after {table.skip} that are left out" if taken.count else ""
            raise _MissingError(f"nothing at {table.json_path or table.csv_column} in {file}{left}")
        return taken.value

    def _calculated(self, text: str, figures: Mapping[str, float]) -> float:
        known = _Known(
            (name, value) for name, value in self._values.items() if isinstance(value, bool | int | float | str)
        )
        known.update((variable(name), value) for name, value in figures.items())
        try:
            return _number(expression.read(text)(known))
        except (InputError, ValueError) as error:
            raise _MissingError(str(error), absent=False) from None


def _json(source: Path, path: str) -> Iterable[object]:
    """The values at a path of a JSON file. Raises OSError and ValueError."""
    if (size := source.stat().st_size) > LARGEST_JSON:
        raise ValueError(f"JSON of {size} bytes; allowed: {LARGEST_JSON}")
    return values_at(path, json_values(source.read_bytes()))


def _number(value: object) -> float:
    """Of a value in a file: a number, or a text that is one. Raises ValueError."""
    if isinstance(value, str):
        return number_of(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"found {shortened(value, 40)}; allowed: a number")
    return float(value)
