"""Gathers for xarray: traces of SEG-Y or SU files, or of an index of several, with what their headers say of them.

Headers, or the index, are read at once; samples where they are used.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray import DataArray, Dataset, Variable
from xarray.backends import BackendArray
from xarray.core import indexing

from fathometer.base.errors import InputError
from fathometer.storage.contents import contents_of
from fathometer.storage.lazy_arrays import OpenedFiles, chunks_of
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.reference_system import crs_of_file
from fathometer.storage.traces.segy import decode_traces, moving_sources, scan

TRACE, TIME = "trace", "time"
UNITS = {"x": "m", "y": "m", "z": "m", "offset": "m", "delay": "s"}
POINTS = tuple(f"{what}_{axis}" for what in ("source", "receiver") for axis in "xyz")


@dataclass(frozen=True, eq=False)
class Traces:
    """Where the samples of n traces lie, and what is known of each.

    Attributes:
        layouts: of the files. file, trace: (n,) number of each trace's file, and of the trace in it.
        interval, start: s, of all of them. headers: by name, (n,) each. notes: on contradictions, one line each.
    """

    layouts: tuple[Layout, ...]
    file: NDArray[np.int64]
    trace: NDArray[np.int64]
    interval: float
    start: float
    headers: dict[str, NDArray[Any]]
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        """Of each trace."""
        return self.layouts[0].samples


def open_gathers(reference: str, directory: Path, interval: float | None = None) -> DataArray:
    """Traces (trace, time), float32, with coordinates along both; read where they are used.

    interval: of the samples in s, in place of the headers'. InputError as of `scan`; a volume; traces of an index that
    differ in samples, interval or start.
    """
    found = contents_of(reference, directory, None if _is_index(reference) else "gathers")
    traces = _indexed(found.path) if found.kind == "index" else _scanned(found.path, interval)
    if found.kind == "index" and interval is not None:
        raise InputError(f"{reference}: a sample interval is given; found an index; allowed: files of SEG-Y or SU")
    array = _TracesArray(traces)
    data = Variable((TRACE, TIME), indexing.LazilyIndexedArray(array), {"long_name": "amplitude"})
    chunks = dict(zip((TRACE, TIME), chunks_of(array.shape), strict=True))
    times = traces.start + traces.interval * np.arange(traces.samples)
    coordinates = {TIME: Variable((TIME,), times, {"units": "s", "long_name": "time"})}
    for name, values in traces.headers.items():
        unit = UNITS.get(name.rpartition("_")[2])
        attributes = {"long_name": name.replace("_", " "), **({"units": unit} if unit else {})}
        coordinates[name] = Variable((TRACE,), values, attributes)
    about: dict[str, Any] = {"interval": traces.interval, "files": [str(layout.path) for layout in traces.layouts]}
    if traces.notes:
        about["notes"] = list(traces.notes)
    first = traces.layouts[0]
    if first.kind == "SEG-Y" and (crs := crs_of_file(first.path, first.start)):
        about["crs"] = crs
    data.attrs |= about
    data.encoding |= {"preferred_chunks": chunks, "token": array.token}
    name = found.path.stem
    return Dataset({name: data}, coordinates)[name].set_xindex("shot")


def _is_index(reference: str) -> bool:
    from fathometer.storage.index import INDEX_SUFFIX

    return Path(reference).suffix.lower() == INDEX_SUFFIX


def _scanned(path: Path, interval: float | None) -> Traces:
    """Those of one file."""
    table = scan(path, interval)
    headers: dict[str, NDArray[Any]] = {"shot": table.ffid, "channel": table.channel}
    for what, points in (("source", table.source), ("receiver", table.receiver)):
        headers |= {f"{what}_{axis}": points[:, number] for number, axis in enumerate("xyz")}
    headers["offset"] = np.hypot(*(table.receiver - table.source)[:, :2].T)
    headers["live"] = table.live
    if np.ptp(table.delays):
        headers["delay"] = table.delays
    numbers = np.arange(table.layout.traces)
    notes = (*table.notes, *moving_sources(table))
    start = float(table.delays[0]) if "delay" not in headers else 0.0
    return Traces((table.layout,), np.zeros_like(numbers), numbers, table.interval, start, headers, notes)


def _indexed(path: Path) -> Traces:
    """Those of an index that can be used."""
    from fathometer.storage.index.anomalies import UNUSABLE
    from fathometer.storage.index.table import TraceIndex

    index = TraceIndex(path)
    names = ("file", "trace", "shot", "channel", *POINTS, "offset", "interval", "samples", "delay", "flags")
    rows = index.columns(names)
    usable = rows["flags"] & np.uint16(UNUSABLE) == 0
    rows = {name: values[usable] for name, values in rows.items()}
    if not usable.any():
        raise InputError(f"{path}: none of its traces can be used")
    for name in ("samples", "interval", "delay"):
        values = np.unique(rows[name])
        if len(values) > 1:
            raise InputError(
                f"{path}: traces differ in {name}: found {values[0]:g} to {values[-1]:g}; allowed: one value, or one "
                "file at a time"
            )
    headers = {name: rows[name] for name in ("shot", "channel", *POINTS)} | {"offset": np.abs(rows["offset"])}
    start, interval = float(rows["delay"][0]), float(rows["interval"][0])
    files = rows["file"].astype(np.int64)
    return Traces(index.layouts(), files, rows["trace"], interval, start, headers, tuple(index.summary.notes))


class _TracesArray(BackendArray):
    """The samples of traces, of which those of chosen traces are read for each selection."""

    def __init__(self, traces: Traces, files: OpenedFiles | None = None) -> None:
        # Wherever this program goes meanwhile, the files stay where they are.
        layouts = tuple(replace(layout, path=layout.path.absolute()) for layout in traces.layouts)
        self._traces, self._lock = replace(traces, layouts=layouts), threading.Lock()
        self._files = files or OpenedFiles.of(layout.path for layout in layouts)
        self.shape, self.dtype = (len(traces.trace), traces.samples), np.dtype(np.float32)

    def __reduce__(self) -> tuple[type[_TracesArray], tuple[Traces, OpenedFiles]]:
        return _TracesArray, (self._traces, self._files)

    @property
    def token(self) -> str:
        """What tells it from another array for dask: also from the same files before a change."""
        return f"{self._files} {self._traces.interval} {self.shape}"

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: tuple[int | slice | NDArray[np.integer[Any]], ...]) -> NDArray[np.float32]:
        rows, times = key
        one = not isinstance(rows, slice | np.ndarray)
        numbers = np.atleast_1d(np.arange(self.shape[0])[rows])
        with self._lock:
            self._files.require_unchanged()
            values = self._samples(numbers)[:, times]
        return values[0] if one else values

    def _samples(self, numbers: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        values = np.empty((len(numbers), self.shape[1]), np.float32)
        files = self._traces.file[numbers]
        for file in np.unique(files).tolist():
            own = np.flatnonzero(files == file)
            values[own] = decode_traces(self._traces.layouts[file], self._traces.trace[numbers][own])
        return values
