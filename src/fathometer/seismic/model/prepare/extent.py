"""Crop and extension of a model: ranges in metres, and cells added to its sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from fathometer.base.errors import InputError

T = TypeVar("T")

_ROUNDING = 1e-6  # of a cell


@dataclass(frozen=True)
class Span:
    """A range along an axis, from `first` to `last`, m, both included; None: to the end of the model."""

    first: float | None
    last: float | None

    def cells(self, origin: float, spacing: float, n: int) -> tuple[int, int]:
        """Half-open range of the cells within the span, of n cells; empty where its end is not above its begin.

        origin: position of the first cell, m. spacing: m.
        """
        first = 0 if self.first is None else math.ceil((self.first - origin) / spacing - _ROUNDING)
        last = n - 1 if self.last is None else math.floor((self.last - origin) / spacing + _ROUNDING)
        return max(first, 0), min(last, n - 1) + 1


@dataclass(frozen=True)
class Length:
    """A length in metres, or in cells."""

    value: float
    in_cells: bool

    def cells(self, spacing: float) -> int:
        """Smallest number of cells of `spacing` (m) that cover the length."""
        return int(self.value) if self.in_cells else math.ceil(self.value / spacing - _ROUNDING)


@dataclass(frozen=True)
class Extension:
    """Lengths added before and after the model along an axis."""

    before: Length
    after: Length


def crop_of(text: str) -> tuple[Span, ...]:
    """Crop written as FIRST:LAST for each axis, separated by commas, in m; FIRST or LAST may be left out.

    Raises InputError.
    """

    def span(part: str) -> Span:
        first, colon, last = part.partition(":")
        try:
            if not colon:
                raise ValueError
            parsed = Span(*(float(end) if end.strip() else None for end in (first, last)))
        except ValueError:
            parsed = Span(1.0, 0.0)  # refused below
        ends = [end for end in (parsed.first, parsed.last) if end is not None]
        if ends != sorted(ends) or not all(map(math.isfinite, ends)):
            raise InputError(f"found {text}; allowed: FIRST:LAST for each axis with commas between, in m, as 0:500,:")
        return parsed

    return tuple(span(part) for part in text.split(","))


def extension_of(text: str) -> tuple[Extension, ...]:
    """Extension written as N or BEFORE:AFTER for each axis or for all, separated by commas, in m, or in cells as 20c.

    Raises InputError.
    """

    def length(part: str) -> Length:
        number, in_cells = (part[:-1], True) if part.endswith("c") else (part, False)
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value < 1e9 or (in_cells and value != int(value)):
            raise InputError(
                f"found {text}; allowed: N or BEFORE:AFTER for each axis with commas between, in m, or in cells as 20c"
            )
        return Length(value, in_cells)

    extensions = []
    for part in text.split(","):
        before, colon, after = part.partition(":")
        extensions.append(Extension(length(before), length(after if colon else before)))
    return tuple(extensions)


def along(axes: Sequence[int], values: Sequence[T], option: str) -> dict[int, T]:
    """Values of an option by axis (0, 1, 2 for x, y, z), from one value for all axes or one for each.

    Raises InputError for another number of values.
    """
    if len(values) == 1:
        values = [values[0]] * len(axes)
    if len(values) != len(axes):
        names = ", ".join("xyz"[axis] for axis in axes)
        raise InputError(f"{option}: found {len(values)} values; needed: one, or {len(axes)}, for {names}")
    return dict(zip(axes, values, strict=True))
