"""Published tables as they are shown beside a study's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.formatting import NONE, thousands
from fathometer.lab.studies.landscape import NO_UNIT, SEE_UNIT, TEXT, Landscape, Value, landscape
from fathometer.lab.studies.study_file import LandscapeTable

MISSING = f"{NONE}: not given there."


@dataclass(frozen=True)
class Published:
    """A published table: heads with unit and whether they hold numbers; texts of as many cells a row."""

    title: str
    heads: Sequence[tuple[str, str, bool]]
    rows: Sequence[Sequence[tuple[str, bool]]]
    source: str
    notes: Sequence[str]


def published(asked: Sequence[LandscapeTable], folder: Path | None) -> list[Published]:
    """The tables that a study names. Files of the user's own are looked for beside the study and in its folder.

    Raises InputError as `landscape`.
    """
    return [shown(landscape(table.table, _file(table.file, folder)).only(table.columns)) for table in asked]


def shown(table: Landscape) -> Published:
    """A table as text, its digits as published."""
    heads = [
        (column.name, "" if column.unit in (TEXT, NO_UNIT, SEE_UNIT) else column.unit, column.number)
        for column in table.columns
    ]
    rows = [
        [(_text(value), column.number) for value, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    title = f"{table.application}: {table.title}" if table.application else table.title
    missing = [MISSING] if any(value == "" for row in table.rows for value in row) else []
    return Published(f"{title} ({table.id})", heads, rows, table.source_text(), [*missing, *table.notes])


def _file(name: str | None, folder: Path | None) -> Path | None:
    if name is None:
        return None
    places = (
        [Path(name)] if folder is None or Path(name).is_absolute() else [folder.resolve().parent / name, folder / name]
    )
    return next((place for place in places if place.exists()), places[0])


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value or NONE
    return thousands(f"{value:,}") if abs(value) >= 10_000 else f"{value}"
