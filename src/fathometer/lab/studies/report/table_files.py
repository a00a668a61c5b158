"""Each table of a report as a file of its own, for other programs: CSV and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fathometer.base.removal import remove_file
from fathometer.base.text_tables import comma_separated
from fathometer.lab.studies.report.markdown import head_text, one_line, view_text
from fathometer.lab.studies.report.tables import View
from fathometer.lab.studies.store import TABLES, is_table
from fathometer.storage import atomic

LONGEST_NAME = 50  # letters


def write_tables(folder: Path, views: Sequence[View]) -> Path:
    """Write tables/NN-title.csv and .md into a study's folder, in place of those of an earlier report; the folder.

    A row of the CSV has of each column its text, and where the cell holds a number that, with the ends of its interval,
    in the figure's own unit. Raises FathometerError where a file cannot be written.
    """
    where = folder / TABLES
    where.mkdir(exist_ok=True)
    kept = set()
    for number, view in enumerate(views, 1):
        name = f"{number:02}-{_plain(view.title)}"
        for suffix, text in ((".csv", _csv(view)), (".md", view_text(view) + "\n")):
            kept.add(name + suffix)
            atomic.write(where / (name + suffix), text.encode(errors="backslashreplace"))
    for path in where.iterdir():
        if path.name not in kept and is_table(path.name):
            remove_file(path)
    return where


def _plain(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:LONGEST_NAME].strip("-") or "table"


def _csv(view: View) -> str:
    numbers = [any(row[place].estimate is not None for row in view.rows) for place in range(len(view.heads))]
    names: list[str] = []
    for head, number in zip(view.heads, numbers, strict=True):
        name = head_text(head)
        names += [name, f"{name}: value", f"{name}: low", f"{name}: high"] if number else [name]
    rows = []
    for cells in view.rows:
        row: list[object] = []
        for cell, number in zip(cells, numbers, strict=True):
            row.append(one_line(cell))
            if number:
                found = cell.estimate
                row += [found.median, found.low, found.high] if found is not None else [None, None, None]
        rows.append(row)
    return comma_separated(names, rows)
