"""A study's answer on the terminal: the sentence, the tables, what is left."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

from fathometer.base.text_tables import TextColumn, ruled
from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.levels import assumption
from fathometer.lab.studies.report.cells import Cell, Legend
from fathometer.lab.studies.report.compared import answered
from fathometer.lab.studies.report.progress import progress_line
from fathometer.lab.studies.report.remarks import remarks
from fathometer.lab.studies.report.tables import View
from fathometer.lab.studies.results import Results

NARROWEST = 100  # characters of a table, so that in a log not every word is on a line of its own
MOST_ROWS = 60  # of a table


def text_of_study(results: Results, now: float) -> str:
    """The whole answer as text, as wide as the terminal. now: s since 1970. Raises InputError as `answer_of`."""
    wide = max(NARROWEST, shutil.get_terminal_size().columns)
    answer = answer_of(results)
    said, shown, legend = answered(results, answer)
    lines = [results.title, *([results.question] if results.question else []), progress_line(results, now), ""]
    lines += textwrap.wrap(said, wide)
    for view in shown:
        lines += ["", _table(view, wide)]
    lines += [line for sign, text in legend.texts.items() for line in _hanging(f"{sign}  ", text, wide)]
    lines += [line for text in [assumption(results), *remarks(results, answer)] for line in _hanging("· ", text, wide)]
    return "\n".join(lines)


def text_of_comparison(shown: View, legend: Legend, told: Sequence[str]) -> str:
    """A comparison of two studies as text, as wide as the terminal."""
    wide = max(NARROWEST, shutil.get_terminal_size().columns)
    lines = [_table(shown, wide)]
    lines += [line for sign, text in legend.texts.items() for line in _hanging(f"{sign}  ", text, wide)]
    return "\n".join([*lines, *(line for text in told for line in textwrap.wrap(text, wide))])


def _hanging(before: str, text: str, wide: int) -> list[str]:
    return textwrap.wrap(text, wide, initial_indent=before, subsequent_indent=" " * len(before))


def _table(view: View, wide: int) -> str:
    columns = []
    for head in view.heads:
        below = f"({head.unit})" if head.unit else head.below
        columns.append(TextColumn(f"{head.text}\n{below}" if below else head.text, right=head.number))
    rows = [[_cell(cell) for cell in row] for row in view.rows[:MOST_ROWS]]
    lines = [ruled(view.title, columns, rows, wide), ""]
    if len(view.rows) > MOST_ROWS:
        lines.append(f"… and {len(view.rows) - MOST_ROWS} more rows: fathometer study report, or export")
    return "\n".join([*lines, *(line for note in view.notes for line in textwrap.wrap(note, wide))])


def _cell(cell: Cell) -> str:
    """A cell on up to three lines: value with signs, interval, note."""
    first = " ".join([cell.text, *cell.signs])
    return "\n".join(line for line in (first, cell.interval, cell.note) if line)
