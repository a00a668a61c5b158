"""Volumes made from a seed: the value of a cell depends on the seed and on its global index only.

So each rank makes its own block, on any decomposition, and knows every byte that must be read back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.boxes import Box, extent, slabs, within

KINDS = ("noise", "wavefield")
PIECE_CELLS = 1 << 16  # cells made at a time: they stay in the cache
WAVES = 4  # of a wavefield
SHORTEST_CELLS = 12.0  # cells of the shortest wavelength, as well-sampled waves have

Piece = tuple[Box, NDArray[np.float32]]  # a box and its values


class Expected(ABC):
    """What an array should hold, known of every cell."""

    @abstractmethod
    def _pieces(self, lo: Sequence[int], hi: Sequence[int]) -> Iterator[Piece]:
        """Boxes that tile the box [lo, hi), with their values."""

    def differing(self, block: NDArray[np.float32], lo: Sequence[int]) -> int:
        """How many cells of a block at `lo` have other bits than they should; nothing is rounded."""
        wrong = 0
        hi = [a + n for a, n in zip(lo, block.shape, strict=True)]
        for box, values in self._pieces(lo, hi):
            read = np.ascontiguousarray(block[within(box, lo)], np.float32)
            wrong += int(np.count_nonzero(read.view(np.uint32) != values.view(np.uint32)))
        return wrong

    def error(self, block: NDArray[np.float32], lo: Sequence[int]) -> tuple[float, float, float]:
        """Sums of squares over a block at `lo`: of the deviations from what it should hold, and of that; and the
        largest deviation."""
        deviation = energy = largest = 0.0
        hi = [a + n for a, n in zip(lo, block.shape, strict=True)]
        for box, values in self._pieces(lo, hi):
            wanted = values.astype(np.float64)
            difference = block[within(box, lo)] - wanted
            deviation += float(np.sum(difference**2))
            energy += float(np.sum(wanted**2))
            largest = max(largest, float(np.abs(difference).max(initial=0.0)))
        return deviation, energy, largest


class Pattern(Expected):
    """A volume of `shape` cells, float32, of two or three axes, slowest first.

    noise: finite values of all magnitudes below 2, 31 of whose 32 bits are random. wavefield: a sum of windowed waves.
    """

    def __init__(self, shape: Sequence[int], seed: int, kind: str = "noise") -> None:
        self.shape, self.kind = tuple(shape), kind
        random = np.random.default_rng(seed)
        self._mix = random.integers(0, 1 << 63, 2, dtype=np.uint64)
        self._row = random.integers(0, 1 << 32, self.shape[-1], dtype=np.uint32)
        self._waves = [[_wave(n, random) for n in self.shape] for _ in range(WAVES)] if kind == "wavefield" else []

    def block(self, lo: Sequence[int], hi: Sequence[int]) -> NDArray[np.float32]:
        """The values of the box [lo, hi), shape hi - lo."""
        values_of_box = np.empty(extent((tuple(lo), tuple(hi))), np.float32)
        for box, values in self._pieces(lo, hi):
            values_of_box[within(box, lo)] = values
        return values_of_box

    def _pieces(self, lo: Sequence[int], hi: Sequence[int]) -> Iterator[Piece]:
        make = self._wavefield if self._waves else self._noise
        for box in slabs(lo, hi, PIECE_CELLS):
            yield box, make(*box)

    def _noise(self, lo: Sequence[int], hi: Sequence[int]) -> NDArray[np.float32]:
        keys = self._keys(lo, hi)
        bits = self._row[lo[-1] : hi[-1]] * (keys.astype(np.uint32) | np.uint32(1))[..., None]
        bits += (keys >> np.uint64(32)).astype(np.uint32)[..., None]
        bits ^= bits >> np.uint32(16)  # a product's low bits repeat
        bits &= np.uint32(0xBFFFFFFF)  # no infinity, and nothing that is no number
        return bits.view(np.float32)

    def _keys(self, lo: Sequence[int], hi: Sequence[int]) -> NDArray[np.uint64]:
        """A number for each row: splitmix64 (Steele, Lea & Flood 2014) of the row's number."""
        number = np.zeros([b - a for a, b in zip(lo[:-1], hi[:-1], strict=True)], np.uint64)
        for axis, (a, b) in enumerate(zip(lo[:-1], hi[:-1], strict=True)):
            places = np.arange(a, b, dtype=np.uint64).reshape([-1 if n == axis else 1 for n in range(len(lo) - 1)])
            number = number * np.uint64(self.shape[axis]) + places
        number = self._mix[0] + (number + np.uint64(1)) * (self._mix[1] | np.uint64(1))
        number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(number ^ (number >> np.uint64(31)), np.uint64)

    def _wavefield(self, lo: Sequence[int], hi: Sequence[int]) -> NDArray[np.float32]:
        # Products and sums only: they round the same wherever a block begins, as sines of vectors need not.
        total = np.zeros(extent((tuple(lo), tuple(hi))), np.float32)
        for wave in self._waves:
            parts = np.ix_(*(along[a:b] for along, a, b in zip(wave, lo, hi, strict=True)))
            total += reduce(np.multiply, parts)
        return total


def _wave(cells: int, random: np.random.Generator) -> NDArray[np.float32]:
    """A wave along a whole axis, under a bell."""
    x = np.arange(cells)
    centre, width = random.uniform(0, cells), max(1.0, cells / random.uniform(2, 5))
    phase, turns = random.uniform(0, 2 * np.pi), 1 / random.uniform(SHORTEST_CELLS, 4 * SHORTEST_CELLS)
    return np.asarray(np.exp(-(((x - centre) / width) ** 2)) * np.cos(2 * np.pi * turns * x + phase), np.float32)
