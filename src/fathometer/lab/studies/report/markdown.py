"""A study's answer as Markdown: the sentence, tables, remarks, published results, how to repeat it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from fathometer.base.text_tables import cell_text, markdown_lines
from fathometer.lab.landscape import Published
from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.levels import assumption
from fathometer.lab.studies.published import published
from fathometer.lab.studies.report.cells import Cell, Legend
from fathometer.lab.studies.report.compared import answered
from fathometer.lab.studies.report.description import command, configuration, description, keys
from fathometer.lab.studies.report.further import further
from fathometer.lab.studies.report.progress import progress_line
from fathometer.lab.studies.report.remarks import remarks
from fathometer.lab.studies.report.tables import Head, View
from fathometer.lab.studies.results import Results


def markdown(results: Results, folder: Path | None = None) -> str:
    """The whole report. folder: of the study. Raises InputError as `answer_of` and `published`."""
    answer = answer_of(results)
    said, shown, legend = answered(results, answer)
    parts = [f"# {cell_text(results.title)}"]
    parts += [f"*{cell_text(results.question)}*"] if results.question else []
    parts += (
        [] if results.ended else [f"**This study is not complete:** {cell_text(progress_line(results, time.time()))}"]
    )
    parts.append(f"**{cell_text(said)}**")
    more = further(results, answer, folder, legend)
    parts += [view_text(view) for view in shown]
    parts.append(assumption(results))
    if legend.texts:
        parts.append("\n".join(f"- {cell_text(sign)}: {cell_text(text)}" for sign, text in legend.texts.items()))
    for part in more:
        parts.append(f"## {cell_text(part.title)}")
        parts += ["\n".join(f"- {cell_text(text)}" for text in part.sentences)] if part.sentences else []
        parts += [view_text(view) for view in part.views]
    beside = published(answer.landscapes, folder)
    parts += ["## Published results beside"] if beside else []
    parts += [published_text(table) for table in beside]
    parts.append("## How it went\n\n" + "\n".join(f"- {cell_text(text)}" for text in remarks(results, answer)))
    parts.append("## What was measured\n\n" + _pairs(description(results)))
    given = f"with this study file:\n\n{_block(results.text, 'toml')}" if results.text else "with these keys:\n\n"
    given += "" if results.text else _pairs(keys(results))
    parts.append(f"## How to repeat it\n\n{_block(command(results), 'sh')}\n\n{given}")
    for rows in configuration(results):
        if rows["rows"]:
            parts.append(f"## {rows['title']}\n\n{_pairs(rows['rows'])}")
    return "\n\n".join(parts) + "\n"


def compared_text(shown: View, legend: Legend, told: Sequence[str]) -> str:
    """A comparison of two studies."""
    parts = [" ".join(cell_text(text) for text in told), view_text(shown)]
    parts.append("\n".join(f"- {cell_text(sign)}: {cell_text(text)}" for sign, text in legend.texts.items()))
    return "\n\n".join(part for part in parts if part) + "\n"


def published_text(table: Published) -> str:
    """A published table with its source and doubts."""
    heads = [f"{name} ({unit})" if unit else name for name, unit, _ in table.heads]
    rows = [[text for text, _ in row] for row in table.rows]
    lines = [f"### {cell_text(table.title)}", "", *markdown_lines(heads, [number for *_, number in table.heads], rows)]
    return "\n".join([*lines, "", cell_text(table.source), "", *(f"- {cell_text(note)}" for note in table.notes)])


def view_text(view: View) -> str:
    """One table under its title."""
    heads = [head_text(head) for head in view.heads]
    rows = [[one_line(cell) for cell in row] for row in view.rows]
    lines = [f"## {cell_text(view.title)}", "", *markdown_lines(heads, [head.number for head in view.heads], rows)]
    return "\n".join([*lines, *(f"\n{cell_text(note)}" for note in view.notes)])


def head_text(head: Head) -> str:
    """A column's name on one line: speed-up, total; total (s)."""
    text = f"{head.text}, {head.below}" if head.below else head.text
    return f"{text} ({head.unit})" if head.unit else text


def one_line(cell: Cell) -> str:
    """A cell on one line: 1.12 s (1.08 to 1.15) ≈ a."""
    parts = [cell.text]
    parts += [f"({cell.interval})"] if cell.interval else []
    parts += [f"({cell.note})"] if cell.note else []
    return " ".join([*parts, *cell.signs])


def _pairs(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(markdown_lines(["", ""], [False, False], rows))


def _block(text: str, language: str) -> str:
    """A text between fences that are longer than any in it."""
    fence = "`" * max(3, 1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
