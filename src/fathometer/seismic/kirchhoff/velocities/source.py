"""Interface of what gives a property over the image: a number, a volume, picks, a depth model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = tuple[int, int]  # numbers along x and y; y is 0 in two dimensions


class Source(Protocol):
    """A property over the columns and times of an image. The values of a column do not depend on the box it is read
    with, bit by bit.

    Attributes:
        notes: what a user should know of it. samples: along its own vertical axis.
    """

    notes: tuple[str, ...]
    samples: int

    def read(self, lo: Columns, hi: Columns) -> Floats:
        """Values (nx, ny, nt) of the columns in the half-open box [lo, hi). InputError where the checks refuse them."""

    def files(self) -> list[Path]:
        """All files that the values come from."""

    def record(self) -> dict[str, Any]:
        """Where they come from, as JSON."""


class Number:
    """The same value everywhere."""

    notes: tuple[str, ...] = ()

    def __init__(self, value: float, samples: int) -> None:
        self.value, self.samples = value, samples

    def read(self, lo: Columns, hi: Columns) -> Floats:
        """The value in columns (nx, ny, nt)."""
        return np.full((hi[0] - lo[0], hi[1] - lo[1], self.samples), self.value)

    def files(self) -> list[Path]:
        """None."""
        return []

    def record(self) -> dict[str, Any]:
        """The value, as JSON."""
        return {"source": "number", "value": self.value}
