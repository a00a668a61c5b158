"""Indices of files that tests have put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from segy_support import Bytes

from fathometer.storage.index.build import build_index
from fathometer.storage.index.table import COLUMNS, TraceIndex
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
