"""The files that modelled traces are written into."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import numpy as np

from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.modelled import ModelledTraces
from fathometer.seismic.shots.shot import Shot
from fathometer.storage.traces.modelled_top import line_of_top
from fathometer.storage.traces.recorded_headers import NewGathers, RecordedHeadersWriter
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.formats.segy_place import lines_of_gathers
from fathometer.storage.volumes.place import Place


class TraceFiles:
    """Modelled traces being written by one rank, shot by shot; the files appear if the `with` block ends well.

    place: of the grid's x and y in the world, which the textual header of a geometry's traces tells; recorded headers
    have their own. top: of the model, which it tells too.

    Raises InputError and FathometerError as the writers do.
    """

    def __init__(self, acquisition: Acquisition, modelled: ModelledTraces, place: Place, top: str) -> None:
        self._modelled = modelled
        self._stack = ExitStack()
        samples, interval = acquisition.samples, acquisition.sample_interval
        self._geometry: GatherWriter | None = None
        self._recorded: RecordedHeadersWriter | None = None
        if modelled.recorded:
            pairs = zip(modelled.files, modelled.recorded, modelled.traces, strict=True)
            self._recorded = RecordedHeadersWriter(
                [NewGathers(*new) for new in pairs], samples, interval, acquisition.start, top
            )
        else:
            traces = sum(len(shot.receivers) for shot in acquisition.shots)
            remarks = [*lines_of_gathers(place), line_of_top(top)]
            self._geometry = GatherWriter(modelled.result, samples, interval, traces, remarks)

    def __enter__(self) -> Self:
        if self._geometry is not None:
            self._stack.enter_context(self._geometry)
        if self._recorded is not None:
            self._stack.enter_context(self._recorded)
            try:
                self._write_headers_of_others(self._recorded)
            except BaseException:
                self._stack.__exit__(*sys.exc_info())
                raise
        return self

    def write(self, shot: Shot, traces: np.ndarray) -> None:
        """Write the traces (receivers, samples) of a shot."""
        gather = self._modelled.gather(shot)
        if self._geometry is not None:
            first = int(gather.trace[0])
            self._geometry.write(first, shot.ffid, shot.source, shot.receivers, traces, shot.channel)
        if self._recorded is not None:
            for number, rows, places in gather.by_file():
                self._recorded.write(number, places, traces[rows])

    def _write_headers_of_others(self, writer: RecordedHeadersWriter) -> None:
        """Traces that are no shot's, such as dead ones: their headers, and zeros."""
        others = [np.ones(len(traces), np.bool_) for traces in self._modelled.traces]
        for shot in self._modelled.acquisition.shots:
            for number, _, places in self._modelled.gather(shot).by_file():
                others[number][places] = False
        for number, mask in enumerate(others):
            if mask.any():
                writer.write(number, np.flatnonzero(mask))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
