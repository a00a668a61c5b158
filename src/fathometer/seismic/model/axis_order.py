"""A model in (z, x) order that says nothing of its axes is known by its numbers: water all along its first row, or
values that grow along another axis than the last one as velocities do with depth."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from fathometer.base.errors import InputError
from fathometer.storage.volumes.volume import Volume

WATER = (1400.0, 1600.0)  # m/s
SAME = 2e-3  # relative: of water along its surface
LINES, PLACES = 3, 24  # lines along each axis that are looked at, and places on each: cells of a file that is not small
LAYERED = 5.0  # times as much values change along depth as along the other axes, in their means
RISING = 0.8  # correlation of the mean profile with depth


def depth_first(volume: Volume, to_metres_per_second: Callable[[Any], Any]) -> bool:
    """Whether the first axis of a file looks like depth, where its last one is taken for it.

    So it is where the first plane along the first axis is water all along two lines, and the first plane along the last
    axis is not: a sea is flat, and no section of a model is water down to its bottom. InputError where the lines cannot
    be read.
    """
    shape = volume.info.shape
    middle = [n // 2 for n in shape]
    surface = [_line(volume, (0, *middle[1:]), axis) for axis in range(1, len(shape))]
    sides = [_line(volume, (*middle[:-1], 0), axis) for axis in range(len(shape) - 1)]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return all(_water(to_metres_per_second(line)) for line in surface) and not any(
            _water(to_metres_per_second(line)) for line in sides
        )


def depth_axis(volume: Volume, to_metres_per_second: Callable[[Any], Any]) -> int | None:
    """The axis of a file, another one than the last, along which its values grow as velocities do with depth, while
    they hardly change along the last one; None where there is none. InputError where lines cannot be read."""
    shape = volume.info.shape
    places = [np.unique(np.linspace(0, n - 1, min(n, PLACES)).astype(int)) for n in shape]
    profiles = [_profile(volume, axis, places[axis], to_metres_per_second) for axis in range(len(shape))]
    changes = [float(np.std(profile)) for profile in profiles]
    axis = int(np.argmax(changes))
    others = [change for number, change in enumerate(changes) if number != axis]
    if axis == len(shape) - 1 or not np.isfinite(changes).all() or changes[axis] <= LAYERED * max(others):
        return None
    return axis if np.corrcoef(places[axis], profiles[axis])[0, 1] >= RISING else None


def order_words(axis: int, dimensions: int) -> str:
    """The orders of axes, slowest first, in which z has a place, as the survey names them."""
    orders = ("zx",) if dimensions == 2 else ("zxy", "zyx") if axis == 0 else ("xzy", "yzx")
    return " or ".join(f'"{order}"' for order in orders)


def order_note(volume: Volume, to_metres_per_second: Callable[[Any], Any], key: str) -> str:
    """The end of a note on a file that does not name its axes, where its values say that another one than the last is
    depth; "" where they do not, or cannot be read. key: by which the axes are named."""
    with suppress(InputError):
        axis = depth_axis(volume, to_metres_per_second)
        if axis is not None:
            place = ("first", "second")[axis]
            wanted = order_words(axis, len(volume.info.shape))
            return f"; values grow along the {place} axis as velocities do with depth: {key} {wanted} if that is depth"
    return ""


def _profile(volume: Volume, axis: int, places: np.ndarray, to_metres_per_second: Callable[[Any], Any]) -> np.ndarray:
    """The mean of some lines along an axis, (places,), spread over the other axes, at some places of the axis."""
    lines = np.empty((LINES, len(places)))
    for number in range(LINES):
        cell = [(2 * number + 1) * n // (2 * LINES) for n in volume.info.shape]
        for column, cell[axis] in enumerate(places.tolist()):
            lines[number, column] = volume.read(cell, [n + 1 for n in cell]).item()
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean: np.ndarray = np.mean(to_metres_per_second(lines), axis=0)
    return mean


def _line(volume: Volume, through: tuple[int, ...], axis: int) -> np.ndarray:
    lo, hi = list(through), [n + 1 for n in through]
    lo[axis], hi[axis] = 0, volume.info.shape[axis]
    return np.asarray(volume.read(lo, hi)).reshape(-1)


def _water(line: np.ndarray) -> bool:
    low, high = float(line.min()), float(line.max())
    return WATER[0] <= low and high <= WATER[1] and high - low <= SAME * low
