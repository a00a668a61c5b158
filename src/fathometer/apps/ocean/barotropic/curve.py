"""Hilbert's curve: places that follow one another on it are neighbours in the plane."""

from __future__ import annotations


def hilbert(x: int, y: int, order: int) -> int:
    """The place of a cell (x, y) of 2^order x 2^order cells on the curve.

    >>> [hilbert(x, y, 1) for x, y in ((0, 0), (0, 1), (1, 1), (1, 0))]
    [0, 1, 2, 3]
    """
    place, side = 0, 1 << (order - 1) if order else 0
    while side:
        right, up = int(bool(x & side)), int(bool(y & side))
        place += side * side * ((3 * right) ^ up)
        if not up:  # turn the quarter, so that the curves of the four follow one another
            if right:
                x, y = side - 1 - (x & (side - 1)), side - 1 - (y & (side - 1))
            x, y = y, x
        side >>= 1
    return place
