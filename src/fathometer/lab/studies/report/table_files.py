"""Each table of a report as a file of its own, for other programs: CSV and Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.removal import remove_file
from fathometer.base.text_tables import cell_text, comma_separated
from fathometer.lab.studies.report.markdown import head_text, one_line, view_text
from fathometer.lab.studies.report.tables import View
from fathometer.lab.studies.store import TABLES, is_table
from fathometer.lab.studies.store import TABLES_LIST as LIST
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values

LONGEST_NAME = 50  # letters


def write_tables(folder: Path, views: Sequence[View], legend: Mapping[str, str], level: float) -> Path:
    """Write tables/NN-title.csv and .md into a study's folder, in place of those of an earlier report; the folder.

    A row of the CSV has of each column its text, and where the cell holds a number that, with the ends of its interval
    where it has one of this level, in the figure's own unit. legend: of signs. What else lies there stays. Raises
    FathometerError where a file cannot be written, InputError where the folder is a link.
    """
    where = folder / TABLES
    if where.is_symlink():
        raise InputError(f"{where}: is a link; allowed: a folder, or nothing, where tables are written")
    with atomic.writing(where):
        where.mkdir(exist_ok=True)
    earlier = _written(where)
    signs = "".join(f"\n- {cell_text(sign)}: {cell_text(text)}" for sign, text in legend.items())
    kept = []
    for number, view in enumerate(views, 1):
        name = f"{number:02}-{_plain(view.title)}"
        text_of_view = view_text(view) + "\n" + (f"{signs}\n" if signs else "")
        for suffix, text in ((".csv", _csv(view, level)), (".md", text_of_view)):
            kept.append(name + suffix)
            atomic.write(where / (name + suffix), text.encode(errors="backslashreplace"))
    atomic.write(where / LIST, json.dumps(kept, indent=1).encode())
    for name in earlier:
        if name not in kept:
            remove_file(where / name)
    return where


def _written(where: Path) -> list[str]:
    """Names of the tables that an earlier report has left; none where it does not say."""
    try:
        names = json_values((where / LIST).read_bytes())
    except (OSError, ValueError):
        return []
    return [name for name in names if isinstance(name, str) and is_table(name)] if isinstance(names, list) else []


def _plain(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:LONGEST_NAME].strip("-") or "table"


def _csv(view: View, level: float) -> str:
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
                ends = [found.low, found.high] if found is not None and found.reaches(level) else [None, None]
                row += [found.median if found is not None else None, *ends]
        rows.append(row)
    return comma_separated(names, rows)
