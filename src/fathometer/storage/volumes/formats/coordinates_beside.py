"""Arrays that are called as axes are, beside an array without names of its axes, in a group of HDF5 or an archive."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from fathometer.storage.volumes.axis_labels import axis_of


def names_by_length(shape: Sequence[int], lines: Mapping[str, int], order: Sequence[str] = ()) -> list[str]:
    """The names, one for each axis of an array of this shape, of the arrays beside it that are called as axes are,
    where their lengths fit one order of them alone; else none.

    lines: lengths of the arrays of one axis, by name. order: of the axes as the array itself names them.

    >>> names_by_length((30, 40), {"x": 40, "z": 30}), names_by_length((30, 30), {"x": 30, "z": 30})
    (['z', 'x'], [])
    """
    named = {name: axis_of(name) for name, length in lines.items() if length in shape}
    found = {axis: name for name, axis in named.items() if axis}
    if len(found) != len(shape) or len([axis for axis in named.values() if axis]) != len(shape):
        return []
    orders = [
        axes
        for axes in itertools.permutations(found)
        if all(lines[found[axis]] == n for axis, n in zip(axes, shape, strict=True))
        and (not order or list(axes) == list(order))
    ]
    return [found[axis] for axis in orders[0]] if len(orders) == 1 else []
