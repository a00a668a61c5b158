"""Tables of point sources in CSV or Parquet, such as those of a fault that ruptures.

Columns, in any order:

    x, y, z                     m, from the shot's source position, z down; y: needed in 3D, ignored in 2D
    onset                       s, of the source's time function; left out: 0
    rise_time                   s, in place of the wavelet's; left out: as that
    strike, dip, rake, moment   degrees and N m; or in their place
    mxx, myy, mzz, mxy, mxz, myz   N m; what is left out is 0
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fathometer.base.errors import InputError
from fathometer.seismic.elastic.moment_tensors import double_couple
from fathometer.seismic.survey.source import LARGEST_MOMENT, TENSOR
from fathometer.storage.number_table import read_columns

PLANE = ("strike", "dip", "rake", "moment")
COLUMNS = ("x", "y", "z", "onset", "rise_time", *PLANE, *TENSOR)
_FARTHEST = 1e9  # m or s


@dataclass(frozen=True, eq=False)
class SourceRows:
    """Rows of a table: offset (n, 3) m, moment (n, 6) N m as mxx … myz, onset (n,) s, rise_time (n,) s or None."""

    path: Path
    offset: np.ndarray
    moment: np.ndarray
    onset: np.ndarray
    rise_time: np.ndarray | None
    notes: tuple[str, ...]


def read_sources(path: Path, two_dimensional: bool) -> SourceRows:
    """The point sources of a table.

    Raises InputError for a file that cannot be read, a column missing or one too many, and a value out of range.
    """
    values, others = read_columns(path, COLUMNS)
    rows = len(next(iter(values.values())))
    for name in "xz" if two_dimensional else "xyz":
        if name not in values:
            raise InputError(f"{path}: column {name}: missing; needed: x, {'y, ' * (not two_dimensional)}z (m)")
    for name in ("x", "y", "z", "onset"):
        _require(path, name, values, np.abs(values.get(name, np.zeros(1))) <= _FARTHEST, f"up to {_FARTHEST:g}")
    zero = np.zeros(rows)
    notes = [f"{path}: columns {', '.join(name[:40] for name in others)} are not used"] if others else []
    y = values.get("y", zero)
    if two_dimensional:
        if np.any(y != 0):
            notes.append(f"{path}: column y is ignored in 2D")
        y = zero
    rise = values.get("rise_time")
    if rise is not None:
        _require(path, "rise_time", values, rise > 0, "above 0 (s)")
    offset = np.stack([values["x"], y, values["z"]], axis=1)
    return SourceRows(path, offset, _moments(path, values, rows), values.get("onset", zero), rise, tuple(notes))


def _moments(path: Path, values: dict[str, np.ndarray], rows: int) -> np.ndarray:
    plane, tensor = (sorted(set(names) & values.keys()) for names in (PLANE, TENSOR))
    if plane and tensor:
        raise InputError(
            f"{path}: found the columns {plane[0]} and {tensor[0]}; allowed: {', '.join(PLANE)}, or {', '.join(TENSOR)}"
        )
    if not plane and not tensor:
        raise InputError(f"{path}: no column has a moment; needed: {', '.join(PLANE)}, or some of {', '.join(TENSOR)}")
    if tensor:
        for name in tensor:
            _require(path, name, values, np.abs(values[name]) <= LARGEST_MOMENT, f"up to {LARGEST_MOMENT:g} N m")
        moment = np.stack([values.get(name, np.zeros(rows)) for name in TENSOR], axis=1)
    else:
        for name in PLANE:
            if name not in values:
                raise InputError(f"{path}: column {name}: missing; needed: {', '.join(PLANE)}")
        strike, dip, rake, scalar = (values[name] for name in PLANE)
        for name, angle in (("strike", strike), ("rake", rake)):
            _require(path, name, values, np.abs(angle) <= 360, "-360 to 360 degrees")
        _require(path, "dip", values, (dip >= 0) & (dip <= 90), "0 to 90 degrees")
        _require(path, "moment", values, (scalar >= 0) & (scalar <= LARGEST_MOMENT), f"0 to {LARGEST_MOMENT:g} N m")
        moment = double_couple(strike, dip, rake, scalar)
    if not moment.any():
        raise InputError(f"{path}: found a moment of 0 in all rows; needed: one other than 0")
    return moment


def _require(path: Path, name: str, values: dict[str, np.ndarray], good: np.ndarray, allowed: str) -> None:
    bad = np.flatnonzero(~good)
    if len(bad):
        raise InputError(
            f"{path}: column {name}: found {values[name][bad[0]]:g} in row {bad[0] + 1} (from 1), and in {len(bad)} "
            f"rows what is out of range; allowed: {allowed}"
        )
