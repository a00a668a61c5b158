"""Sources and receivers of a geometry to model, from tables in CSV or Parquet.

Columns, in any order, lengths in m in the coordinates of the model:

    x, y              y: needed in 3D, ignored in 2D
    z                 positive down; or in its place depth, elevation or both: z = depth - elevation
    shot              number of the shot: of a source left out 1, 2, …; of receivers left out: every shot has them all
    channel           of a receiver; left out: 1, 2, … within the shot
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.storage.number_table import read_columns

_PLACE = ("x", "y", "z", "depth", "elevation")
SOURCE_COLUMNS, RECEIVER_COLUMNS = (*_PLACE, "shot"), (*_PLACE, "shot", "channel")
_LARGEST = np.iinfo(np.int32).max  # of a number in a trace header


@dataclass(frozen=True, eq=False)
class PositionTable:
    """Positions (n, 3), m, and the numbers that the table has for them, int64 (n,); notes on what is not used."""

    path: Path
    positions: npt.NDArray[np.float64]
    shot: npt.NDArray[np.int64] | None
    channel: npt.NDArray[np.int64] | None
    notes: tuple[str, ...]


def read_positions(path: Path, columns: Sequence[str], dimension: int | None) -> PositionTable:
    """A table of sources (SOURCE_COLUMNS) or receivers (RECEIVER_COLUMNS).

    dimension: 2 or 3, of the model; None: not known, y is used where there is one.
    Raises InputError for a file that cannot be read, a column that is missing or one too many, and what is no number.
    """
    values, others = read_columns(path, columns)
    rows = len(next(iter(values.values())))
    if "x" not in values:
        raise InputError(f"{path}: column x: missing; needed: x, {'y, ' * (dimension == 3)}z (m)")
    if "y" not in values and dimension == 3:
        raise InputError(f"{path}: column y: missing; needed in 3D (m)")
    if ("z" in values) == bool({"depth", "elevation"} & values.keys()):
        found = "found with depth or elevation" if "z" in values else "missing"
        raise InputError(f"{path}: column z: {found}; allowed: z, or depth, elevation or both, z = depth - elevation")
    notes = [f"{path}: columns {', '.join(name[:40] for name in others)} are not used"] if others else []
    zero = np.zeros(rows)
    y = values.get("y", zero)
    if dimension == 2:
        if np.any(y != y[0]):
            notes.append(f"{path}: y spreads over {np.ptp(y):.6g} m and is ignored in 2D")
        y = zero
    z = values["z"] if "z" in values else values.get("depth", zero) - values.get("elevation", zero)
    positions = np.stack([values["x"], y, z], axis=1)
    numbers = [_whole(path, name, values[name]) if name in values else None for name in ("shot", "channel")]
    return PositionTable(path, positions, numbers[0], numbers[1], tuple(notes))


def _whole(path: Path, name: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Numbers of shots or channels; InputError for what a trace header cannot hold."""
    bad = np.flatnonzero((values != np.round(values)) | (np.abs(values) > _LARGEST))
    if len(bad):
        raise InputError(
            f"{path}: column {name}: found {values[bad[0]]:g} in row {bad[0] + 1} (from 1); allowed: whole numbers up "
            f"to {_LARGEST}"
        )
    return values.astype(np.int64)
