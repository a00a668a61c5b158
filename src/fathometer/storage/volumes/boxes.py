"""Arithmetic of half-open boxes [lo, hi) of an array's cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

Corner = tuple[int, ...]
Box = tuple[Corner, Corner]


def widened(lo: Sequence[int], hi: Sequence[int], halo: int, shape: Sequence[int]) -> Box:
    """The box with `halo` more cells on each side, clipped to the array; an empty box stays empty."""
    if any(a >= b for a, b in zip(lo, hi, strict=True)):
        return tuple(lo), tuple(hi)
    return tuple(max(0, a - halo) for a in lo), tuple(min(n, b + halo) for b, n in zip(hi, shape, strict=True))


def overlap(first: Box, second: Box) -> Box | None:
    """Intersection of two boxes; None where it is empty."""
    lo = tuple(map(max, first[0], second[0]))
    hi = tuple(map(min, first[1], second[1]))
    return (lo, hi) if all(a < b for a, b in zip(lo, hi, strict=True)) else None


def surrounding(boxes: Sequence[Box]) -> Box:
    """Bounding box of at least one box."""
    lows, highs = zip(*boxes, strict=True)
    return tuple(map(min, zip(*lows, strict=True))), tuple(map(max, zip(*highs, strict=True)))


def within(box: Box, lo: Sequence[int]) -> tuple[slice, ...]:
    """Slices of a box in an array whose first cell is `lo`."""
    return tuple(slice(a - start, b - start) for a, b, start in zip(*box, lo, strict=True))


def extent(box: Box) -> Corner:
    """Cells along each axis."""
    return tuple(max(0, b - a) for a, b in zip(*box, strict=True))


def slabs(lo: Sequence[int], hi: Sequence[int], most: int) -> Iterator[Box]:
    """The box cut along its slowest axes into boxes of at most `most` cells, contiguous in memory and in order.

    >>> list(slabs((0, 0), (3, 4), 8))
    [((0, 0), (2, 4)), ((2, 0), (3, 4))]
    """
    shape = extent((tuple(lo), tuple(hi)))
    if math.prod(shape) == 0:
        return
    # The slowest axis of which one cell, with all faster axes, fits.
    cut = next((axis for axis in range(len(shape)) if math.prod(shape[axis + 1 :]) <= most), len(shape) - 1)
    step = max(1, most // math.prod(shape[cut + 1 :]))
    for index in itertools.product(*(range(a, b) for a, b in zip(lo[:cut], hi[:cut], strict=True))):
        for first in range(lo[cut], hi[cut], step):
            last = min(first + step, hi[cut])
            yield (*index, first, *lo[cut + 1 :]), (*(i + 1 for i in index), last, *hi[cut + 1 :])


def runs(shape: Sequence[int], block: Sequence[int], lo: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Longest contiguous runs of a block, its shape and first cell `lo`, within an array in C order.

    Each is (first cell in the block, first cell in the array, cells), cells counted from 0 in C order.

    >>> list(runs((2, 3, 4), (2, 2, 4), (0, 1, 0)))
    [(0, 4, 8), (8, 16, 8)]
    """
    if math.prod(block) == 0:
        return
    # The block spans all axes faster than `cut`, so that a run holds them and the block's part of the axis `cut`.
    cut = len(shape) - 1
    while cut > 0 and block[cut] == shape[cut]:
        cut -= 1
    count = math.prod(block[cut:])
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    first = sum(start * stride for start, stride in zip(lo, strides, strict=True))
    for number, index in enumerate(itertools.product(*(range(n) for n in block[:cut]))):
        array_cell = first + sum(i * stride for i, stride in zip(index, strides[:cut], strict=True))
        yield number * count, array_cell, count
