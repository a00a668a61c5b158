"""The triad beside other tasks: what memory gives, measured in turns with them."""

from __future__ import annotations

from fathometer import _native
from fathometer.lab.stencil import ITEM_BYTES, TRIAD_ELEMENTS

TRIAD_BYTES = 3 * ITEM_BYTES * TRIAD_ELEMENTS  # that a call moves


class Triad:
    """A task: the triad over arrays that the threads set at its making have touched first."""

    def __init__(self) -> None:
        self._arrays = [_native.zerosFloat32((1, 1, TRIAD_ELEMENTS), n) for n in range(3)]

    def __call__(self) -> None:
        _native.triad(*self._arrays)
