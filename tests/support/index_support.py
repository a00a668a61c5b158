"""Indices of files that tests have put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from segy_support import Bytes

from fathometer.storage.index import seal
from fathometer.storage.index.build import build_index
from fathometer.storage.index.table import COLUMNS, METADATA_KEY, TraceIndex
from fathometer.storage.index.words import words_of


def index_of(
    *files: Path,
    strict: bool = False,
    words: tuple[str, ...] = (),
    jobs: int = 2,
    interval: float | None = None,
    said: list[str] | None = None,
) -> TraceIndex:
    """An index beside the first file. said: takes the lines that are printed."""
    output = files[0].parent / "survey.parquet"
    say = (lambda line: None) if said is None else said.append
    return build_index(files, output, words_of(words), jobs, strict, say, interval)


def table_of(index: TraceIndex) -> dict[str, Any]:
    """All columns."""
    return index.columns(list(COLUMNS))


def found(index: TraceIndex) -> dict[str, int]:
    """Counts of the anomalies."""
    return {one.key: one.count for one in index.summary.anomalies}


def live(shots: int = 2, channels: int = 3, samples: int = 4, **options: Any) -> Bytes:
    """Shots 1, 2, … of sound traces without an anomaly: source at (100 shot, 7), receivers 10 m apart, depth 0."""
    trace = [
        {9: shot, 13: channel, 29: 1, 73: 100 * shot, 77: 7, 81: 100 * shot + 10 * channel, 85: 7}
        for shot in range(1, shots + 1)
        for channel in range(1, channels + 1)
    ]
    values = 1.0 + np.arange(float(shots * channels * samples)).reshape(-1, samples)
    return Bytes(values, **{"trace": trace, "every": {117: 4000}} | options)


def summary_of(path: Path) -> bytes:
    """The JSON of an index."""
    with pq.ParquetFile(path) as file:
        return file.metadata.metadata[METADATA_KEY]


def rewritten(path: Path, sealed: bool = True, **columns: object) -> None:
    """The index with one value in some columns; without a seal as earlier versions wrote it."""
    table = pq.read_table(path)
    for name, value in columns.items():
        values = table.column(name).to_pylist()
        values[3] = value
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values, table.schema.field(name).type))
    metadata = {METADATA_KEY: summary_of(path)}
    pq.write_table(table.replace_schema_metadata(metadata | ({seal.KEY: seal.EMPTY} if sealed else {})), path)
    if sealed:
        seal.seal(path)
