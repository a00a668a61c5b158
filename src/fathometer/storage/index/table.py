"""The file of an index: Parquet, one row a trace, and a summary in its metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import TypeAdapter

from fathometer.base import ledger
from fathometer.base.errors import InputError, shortened
from fathometer.storage.index.anomalies import RANGES, UNUSABLE, Anomaly
from fathometer.storage.index.seal import EMPTY, KEY, sealed
from fathometer.storage.json_text import json_values
from fathometer.storage.number_table import arrow_file
from fathometer.storage.probe import PARQUET, probe
from fathometer.storage.reading import decoding, readable, reading
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import HEADER
from fathometer.storage.traces.intervals import LONGEST_SECONDS
from fathometer.storage.traces.notches import Notch
from fathometer.storage.traces.sample_formats import SAMPLE_FORMATS

METADATA_KEY = b"fathometer.survey"
VERSION = 1
GROUP_ROWS = 1 << 16  # of a row group
REBUILD = "run `fathometer survey build` again"

COLUMNS = {
    "file": pa.dictionary(pa.int32(), pa.string()),
    "trace": pa.int64(),
    "shot": pa.int64(),
    "channel": pa.int64(),
    **{f"{what}_{axis}": pa.float64() for what in ("source", "receiver") for axis in "xyz"},
    "offset": pa.float64(),
    "interval": pa.float64(),
    "samples": pa.int32(),
    "delay": pa.float64(),
    "flags": pa.uint16(),
}
SCHEMA = pa.schema(list(COLUMNS.items()))
Rows = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class IndexedFile:
    """Layout of one indexed file, and its size and time, by which a change is noticed."""

    name: str  # relative to the folder of the index where the file is in or below it, else absolute
    kind: str
    order: str
    revision: int
    format: int
    start: int
    samples: int
    traces: int
    interval: float  # s, 0: none
    feet: bool
    size: int
    modified: int  # ns since 1970
    notes: tuple[str, ...]
    additional: int = 0  # headers of a trace beside the first
    pairs: bool = False  # bytes are swapped in pairs

    def check(self) -> None:
        """ValueError where this can be no layout of a file."""
        allowed = {
            "order": self.order in ("<", ">"),
            "format": self.format in SAMPLE_FORMATS,
            "samples": self.samples > 0,
            "traces": self.traces > 0,
            "start": self.start >= 0,
            "interval": 0 <= self.interval < LONGEST_SECONDS,
        }
        for name, right in allowed.items():
            if not right:
                raise ValueError(f"{shortened(self.name)}: {name} {shortened(getattr(self, name))}")
        width = HEADER + self.samples * np.dtype(SAMPLE_FORMATS[self.format][0]).itemsize
        if self.start + self.traces * width > self.size:
            raise ValueError(f"{shortened(self.name)}: {self.traces} traces in {self.size} bytes")

    def layout(self, folder: Path) -> Layout:
        """The layout of the file. InputError where it is missing, or has changed since it was indexed."""
        path = folder / self.name
        if not path.exists():
            raise InputError(f"{path}: no such file, and an index names files from its own folder on; {REBUILD}")
        status = readable(path).stat()
        changes = []
        if status.st_size != self.size:
            changes.append(f"it has {status.st_size} bytes, and had {self.size}")
        if status.st_mtime_ns != self.modified:
            changes.append("it was written to since")
        if changes:
            raise InputError(f"{path}: has changed since it was indexed: {' and '.join(changes)}; {REBUILD}")
        return Layout(
            path=path,
            order="<" if self.order == "<" else ">",
            revision=self.revision,
            format=self.format,
            start=self.start,
            samples=self.samples,
            traces=self.traces,
            interval=self.interval,
            feet=self.feet,
            notes=self.notes,
            kind=self.kind,
            additional=self.additional,
            pairs=self.pairs,
        )


@dataclass(frozen=True)
class Sampling:
    """One kind of sampling, its number of traces, and the first file that has some."""

    samples: int
    interval: float  # s
    delay: float  # s
    traces: int
    file: str

    def __str__(self) -> str:
        return f"{self.samples} samples every {self.interval:g} s from {self.delay:g} s"


@dataclass(frozen=True)
class Summary:
    """Summary of an index: its files, and totals of its rows."""

    files: tuple[IndexedFile, ...]
    words: dict[str, str]  # header words
    traces: int
    shots: int  # different shot keys
    usable: int  # traces
    samplings: tuple[Sampling, ...] = ()  # of live traces, the most frequent first
    anomalies: tuple[Anomaly, ...] = ()
    notes: tuple[str, ...] = ()
    judged: bool = False  # whether loud traces were looked for
    notches: tuple[Notch, ...] = ()  # what traces show of ghosts at the depths of their headers
    version: int = field(default=VERSION)

    def text(self) -> bytes:
        """JSON, as stored in the metadata."""
        return json.dumps(asdict(self), ensure_ascii=True).encode()

    @classmethod
    def of(cls, text: bytes) -> Self:
        """The inverse of `text`; KeyError, TypeError or ValueError where it is damaged."""
        values = json_values(text)
        if values["version"] != VERSION:
            raise ValueError(f"version {values['version']}, where {VERSION} is known")
        summary = TypeAdapter(cls).validate_python(values)
        for file in summary.files:
            file.check()
        return summary


class TableWriter:
    """Writes rows into a Parquet file, GROUP_ROWS at a time, and the summary at the end."""

    def __init__(self, path: Path) -> None:
        # Dictionary encoding of numbers would be smaller, but take twice the time.
        self._file = arrow_file(path, "wb")
        self._writer = pq.ParquetWriter(self._file, SCHEMA, compression="snappy", use_dictionary=["file"])
        self._waiting: list[tuple[str, Rows]] = []
        self._count = 0

    def add(self, file: str, rows: Rows) -> None:
        """Add rows of one file, its name as in the summary; rows: by column, (n,) each."""
        self._waiting.append((file, rows))
        self._count += len(rows["trace"])
        if self._count >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._count:
            return
        names = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in self._waiting))}
        numbers = np.concatenate([np.full(len(rows["trace"]), names[name], np.int32) for name, rows in self._waiting])
        columns = [pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(list(names), pa.string()))]
        for name in SCHEMA.names[1:]:
            columns.append(pa.array(np.concatenate([rows[name] for _, rows in self._waiting]), COLUMNS[name]))
        self._writer.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), row_group_size=self._count)
        self._waiting, self._count = [], 0

    def close(self, summary: Summary) -> None:
        """Write the remaining rows, and the summary."""
        self._flush()
        self._writer.add_key_value_metadata({METADATA_KEY: summary.text(), KEY: EMPTY})
        self.abandon()

    def abandon(self) -> None:
        """Close a file that will be removed."""
        self._writer.close()
        if not isinstance(self._file, Path):
            self._file.close()


class TraceIndex:
    """An index of a survey, open for reading. InputError where the file is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        readable(path)
        with reading(path), ledger.io(bytes=path.stat().st_size):
            if not sealed(path):  # by an earlier version, or foreign
                probe(path, PARQUET, "Arrow")
        with reading(path), decoding(path, "is not a Parquet file"):
            self._file = pq.ParquetFile(arrow_file(path))
            text = (self._file.metadata.metadata or {}).get(METADATA_KEY)
            schema = self._file.schema_arrow
        if text is None or not set(COLUMNS) <= set(schema.names):
            raise InputError(f"{path}: is no index of a survey; allowed: what `fathometer survey build` wrote")
        for name, kind in COLUMNS.items():
            if schema.field(name).type not in (kind, getattr(kind, "value_type", kind)):
                raise InputError(f"{path}: its column {name} is of type {schema.field(name).type}; allowed: {kind}")
        with decoding(f"{path}: its list of files", "is damaged", f"; {REBUILD}"):
            self.summary = Summary.of(text)

    @property
    def folder(self) -> Path:
        """The folder that names of its files are relative to."""
        return self.path.parent

    def layouts(self) -> tuple[Layout, ...]:
        """Layouts of all files; InputError where one is missing or has changed."""
        return tuple(file.layout(self.folder) for file in self.summary.files)

    def groups(self, names: Sequence[str]) -> Iterator[Rows]:
        """Columns by name, (n,) each, one row group at a time; `file` as numbers of the summary's files."""
        numbers = {file.name: number for number, file in enumerate(self.summary.files)}
        for group in range(self._file.num_row_groups):
            wanted = list(dict.fromkeys((*names, "flags")))
            with decoding(f"{self.path}: row group {group}", "is damaged", f"; {REBUILD}"):
                with ledger.io(bytes=self._stored_bytes(group, names)):
                    table = self._file.read_row_group(group, columns=wanted)
                rows = plain_rows(table, numbers)
            self._check(rows, group)
            yield {name: rows[name] for name in names}

    def _check(self, rows: Rows, group: int) -> None:
        """InputError where a usable row holds what no build writes: the numbers go into cells of the grid."""
        usable = rows["flags"] & np.uint16(UNUSABLE) == 0
        for name, (least, most) in RANGES.items():
            if name not in rows:
                continue
            wrong = np.flatnonzero(usable & ~((least <= rows[name]) & (rows[name] <= most)))  # NaN is wrong too
            if len(wrong):
                raise InputError(
                    f"{self.path}: row {wrong[0]} of row group {group}: found {name} = {rows[name][wrong[0]]:g}; "
                    f"allowed in a trace that can be used: {least:g} to {most:g}; {REBUILD}"
                )

    def _stored_bytes(self, group: int, names: Sequence[str]) -> int:
        """Bytes of the columns of a row group in the file."""
        row_group = self._file.metadata.row_group(group)
        columns = (row_group.column(number) for number in range(row_group.num_columns))
        return sum(column.total_compressed_size for column in columns if column.path_in_schema in names)

    def columns(self, names: Sequence[str]) -> Rows:
        """Columns by name, (rows,) each, of all row groups."""
        parts = list(self.groups(names))
        return {name: np.concatenate([part[name] for part in parts]) for name in names}


def plain_rows(table: pa.Table, numbers: Mapping[str, int]) -> Rows:
    """Columns of a table as arrays (n,), names of files replaced by their `numbers`."""
    rows = {}
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if name == "file":
            column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
            column = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
            file_numbers = np.array([numbers[file] for file in column.dictionary.to_pylist()], np.int32)
            rows[name] = file_numbers[column.indices.to_numpy()]
        else:
            if column.null_count:
                raise ValueError(f"{column.null_count} rows have no {name}")
            rows[name] = column.to_numpy(zero_copy_only=False)
    return rows
