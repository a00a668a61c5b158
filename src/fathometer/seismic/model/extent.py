"""What a model covers: parts of it in metres, and cells added to its sides."""

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
    """From `first` to `last`, m, both included; None: as far as the model goes."""

    first: float | None
    last: float | None

    def cells(self, origin: float, spacing: float, n: int) -> tuple[int, int]:
        """Of n cells, those that lie within, half-open; the second is not above the first where none does."""
        first = 0 if self.first is None else math.ceil((self.first - origin) / spacing - _ROUNDING)
        last = n - 1 if self.last is None else math.floor((self.last - origin) / spacing + _ROUNDING)
        return max(first, 0), min(last, n - 1) + 1


@dataclass(frozen=True)
class Length:
    """A length in metres, or in cells."""

    value: float
    in_cells: bool

    def cells(self, spacing: float) -> int:
        """Whole cells of `spacing` m that cover it."""
        return int(self.value) if self.in_cells else math.ceil(self.value / spacing - _ROUNDING)


@dataclass(frozen=True)
class Extension:
    """What is added before and after an axis."""

    before: Length
    after: Length


def crop_of(text: str) -> tuple[Span, ...]:
    """FIRST:LAST for each axis with commas between, in m; either may be left out. Raises InputError."""

    def span(part: str) -> Span:
        first, colon, last = part.partition(":")
        try:
            if not colon:
                raise ValueError
            found = Span(*(float(end) if end.strip() else None for end in (first, last)))
        except ValueError:
            found = Span(1.0, 0.0)
        ends = [end for end in (found.first, found.last) if end is not None]
        if ends != sorted(ends) or not all(map(math.isfinite, ends)):
            raise InputError(f"found {text}; allowed: FIRST:LAST for each axis with commas between, in m, as 0:500,:")
        return found

    return tuple(span(part) for part in text.split(","))


def extension_of(text: str) -> tuple[Extension, ...]:
    """N or BEFORE:AFTER for each axis, or for all, with commas between, in m, or in cells as 20c. Raises InputError."""

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

    found = []
    for part in text.split(","):
        before, colon, after = part.partition(":")
        found.append(Extension(length(before), length(after if colon else before)))
    return tuple(found)


def along(axes: Sequence[int], values: Sequence[T], option: str) -> dict[int, T]:
    """The values of an option by axis (0, 1, 2 for x, y, z): one for all, or one for each. Raises InputError."""
    if len(values) == 1:
        values = [values[0]] * len(axes)
    if len(values) != len(axes):
        names = ", ".join("xyz"[axis] for axis in axes)
        raise InputError(f"{option}: found {len(values)} values; needed: one, or {len(axes)}, for {names}")
    return dict(zip(axes, values, strict=True))
