"""Columns of CSV files with a head line; separated by commas, or by tabs where the head line has one."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path


def column(path: Path, name: str) -> Iterator[str]:
    """The cells of a column, row by row, without those that are empty.

    Raises OSError, and ValueError where there is no such column or the file is not a CSV file.
    """
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        head = file.readline(csv.field_size_limit())
        file.seek(0)
        rows = csv.reader(file, delimiter="\t" if "\t" in head else ",")
        try:
            names = [cell.strip() for cell in next(rows, [])]
            if name not in names:
                raise ValueError(f"no column {name}; there are: {', '.join(names) or 'none'}")
            place = names.index(name)
            yield from (row[place] for row in rows if place < len(row) and row[place].strip())
        except csv.Error as error:
            raise ValueError(f"not a CSV file: {error}") from None
