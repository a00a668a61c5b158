"""Series that sources inject: the wavelet, or its shape at another rise time, from an onset on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import RateWavelet, Wavelet

RISE_TIMES = ("brune", "cosine")  # kinds of wavelets that have one


@dataclass(frozen=True, eq=False)
class SourceSeries:
    """One column for each pair of onset and rise time that occurs; rows are computed when they are needed.

    Attributes:
        wavelet: of the survey. onset: (c,) s. rise_time: (c,) s, in place of the wavelet's; None: as it is.
        time: of the propagation. shift: of the times in time steps: 1/2 for what acts in the middle of a step.
    """

    wavelet: Wavelet
    onset: np.ndarray
    rise_time: np.ndarray | None
    time: TimeAxis
    shift: float
    dtype: np.dtype[Any]

    @classmethod
    def of(
        cls,
        wavelet: Wavelet,
        onset: np.ndarray,
        rise_time: np.ndarray | None,
        time: TimeAxis,
        shift: float,
        dtype: np.dtype[Any],
    ) -> tuple[Self, np.ndarray]:
        """The series of sources with onsets (n,) and rise times (n,), and the column of each, (n,) int64."""
        pairs = np.stack([onset, np.zeros_like(onset) if rise_time is None else rise_time], axis=1)
        different, column = np.unique(pairs, axis=0, return_inverse=True)
        rises = None if rise_time is None else different[:, 1]
        return cls(wavelet, different[:, 0], rises, time, shift, dtype), column.reshape(-1).astype(np.int64)

    @property
    def columns(self) -> int:
        return len(self.onset)

    def rows(self, start: int, count: int, columns: np.ndarray | None = None) -> np.ndarray:
        """Rows of the steps from `start` on, (count, columns) of dtype; columns: indices; None: all."""
        some = np.arange(self.columns) if columns is None else columns
        times = self.time.first + (start + self.shift + np.arange(count)) * self.time.dt
        t = times[:, None] - self.onset[some]
        if self.rise_time is None:
            values = self.wavelet(t)
        else:
            assert isinstance(self.wavelet, RateWavelet)
            values = np.empty_like(t)
            for column, rise_time in enumerate(self.rise_time[some]):
                values[:, column] = self.wavelet.of_rise_time(t[:, column], float(rise_time))
        return np.ascontiguousarray(values, self.dtype)
