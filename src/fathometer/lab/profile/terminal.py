"""A profile on the terminal: its sentence, the facts, the functions that take most time, what they mean."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping
from typing import Any

from fathometer.base.text_tables import TextColumn, ruled
from fathometer.lab.profile.panels import FUNCTIONS, heading, panels
from fathometer.report.tables import text
from fathometer.runs.application import Panel

MOST_ROWS = 12  # of the functions
SHOWN = ("name", "calls", "seconds", "share", "waiting_seconds", "each_text", "bytes_out", "bytes_in")  # of the columns
NARROWEST = 100  # characters of a line, so that in a log not every word is on a line of its own
WIDEST = 1000  # of a table: as wide as its numbers, of which none is cut off


def text_of_profile(record: Mapping[str, Any]) -> str:
    """All of it, as wide as the terminal."""
    from pathlib import Path

    wide = max(NARROWEST, shutil.get_terminal_size().columns)
    shown = heading(record)
    lines = [*textwrap.wrap(f"{shown.finding}.", wide), "", *(f"{name:>14}  {value}" for name, value in shown.facts)]
    told = [*record["validity"]["reasons"], *record["results"].get("notes", [])]
    lines += [line for text in told for line in textwrap.wrap(f"! {text}.", wide, subsequent_indent="  ")]
    for panel in panels(record, Path()):
        if panel["title"].startswith(FUNCTIONS):
            lines += ["", _table(panel, len(record["results"]["functions"]))]
    for finding in record["results"]["findings"]:
        lines += textwrap.wrap(f"{finding['what']}.", wide, initial_indent="· ", subsequent_indent="  ")
        meaning = f"It means: {finding['means']}. To try: {finding['attempt']}."
        lines += textwrap.wrap(meaning, wide, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines)


def _table(panel: Panel, number: int) -> str:
    """number: of all its rows."""
    title = FUNCTIONS if number <= MOST_ROWS else f"{FUNCTIONS}: the first {MOST_ROWS} of {number}"
    shown = [(place, column) for place, column in enumerate(panel["columns"]) if column[0] in SHOWN]
    columns = [TextColumn(title, right=place > 0, whole=True) for place, (_, title, _) in shown]
    rows = [[text(row[place], unit) for place, (_, _, unit) in shown] for row in panel["rows"][:MOST_ROWS]]
    return ruled(title, columns, rows, WIDEST)
