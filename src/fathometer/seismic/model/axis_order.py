"""A model in (z, x) order that says nothing of its axes is known by its numbers: water all along its first row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fathometer.storage.volumes.volume import Volume

WATER = (1400.0, 1600.0)  # m/s
SAME = 2e-3  # relative: of water along its surface


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


def _line(volume: Volume, through: tuple[int, ...], axis: int) -> np.ndarray:
    lo, hi = list(through), [n + 1 for n in through]
    lo[axis], hi[axis] = 0, volume.info.shape[axis]
    return np.asarray(volume.read(lo, hi)).reshape(-1)


def _water(line: np.ndarray) -> bool:
    low, high = float(line.min()), float(line.max())
    return WATER[0] <= low and high <= WATER[1] and high - low <= SAME * low
