"""Tables of numbers in CSV and Parquet: columns by name."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.storage.probe import PARQUET as PARQUET_READ
from fathometer.storage.probe import probe
from fathometer.storage.reading import decoding, readable, reading

CSV, PARQUET = ".csv", ".parquet"
_MOST_NAMES = 12  # of columns in a message


def read_columns(path: Path, names: Collection[str]) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    """The columns of a table that have one of the names, each (rows,) float64; and the names of its other columns.

    Names are compared in lower case and without blanks around them. CSV: a first line with the names, commas between
    columns, # before comments, in UTF-8. Parquet: any numbers. Which of the two: by the suffix.

    InputError: no such file, another suffix, no rows, a name twice, what is no finite number.
    """
    readable(path)
    suffix = path.suffix.lower()
    if suffix not in (CSV, PARQUET):
        raise InputError(f"{path}: found a table with the suffix {suffix!r}; allowed: {CSV} or {PARQUET}")
    with ledger.io(bytes=path.stat().st_size):
        columns, others = (_csv if suffix == CSV else _parquet)(path, names)
    for name, values in columns.items():
        if not len(values):
            raise InputError(f"{path}: holds no rows; needed: at least one")
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise InputError(
                f"{path}: column {name}: found {values[bad[0]]} in row {bad[0] + 1} (from 1); allowed: finite numbers"
            )
    return columns, others


def _chosen(path: Path, found: list[str], names: Collection[str]) -> dict[str, int]:
    """Numbers of the columns with one of the names."""
    chosen: dict[str, int] = {}
    for number, name in enumerate(_plain(name) for name in found):
        if name in names:
            if name in chosen:
                raise InputError(f"{path}: found two columns with the name {name}; allowed: one")
            chosen[name] = number
    if not chosen:
        told = ", ".join(repr(name[:40]) for name in found[:_MOST_NAMES])
        told = f"the columns {told}" if any(found) else "no columns"
        meant = next((words for name in found[:_MOST_NAMES] if (words := did_you_mean(name, names))), "")
        raise InputError(f"{path}: found {told}; known: {', '.join(names)}{meant}")
    return chosen


def _plain(name: str) -> str:
    return name.strip().lower()


def _csv(path: Path, names: Collection[str]) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    with reading(path), path.open(encoding="utf-8-sig", newline="") as file:
        rows = (row for row in csv.reader(file) if row and not row[0].lstrip().startswith("#"))
        found = next(rows, [])
        chosen = _chosen(path, found, names)
        kept = []
        for number, row in enumerate(rows, 1):
            if len(row) < len(found) or any(word.strip() for word in row[len(found) :]):
                what = "fewer" if len(row) < len(found) else "more"
                raise InputError(
                    f"{path}: a row has {what} columns than the first line, which names {len(found)}: row {number} "
                    "(from 1, below the names)"
                )
            kept.append([row[place] for place in chosen.values()])
        values = np.array(kept, dtype=object)
    others = [_plain(name) for name in found if _plain(name) not in chosen]
    numbers = values.reshape(-1, len(chosen)).T
    return {name: _numbers(path, name, numbers[place]) for place, name in enumerate(chosen)}, others


def _numbers(path: Path, name: str, words: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return words.astype(np.float64)
    except ValueError:
        for row, word in enumerate(words, 1):
            try:
                float(word)
            except ValueError:
                raise InputError(
                    f"{path}: column {name}: found {word[:40]!r} in row {row} (from 1, below the names); allowed: "
                    "numbers"
                ) from None
        raise


def arrow_file(path: Path, mode: str = "rb") -> Path | IO[bytes]:
    """What Arrow is given for a path: the path, or an open file where the name is not UTF-8, which Arrow refuses."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return path.open(mode)
    return path


def _parquet(path: Path, names: Collection[str]) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    import pyarrow as pa  # costly, and only for this
    import pyarrow.parquet as pq

    with reading(path):
        probe(path, PARQUET_READ, "Arrow")
    with reading(path), decoding(path, "is no Parquet file that can be read"), pq.ParquetFile(arrow_file(path)) as file:
        found = [str(name) for name in file.schema_arrow.names]
        chosen = _chosen(path, found, names)
        table = file.read(columns=[found[number] for number in chosen.values()])
        columns = {}
        for name, number in chosen.items():
            column = table.column(found[number])
            if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
                raise InputError(f"{path}: column {name}: found values of the type {column.type}; allowed: numbers")
            columns[name] = column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)  # null is NaN
    return columns, [_plain(name) for name in found if _plain(name) not in chosen]
