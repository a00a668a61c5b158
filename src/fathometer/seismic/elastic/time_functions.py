"""Series that sources inject: the wavelet, or its shape at another rise time, from an onset on.

Where time dispersion is corrected they go through the forward transform (traces/dispersion.py) in whole. It brings what
has angular frequency omega at t to t cos(omega dt / 2), so that a series must not break off at the last step: it is
continued up to twice the time and faded out there, slowly, so that the fading brings no higher frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from fathometer.seismic.traces.dispersion import forward_transform, workspace_bytes
from fathometer.seismic.traces.moment_rate import RateTable, RateWavelet
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet

RISE_TIMES = ("brune", "cosine")  # kinds of wavelets that have one
LENGTH, FADING = 2.0, 1.5  # end of what is transformed, begin of its fading out, in lengths of the propagation
TOGETHER = 64  # columns that are transformed at a time: bounds the workspace
_EACH_BYTES = 280  # of workspace for each of them and each step


@dataclass(frozen=True, eq=False)
class SourceSeries:
    """One column for each pair of onset and rise time that occurs. Rows are computed when they are needed; where time
    dispersion is corrected, all rows of the columns that are asked for.

    Attributes:
        wavelet: of the survey. onset: (c,) s. rise_time: (c,) s, in place of the wavelet's; None: as it is.
        time: of the propagation. shift: of the times in time steps: 1/2 for what acts in the middle of a step.
        corrected: whether time dispersion is.
    """

    wavelet: Wavelet
    onset: np.ndarray
    rise_time: np.ndarray | None
    time: TimeAxis
    shift: float
    dtype: np.dtype[Any]
    corrected: bool

    @classmethod
    def of(
        cls,
        wavelet: Wavelet,
        onset: np.ndarray,
        rise_time: np.ndarray | None,
        time: TimeAxis,
        shift: float,
        dtype: np.dtype[Any],
        corrected: bool,
    ) -> tuple[Self, np.ndarray]:
        """The series of sources with onsets (n,) and rise times (n,), and the column of each, (n,) int64."""
        pairs = np.stack([onset, np.zeros_like(onset) if rise_time is None else rise_time], axis=1)
        different, column = np.unique(pairs, axis=0, return_inverse=True)
        rises = None if rise_time is None else different[:, 1]
        return cls(wavelet, different[:, 0], rises, time, shift, dtype, corrected), column.reshape(-1).astype(np.int64)

    @property
    def columns(self) -> int:
        return len(self.onset)

    def prepare(self, columns: np.ndarray) -> None:
        """Make and keep what `rows` of these columns takes."""
        self._kept_of(columns)

    def rows(self, start: int, count: int, columns: np.ndarray | None = None) -> np.ndarray:
        """Rows of the steps from `start` on, (count, columns) of dtype; columns: indices; None: all."""
        some = np.arange(self.columns) if columns is None else columns
        kept = self._kept_of(some)
        if isinstance(kept, np.ndarray):
            return kept[start : start + count]
        return np.ascontiguousarray(kept(self._times(start, count)[:, None] - self.onset[some]), self.dtype)

    def _times(self, start: int, count: int) -> np.ndarray:
        return np.asarray(self.time.first + (start + self.shift + np.arange(count)) * self.time.dt)

    def _function(self, columns: np.ndarray) -> Wavelet | RateTable:
        """Of times (n, columns) from the onset on."""
        if self.rise_time is None:
            return self.wavelet
        assert isinstance(self.wavelet, RateWavelet)
        return self.wavelet.of_rise_times(self.rise_time[columns])

    def _all_rows(self, columns: np.ndarray) -> np.ndarray:
        """Transformed, (steps, columns) of dtype."""
        steps = self.time.steps
        count = math.ceil(LENGTH * steps)
        place = (np.arange(count) - FADING * steps) / ((LENGTH - FADING) * steps)
        gain = 0.5 + 0.5 * np.cos(math.pi * np.clip(place, 0.0, 1.0))
        times, whole = self._times(0, count), np.empty((steps, len(columns)), self.dtype)
        # Those of one rise time together, and no more than some at a time: what is held meanwhile is not the rows.
        rise_time = np.zeros(len(columns)) if self.rise_time is None else self.rise_time[columns]
        alike = np.argsort(rise_time, kind="stable")
        for begin in range(0, len(columns), TOGETHER):
            some = alike[begin : begin + TOGETHER]
            values = self._function(columns[some])(times[:, None] - self.onset[columns[some]])
            sampled = np.ascontiguousarray((gain[:, None] * values).T)
            whole[:, some] = forward_transform(sampled, self.time.before - self.shift)[:, :steps].T
        return whole

    def _kept_of(self, columns: np.ndarray) -> np.ndarray | Wavelet | RateTable:
        """All rows, or the function, of these columns; kept, since all steps of a shot ask for the same."""
        if not self._kept or not np.array_equal(self._kept[0][0], columns):
            made = self._all_rows(columns) if self.corrected else self._function(columns)
            self._kept[:] = [(columns.copy(), made)]
        return self._kept[0][1]

    @cached_property
    def _kept(self) -> list[tuple[np.ndarray, np.ndarray | Wavelet | RateTable]]:
        return []


def transform_bytes(columns: int, steps: int) -> int:
    """Bytes of workspace while so many columns are transformed, without the rows."""
    return max(workspace_bytes(math.ceil(LENGTH * steps)), _EACH_BYTES * min(columns, TOGETHER) * steps)
