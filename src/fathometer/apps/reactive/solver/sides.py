"""The faces of a rank's block that lie on a side of the grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.apps.reactive.solver.flow import SIDES, Floats, Flow


@dataclass(frozen=True, eq=False)
class BlockSide:
    """The part of a side that belongs to a block; arrays over its faces, along the two other axes.

    Attributes:
        name: "x-", … axis: its normal. last: whether it lies at the end of the axis.
        lo: the first face's cell along the two other axes.
        kind, water, head: as of `Side`.
    """

    name: str
    axis: int
    last: bool
    lo: tuple[int, int]
    kind: npt.NDArray[np.uint8]
    water: npt.NDArray[np.int64]
    head: Floats | None

    @property
    def outward(self) -> float:
        """1 where the side's normal points along its axis, else -1."""
        return 1.0 if self.last else -1.0

    @property
    def plane(self) -> tuple[slice | int, ...]:
        """Index of its faces in an array of faces along its axis, and of its cells in one of cells."""
        return tuple((-1 if self.last else 0) if axis == self.axis else slice(None) for axis in range(3))

    def place(self, face: Sequence[int]) -> str:
        """A face for messages, by the cell that it belongs to along the two other axes."""
        names = [name for axis, name in enumerate("xyz") if axis != self.axis]
        cells = (f"{name} {start + int(n)}" for name, start, n in zip(names, self.lo, face, strict=True))
        return f"{self.name} at cell {', '.join(cells)}"


def block_sides(flow: Flow, lo: Sequence[int], hi: Sequence[int]) -> Iterator[BlockSide]:
    """The sides that the block of the cells lo to hi has faces on."""
    for number, name in enumerate(SIDES):
        axis, last = number // 2, number % 2 == 1
        if (hi[axis] if last else lo[axis]) != (flow.shape[axis] if last else 0):
            continue
        side = flow.sides[name]
        one, other = (a for a in range(3) if a != axis)
        part = (slice(lo[one], hi[one]), slice(lo[other], hi[other]))
        head = None if side.head is None else side.head[part]
        yield BlockSide(name, axis, last, (lo[one], lo[other]), side.kind[part], side.water[part], head)
