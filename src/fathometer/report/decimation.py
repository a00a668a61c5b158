"""Volumes reduced for a page: means over blocks of cells, read slab by slab, as bytes in base64.

Neither a page nor the memory that it takes to make one grows with the survey.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Read = Callable[[Sequence[int], Sequence[int]], npt.NDArray[np.floating]]  # a half-open box of cells (x, y, z)

MOST_READ = 1 << 28  # values: of a larger volume only some planes are averaged
SLAB = 1 << 23  # values read at a time


def three(shape: Sequence[int]) -> tuple[int, int, int]:
    """Cells along x, y, z of a 2D (x, z) or 3D shape."""
    return (shape[0], 1, shape[1]) if len(shape) == 2 else (shape[0], shape[1], shape[2])


def as_bytes(
    codes: npt.NDArray[np.uint8], spacing: Sequence[float], origin: Sequence[float], factors: Sequence[int]
) -> dict[str, Any]:
    """Codes (x, y, z) of blocks of `factors` cells for a page: shape, first block's centre and steps in m.

    spacing, origin: of the cells, m.
    """
    return {
        "shape": list(codes.shape),
        "first": list(first_centre(origin, spacing, factors)),
        "step": [float(d) * f for d, f in zip(spacing, factors, strict=True)],
        "codes": encoded(codes),
    }


def first_centre(origin: Sequence[float], spacing: Sequence[float], factors: Sequence[int]) -> list[float]:
    """Centre of the first block of cells, m."""
    return [float(o) + (f - 1) / 2 * float(d) for o, d, f in zip(origin, spacing, factors, strict=True)]


def span(shape: Sequence[int], spacing: Sequence[float], origin: Sequence[float]) -> list[list[float]]:
    """The first and last cell's centre along x, y, z in m."""
    return [[float(o), float(o) + (n - 1) * float(d)] for n, d, o in zip(shape, spacing, origin, strict=True)]


def factors_for(shape: Sequence[int], most: int) -> tuple[int, int, int]:
    """Cells along x, y, z that become one, so that at most `most` are left: x and y first, z stays twice as fine."""
    factors = [1, 1, 1]
    weights = (1.0, 1.0, 0.5)

    def left(axis: int) -> int:
        return max(1, shape[axis] // factors[axis])

    while left(0) * left(1) * left(2) > most:
        widest = max(range(3), key=lambda axis: left(axis) * weights[axis])
        factors[widest] += 1
    return factors[0], factors[1], factors[2]


def averaged(read: Read, shape: tuple[int, int, int], factors: tuple[int, int, int]) -> npt.NDArray[np.float64]:
    """Means over blocks of cells (x, y, z), read slab by slab; cells at the end that fill no block are left out."""
    counts = [n // f for n, f in zip(shape, factors, strict=True)]
    whole = [n * f for n, f in zip(counts, factors, strict=True)]
    means = np.empty(counts)
    planes = max(1, min(factors[0], factors[0] * MOST_READ // math.prod(shape)))  # of each block along x
    skipped = (factors[0] - planes) // 2
    together = max(1, SLAB // (factors[0] * shape[1] * shape[2])) if planes == factors[0] else 1
    for first in range(0, counts[0], together):
        last = min(first + together, counts[0])
        begin = first * factors[0] + skipped
        end = last * factors[0] if planes == factors[0] else begin + planes
        part = read((begin, 0, 0), (end, whole[1], whole[2]))
        blocks = part.reshape(last - first, -1, counts[1], factors[1], counts[2], factors[2])
        means[first:last] = blocks.mean(axis=(1, 3, 5), dtype=np.float64)
    return means


def encoded(codes: npt.NDArray[np.uint8]) -> str:
    return base64.b64encode(np.ascontiguousarray(codes).tobytes()).decode("ascii")
