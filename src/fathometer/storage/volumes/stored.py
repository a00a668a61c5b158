"""How the values in a file become those of the volume: the order and direction of its axes, and packing.

All formats and all ways to read, by one rank or by several, go through this: a format states, and hands out what is
stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.volumes.boxes import Box


@dataclass(frozen=True)
class Stored:
    """What lies between an array in a file and the volume that is handed out.

    A value of the volume is `scale` times the stored one, plus `offset`. Cells of the volume are those of the array
    with the order of the axes reversed, where `column_major`, and then counted from the other end along the axes that
    are `flipped`. The array may have axes of one cell that the volume has not.

    Attributes:
        shape: of the volume. column_major: the file's slowest axis is the volume's fastest.
        flipped: for each axis of the volume. valid: least and largest stored value; others are missing data.
        dropped: axes of the array, of one cell each, that the volume has not; in rising order.
    """

    shape: tuple[int, ...]
    column_major: bool = False
    flipped: tuple[bool, ...] = ()
    scale: float = 1.0
    offset: float = 0.0
    valid: tuple[float, float] | None = None
    dropped: tuple[int, ...] = ()

    @property
    def packed(self) -> bool:
        """Whether values are others than the stored ones."""
        return (self.scale, self.offset) != (1.0, 0.0)

    def box(self, lo: Sequence[int], hi: Sequence[int]) -> Box:
        """The box of the array that holds the box [lo, hi) of the volume."""
        ends = list(zip(lo, hi, strict=True))
        for axis, flip in enumerate(self.flipped):
            if flip:
                a, b = ends[axis]
                ends[axis] = self.shape[axis] - b, self.shape[axis] - a
        ends = ends[::-1] if self.column_major else ends
        for axis in self.dropped:
            ends.insert(axis, (0, 1))
        return tuple(a for a, _ in ends), tuple(b for _, b in ends)

    def arranged(self, block: NDArray[Any]) -> NDArray[Any]:
        """A view of a block of the array with the volume's axes."""
        block = block.squeeze(self.dropped) if self.dropped else block
        block = block.T if self.column_major else block
        if not any(self.flipped):
            return block
        return block[tuple(slice(None, None, -1 if flip else 1) for flip in self.flipped)]

    def unpacked(self, block: NDArray[Any]) -> NDArray[Any]:
        """The volume's values of stored ones, in float64 where they differ."""
        return block * np.float64(self.scale) + np.float64(self.offset) if self.packed else block
