"""Shots of an acquisition geometry to model: sources and receivers from ranges of positions, or from tables of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError, naming
from fathometer.seismic.shots.position_tables import RECEIVER_COLUMNS, SOURCE_COLUMNS, PositionTable, read_positions
from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.seismic.survey import ReceiversTable, SourcesTable, Survey

Positions = npt.NDArray[np.float64]
Spread = tuple[Positions, npt.NDArray[np.int64]]  # receivers (n, 3) and channels (n,) of a shot
SpreadOf = Callable[[int, Positions], Spread]  # of a shot, by its number and its source (3,)


def shots_of_geometry(survey: Survey, dimension: int | None) -> tuple[tuple[Shot, ...], tuple[str, ...]]:
    """The shots of [acquisition] sources and receivers, each ranges or a table, and notes.

    One shot for each source, in their order: ranges run along x first, then y, and their FFIDs count from 1; a table's
    rows are in its order, with its numbers. Shots share one array of fixed receivers.

    dimension: 2 or 3, of the model; None: not known. Raises InputError for a table that cannot be used, and for shots
    without receivers or receivers without a shot.
    """
    keys = survey.acquisition
    assert keys.sources is not None
    assert keys.receivers is not None
    notes: tuple[str, ...] = ()
    if isinstance(keys.sources, SourcesTable):
        positions = _product(keys.sources.x, keys.sources.y, keys.sources.z)
        numbers = np.arange(1, len(positions) + 1, dtype=np.int64)
    else:
        with naming(f"{survey.path}: [acquisition] sources"):
            table = read_positions(survey.directory / keys.sources, SOURCE_COLUMNS, dimension)
        positions, numbers, notes = table.positions, _shot_numbers(table), table.notes
    if isinstance(keys.receivers, ReceiversTable):
        spread_of = _spread_of_ranges(keys.receivers)
    else:
        with naming(f"{survey.path}: [acquisition] receivers"):
            table = read_positions(survey.directory / keys.receivers, RECEIVER_COLUMNS, dimension)
        spread_of, notes = _spread_of_table(table, numbers), notes + table.notes
    shots = []
    for index, (number, source) in enumerate(zip(numbers.tolist(), positions, strict=True)):
        receivers, channel = spread_of(number, source)
        shots.append(Shot(index, number, frozen(source.copy()), receivers, channel))
    return tuple(shots), notes


def _spread_of_ranges(receivers: ReceiversTable) -> SpreadOf:
    """Receivers of ranges: the same for all shots, or offset from each source in x and y; their depth is absolute."""
    spread = frozen(_product(receivers.x, receivers.y, receivers.z))
    channel = frozen(np.arange(1, len(spread) + 1, dtype=np.int64))

    def of_shot(number: int, source: Positions) -> Spread:
        if not receivers.relative:
            return spread, channel
        return frozen(spread + np.array([source[0], source[1], 0.0])), channel

    return of_shot


def _spread_of_table(table: PositionTable, shots: npt.NDArray[np.int64]) -> SpreadOf:
    """Receivers of a table: those with a shot's number, in the table's order; all of them where it has no numbers.

    shots: the numbers of all sources.
    """
    if table.shot is None:
        whole = _spread(table, np.arange(len(table.positions)))
        return lambda number, source: whole
    strays = np.flatnonzero(~np.isin(table.shot, shots))
    if len(strays):
        raise InputError(
            f"{table.path}: column shot: found {table.shot[strays[0]]} in row {strays[0] + 1} (from 1), and in "
            f"{len(strays)} rows a number that no source has; allowed: numbers of sources"
        )
    order = np.argsort(table.shot, kind="stable")
    ordered = table.shot[order]

    def of_shot(number: int, source: Positions) -> Spread:
        rows = order[slice(*np.searchsorted(ordered, (number, number + 1)))]
        if not len(rows):
            raise InputError(f"{table.path}: column shot: found no row for shot {number}; needed: a receiver at least")
        return _spread(table, rows)

    return of_shot


def _spread(table: PositionTable, rows: npt.NDArray[np.integer]) -> Spread:
    """Some rows of a table as the receivers of a shot."""
    channel = np.arange(1, len(rows) + 1, dtype=np.int64) if table.channel is None else table.channel[rows]
    return frozen(table.positions[rows]), frozen(channel)


def _shot_numbers(table: PositionTable) -> npt.NDArray[np.int64]:
    """Numbers of the shots of a table of sources. Raises InputError where two are the same."""
    if table.shot is None:
        return np.arange(1, len(table.positions) + 1, dtype=np.int64)
    numbers, first, counts = np.unique(table.shot, return_index=True, return_counts=True)
    if (counts > 1).any():
        number = numbers[counts > 1][0]
        row = first[counts > 1][0] + 1
        raise InputError(
            f"{table.path}: column shot: found {number} in row {row} (from 1) and again below; allowed: each number "
            "once"
        )
    return table.shot


def coordinates(values: float | tuple[float, float, float] | None) -> Positions:
    """Coordinates (n,), float64, m, of a range (first, last, step), last included; of a number; of None: 0."""
    if values is None:
        return np.zeros(1)
    if isinstance(values, float | int):
        return np.array([values], dtype=np.float64)
    first, last, step = values
    count = round((last - first) / step) + 1
    return first + step * np.arange(count, dtype=np.float64)


def _product(
    x: float | tuple[float, float, float], y: float | tuple[float, float, float] | None, z: float
) -> Positions:
    """Positions (n, 3), float64, m, of all pairs of x and y at depth z, x fastest."""
    along_y, along_x = np.meshgrid(coordinates(y), coordinates(x), indexing="ij")
    return np.stack([along_x.ravel(), along_y.ravel(), np.full(along_x.size, z)], axis=1)


def geometry_files(survey: Survey) -> dict[str, Path]:
    """The tables of positions of a geometry, by their keys."""
    keys = {"sources": survey.acquisition.sources, "receivers": survey.acquisition.receivers}
    return {f"[acquisition] {key}": survey.directory / name for key, name in keys.items() if isinstance(name, str)}
