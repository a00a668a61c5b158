"""Published tables, beside which a study's own rows can be set: those that come with the program, and files of the
user's own in the same format (published.toml says what it is)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, naming, shortened
from fathometer.base.formatting import NONE, thousands
from fathometer.base.meant import did_you_mean
from fathometer.config.input_file import read_toml
from fathometer.lab.printed_arithmetic import check_of, disagreements

PUBLISHED = Path(__file__).with_name("published.toml")
MOST_NEAR = 4  # ids that an error suggests
TEXT, SEE_UNIT, NO_UNIT = "text", "see unit", "1"

DISAGREES = "≠"  # beside a printed number
MISSING = f"{NONE}: not given there."

Value = str | int | float


@dataclass(frozen=True)
class Column:
    """A column: its name and unit; "1" is a count or a ratio, "text" words, "see unit" points at the column "unit"."""

    name: str
    unit: str

    @property
    def number(self) -> bool:
        """Whether it holds numbers."""
        return self.unit != TEXT


@dataclass(frozen=True)
class Landscape:
    """A published table.

    Attributes:
        id: by which studies ask for it. application, title: of the table.
        source, machine: names and texts, as published. columns; rows: as many values each, "" where one is missing.
        notes: what relative values refer to, doubts, how its arithmetic was checked.
        disagreeing: cells that do not follow from the others as the table's checks say, by row and name of the column.
    """

    id: str
    application: str
    title: str
    source: Mapping[str, Value]
    machine: Mapping[str, Value]
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str]
    disagreeing: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def only(self, names: Sequence[str]) -> Landscape:
        """The table with these columns; all for none. Raises InputError for an unknown one."""
        known = [column.name for column in self.columns]
        for name in names:
            if name not in known:
                raise InputError(
                    f"columns: unknown column {shortened(name, 60)} of {self.id}; known: {', '.join(known)}"
                    f"{did_you_mean(name, known)}"
                )
        if not names:
            return self
        places = [known.index(name) for name in names]
        rows = [[row[place] for place in places] for row in self.rows]
        columns = [self.columns[place] for place in places]
        return Landscape(
            id=self.id,
            application=self.application,
            title=self.title,
            source=self.source,
            machine=self.machine,
            columns=columns,
            rows=rows,
            notes=self.notes,
            disagreeing={key: text for key, text in self.disagreeing.items() if key[1] in names},
        )

    def source_text(self) -> str:
        """Who published it, where and when, and on which machine."""
        order = ("organisation", "document", "date")
        known = [str(self.source[name]) for name in order if self.source.get(name)]
        others = [f"{name}: {value}" for name, value in self.source.items() if name not in (*order, "machine")]
        machine = [str(self.source["machine"])] if self.source.get("machine") else []
        machine += [f"{name.replace('_', ' ')}: {value}" for name, value in self.machine.items() if value != ""]
        text = f"Source: {', '.join([*known, *others])}."
        return f"{text} Machine: {'; '.join(machine)}." if machine else text


@dataclass(frozen=True)
class Published:
    """A published table: heads with unit and whether they hold numbers; texts of as many cells a row."""

    title: str
    heads: Sequence[tuple[str, str, bool]]
    rows: Sequence[Sequence[tuple[str, bool]]]
    source: str
    notes: Sequence[str]


def shown(table: Landscape) -> Published:
    """A table as text, its digits as published."""
    heads = [
        (column.name, "" if column.unit in (TEXT, NO_UNIT, SEE_UNIT) else column.unit, column.number)
        for column in table.columns
    ]
    rows = [
        [
            (
                f"{_shown(value)} {DISAGREES}" if (place, column.name) in table.disagreeing else _shown(value),
                column.number,
            )
            for value, column in zip(row, table.columns, strict=True)
        ]
        for place, row in enumerate(table.rows)
    ]
    title = f"{table.application}: {table.title}" if table.application else table.title
    missing = [MISSING] if any(value == "" for row in table.rows for value in row) else []
    return Published(
        f"{title} ({table.id})", heads, rows, table.source_text(), [*missing, *_disagreements(table), *table.notes]
    )


def _disagreements(table: Landscape) -> list[str]:
    if not table.disagreeing:
        return []
    first = table.columns[0].name
    texts = [
        f"{first} {_shown(table.rows[row][0])}{_second(table, row)}: {text}"
        for (row, _), text in sorted(table.disagreeing.items())
    ]
    return [f"{DISAGREES}: does not follow from the other printed numbers, within their rounding: {'; '.join(texts)}."]


def _second(table: Landscape, row: int) -> str:
    """The second column's value, where the first one's names several rows."""
    if len(table.columns) < 2 or sum(one[0] == table.rows[row][0] for one in table.rows) < 2:
        return ""
    return f", {table.columns[1].name} {_shown(table.rows[row][1])}"


def landscapes(path: Path = PUBLISHED) -> dict[str, Landscape]:
    """The tables of a file, by id, in order. Raises InputError of one line with the table and the key that is wrong."""
    values = read_toml(path, "the file of published tables")
    tables = values.get("table")
    if not isinstance(tables, list) or not tables:
        raise InputError(f"{path}: found no [[table]]; allowed: one or more, each with id, title, columns and rows")
    found: dict[str, Landscape] = {}
    for number, table in enumerate(tables, 1):
        where = f"{path}: [[table]] {number}"
        landscape = _landscape(table, where)
        if landscape.id in found:
            raise InputError(f"{where} id: found {shortened(landscape.id, 60)} twice; allowed: an id for each table")
        found[landscape.id] = landscape
    return found


def landscape(name: str, path: Path | None = None) -> Landscape:
    """A table by its id. Raises InputError with the nearest ids where there is none of it, and as `landscapes`."""
    path = path or PUBLISHED
    known = landscapes(path)
    if name in known:
        return known[name]
    near = get_close_matches(name, known, MOST_NEAR, 0.4) or [key for key in known if name and name.lower() in key]
    where = "" if path == PUBLISHED else f"{path}: "
    allowed = (
        f"near ones: {', '.join(near[:MOST_NEAR])}" if near else f"the first of {len(known)}: {', '.join([*known][:4])}"
    )
    raise InputError(f"{where}landscape: unknown table {shortened(name, 60)}; {allowed}")


def _landscape(table: Any, where: str) -> Landscape:
    if not isinstance(table, dict):
        raise InputError(f"{where}: found {shortened(table, 40)}; allowed: a table")
    texts = {key: _text(table, key, where) for key in ("id", "title")}
    columns = [
        _column(column, f"{where} columns, {place}") for place, column in enumerate(_list(table, "columns", where), 1)
    ]
    rows = _list(table, "rows", where)
    for place, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            found = f"{len(row)} values" if isinstance(row, list) else shortened(row, 40)
            raise InputError(f"{where} rows, {place}: found {found}; allowed: {len(columns)}, one a column")
        for value, column in zip(row, columns, strict=True):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number or isinstance(value, str)) or (number and not column.number):
                raise InputError(
                    f"{where} rows, {place}, {column.name}: found {shortened(value, 40)}; "
                    f"allowed: {'a number, or text' if column.number else 'text'}"
                )
    notes = table.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise InputError(f"{where} notes: found {shortened(notes, 40)}; allowed: a list of texts")
    checks = table.get("checks", [])
    if not isinstance(checks, list):
        raise InputError(f"{where} checks: found {shortened(checks, 40)}; allowed: a list of tables")
    names = [column.name for column in columns]
    with naming(where):
        wrong = disagreements(
            names,
            [column.unit in (NO_UNIT, "B", "points") for column in columns],
            rows,
            [check_of(check, f"checks, {place}") for place, check in enumerate(checks, 1)],
        )
    return Landscape(
        **texts,
        application=str(table.get("application", "")),
        source=_mapping(table, "source", where),
        machine=_mapping(table, "machine", where),
        columns=columns,
        rows=rows,
        notes=notes,
        disagreeing={(row, names[column]): text for (row, column), text in wrong.items()},
    )


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"{where} {key}: found {shortened(value, 40)}; allowed: text")
    return value


def _list(table: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list) or not value:
        raise InputError(f"{where} {key}: found {shortened(value, 40)}; allowed: a list that is not empty")
    return value


def _mapping(table: Mapping[str, Any], key: str, where: str) -> dict[str, Value]:
    value = table.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(one, str | int | float) for one in value.values()):
        raise InputError(f"{where} {key}: found {shortened(value, 40)}; allowed: names with texts or numbers")
    return value


def _column(column: Any, where: str) -> Column:
    if (
        not isinstance(column, dict)
        or not isinstance(column.get("name"), str)
        or not isinstance(column.get("unit"), str)
    ):
        raise InputError(f"{where}: found {shortened(column, 60)}; allowed: {{ name = …, unit = … }}")
    return Column(column["name"], column["unit"])


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return value or NONE
    return thousands(f"{value:,}") if abs(value) >= 10_000 else f"{value}"
