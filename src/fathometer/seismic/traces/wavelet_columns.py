"""Lines of numbers of a wavelet's text: one series, broken into lines or not, or two columns, time and amplitude."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError, shortened
from fathometer.storage.volumes.axis_labels import SECONDS

Doubles = npt.NDArray[np.float64]

ALLOWED = "allowed: one series, or two columns, time and amplitude, the time growing evenly"
COLUMN = "time column"
EVEN = 0.05  # of a step, by which times may be off: they are rounded
SAME = 0.1  # of a sample, by which intervals may differ at the last sample
FEWEST = 3  # lines that make columns
TIME = re.compile(r"\W*(?:t|time|times|twt)(?:[\s_/,\[(]+([a-z]+)\b|(?=\W|_|$))", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """The numbers of a line of the file, from 1 on."""

    line: int
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class TimeColumn:
    """Times of a series as its file has them; unit: of SECONDS, "": none is said. where: in the file, for messages."""

    first: float
    step: float
    count: int
    unit: str
    where: str = COLUMN

    def agreed(self, interval: float, zero: float | None, path: Path) -> tuple[float, tuple[str, ...]]:
        """The time of t = 0 of the traces from the first sample on (s), and a note where the unit was not said.

        interval: s, of the survey. zero: of the survey, s; None: left out, and that of the file. A column that begins
        at 0 only counts: any zero goes with it. Raises InputError where they contradict the file.
        """
        scale = self._scale(interval, path)
        first = self.first * scale
        if zero is not None and first != 0.0 and abs(zero + first) > SAME * interval:
            raise InputError(
                f"zero: found {zero:g} s; by the {self.where} of {path} t = 0 is {-first:g} s from the first sample; "
                f"allowed: {-first:g}, or left out"
            )
        unit = "s" if scale == 1.0 else "ms"
        notes = (
            f"{path.name}: its {self.where} is taken as time in {unit} (by sample_interval; the file names no unit), "
            f"from {first:g} s on",
        )
        usual = self.unit or (unit == "s" and self.where != COLUMN)
        return -first if zero is None else zero, () if usual else notes

    def _scale(self, interval: float, path: Path) -> float:
        """Seconds of the column's unit; where none is said, s or ms, whichever fits the interval."""
        units = (self.unit,) if self.unit else ("s", "ms")
        for unit in units:
            if abs(self.step * SECONDS[unit] - interval) * (self.count - 1) <= SAME * interval:
                return SECONDS[unit]
        allowed = " or ".join(f"{self.step * SECONDS[unit]:.6g}" for unit in units)
        raise InputError(
            f"sample_interval: found {interval:g} s; by the {self.where} of {path} times grow by {self.step:.6g} "
            f"{self.unit or '(no unit said)'}; allowed: {allowed}"
        )


def unit_of_times(line: str) -> str | None:
    """The unit that a line says of times in the first column; "" where it names them without, None where it does not.

    >>> [unit_of_times(line) for line in ("# time (ms), amplitude", "t[s] a", "time_ms,w", "t amp", "# a wavelet")]
    ['ms', 's', 'ms', '', None]
    """
    found = TIME.match(line)
    if found is None:
        return None
    unit = (found[1] or "").lower()
    return unit if unit in SECONDS else ""


def series_of_rows(path: Path, rows: Sequence[Row], unit: str | None) -> tuple[Doubles, TimeColumn | None]:
    """The series (ns,) in lines of numbers, and its times where it has some; unit: as of `unit_of_times`.

    InputError for columns that are no series: several numbers a line are one series only where the first
    ones do not grow evenly as times do; two in each may be two series, and are refused then.
    """
    flat = np.array([number for row in rows for number in row.numbers], dtype=np.float64)
    width = len(rows[0].numbers) if rows else 0
    columns = width > 1 and len(rows) >= FEWEST and all(len(row.numbers) == width for row in rows)
    if not columns or not np.all(np.isfinite(flat)):
        return flat, None
    first = flat[::width]
    grows = bool(np.all(np.diff(first) > 0))
    step = float(first[-1] - first[0]) / (len(first) - 1)
    even = first[0] + step * np.arange(len(first))
    wrong = np.abs(first - even) > EVEN * abs(step)
    if width > 2 and (not grows or wrong.any() or len(rows) <= width):
        return flat, None
    lines = f"{path}: found {width} numbers in each of the lines {rows[0].line} to {rows[-1].line}"
    if width > 2:
        raise InputError(f"{lines}, the first of which grow as times do; {ALLOWED}")
    if not grows or wrong.any():
        row = int(np.argmax(np.abs(first - even)) if grows else np.argmax(np.diff(first) <= 0) + 1)
        raise InputError(
            f"{lines}, the first of which do not grow evenly: {shortened(f'{first[row]:g}')} in line "
            f"{rows[row].line}; {ALLOWED}"
        )
    return np.ascontiguousarray(flat[1::2]), TimeColumn(float(first[0]), step, len(first), unit or "")
