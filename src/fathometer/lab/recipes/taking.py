"""One number of many, without keeping them: the first, last, only, sum, mean, least or greatest of those that are
found, or how many there are.

Standard library only, as line_search.py, which runs in a process of its own.
"""

from __future__ import annotations

import math
import re

# As C and Fortran print numbers: 12, -1.5, .5, 1.2e-3, 1.2D+03.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]{1,4})?")


def number_of(text: str) -> float:
    """The number that a text is. ValueError, which says what was found, for all others: no commas, no NaN."""
    text = text.strip()
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text.lower().replace("d", "e"))):
        return number
    comma = ", without commas" if "," in text else ""
    raise ValueError(f'"{text[:40]}" is not a number{comma}; allowed: such as 12, -1.5, 1.2e-3 or 1.2D+03')


class Taken:
    """Numbers that are added one after the other, and what is taken of them.

    Args:
        take: first, last, only, sum, mean, least, most or count. skip: so many first ones are left out, but counted.

    Attributes:
        count: numbers that were added, with those left out.
    """

    def __init__(self, take: str, skip: int = 0) -> None:
        self._take, self._skip = take, skip
        self.count = 0
        self._value = 0.0

    def add(self, number: float) -> None:
        """One more."""
        self.count += 1
        place = self.count - self._skip  # from 1
        if place < 1:
            return
        if place == 1 or self._take == "last":
            self._value = number
        elif self._take in ("sum", "mean"):
            self._value += number
        elif self._take == "least":
            self._value = min(self._value, number)
        elif self._take == "most":
            self._value = max(self._value, number)

    @property
    def problem(self) -> str:
        """Why what is taken says nothing; "": it does."""
        left = self.count - self._skip
        return f"found {left} numbers; allowed: one" if self._take == "only" and left > 1 else ""

    @property
    def value(self) -> float | None:
        """What is taken; None where nothing was added after those left out, but for `count`."""
        left = self.count - self._skip
        if self._take == "count":
            return float(max(left, 0))
        if left < 1:
            return None
        return self._value / left if self._take == "mean" else self._value
