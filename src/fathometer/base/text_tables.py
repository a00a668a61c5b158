"""Tables as text: in aligned columns, with rules for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TextColumn:
    """A column of text.

    Attributes:
        head: above it, perhaps of several lines. right: whether its texts end below each other, as numbers do.
        least: characters that it is wide, or more where a text is longer. gap: blanks before it.
        most: characters, beyond which a text goes on on the next line (`ruled` only); None: as the table has room.
        whole: texts are neither cut nor continued on the next line (`ruled` only).
    """

    head: str = ""
    right: bool = False
    least: int = 0
    gap: int = 1
    most: int | None = None
    whole: bool = False


def aligned(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], indent: str = "") -> list[str]:
    """Lines of a table, heads first where there are any. A row may have fewer cells than there are columns."""
    heads = [column.head for column in columns]
    lines = [heads, *rows] if any(heads) else rows
    widths = [
        max([column.least, *(len(line[place]) for line in lines if place < len(line))])
        for place, column in enumerate(columns)
    ]
    text = []
    for line in lines:
        cells = [
            " " * column.gap + (cell.rjust(width) if column.right else cell.ljust(width))
            for cell, column, width in zip(line, columns, widths, strict=False)
        ]
        text.append((indent + "".join(cells)).rstrip())
    return text


def ruled(title: str, columns: Sequence[TextColumn], rows: Iterable[Sequence[str]], wide: int) -> str:
    """A table under its title with a line below the heads, at most so many characters wide."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left", title_style="", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(
            escape(column.head),
            justify="right" if column.right else "left",
            overflow="fold",
            max_width=column.most,
            no_wrap=column.whole,
        )
    for row in rows:
        table.add_row(*map(escape, row))
    out = io.StringIO()
    Console(file=out, width=wide, color_system=None, force_terminal=False, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def markdown_lines(heads: Sequence[str], numbers: Sequence[bool], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; columns of numbers stand to the right."""
    return [
        "| " + " | ".join(map(cell_text, heads)) + " |",
        "|" + "|".join("---:" if number else "---" for number in numbers) + "|",
        *("| " + " | ".join(map(cell_text, row)) + " |" for row in rows),
    ]


def cell_text(value: str) -> str:
    """Text that stays in its cell of Markdown and is only text."""
    for letter in "\\|<>*_`[]":
        value = value.replace(letter, f"\\{letter}")
    return " ".join(value.split()) or " "


def comma_separated(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV with a head line; None is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return out.getvalue()
