"""What compression of a volume costs and loses, of one rank; ranks' numbers are put together in the account."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger


@dataclass
class Compression:
    """Attributes:
    compress_seconds: of this rank's threads in the transform and the coding, while it writes.
    error_seconds: in finding the errors, which is no part of writing. find_errors: whether they are found.
    plain_bytes: of the values that it wrote. stored_bytes: of the whole file, on one rank.
    largest_error, squared_error: of the values as they are read back: largest difference, sum of squares.
    """

    find_errors: bool = True
    compress_seconds: float = 0.0
    error_seconds: float = 0.0
    plain_bytes: int = 0
    stored_bytes: int = 0
    largest_error: float = 0.0
    squared_error: float = 0.0
    values: int = 0

    def add_errors(self, largest: float, squares: float, values: int) -> None:
        """Errors of some more values."""
        self.largest_error = max(self.largest_error, largest)
        self.squared_error += squares
        self.values += values

    def compare(self, written: NDArray[Any], found: NDArray[Any]) -> None:
        """Errors of a block that was read back, where what was written is a finite number. What is none any more counts
        as the largest number that there is."""
        for before, after in zip(written, found, strict=True):  # plane by plane: next to no memory
            difference = after.astype(np.float64)
            with np.errstate(invalid="ignore"):
                difference -= before
            finite = np.isfinite(before)
            largest = float(np.finfo(np.float32).max)
            difference = np.abs(np.nan_to_num(difference[finite], nan=largest, posinf=largest, neginf=largest))
            squares = float(np.vdot(difference, difference))
            self.add_errors(float(difference.max(initial=0.0)), squares, difference.size)

    @contextlib.contextmanager
    def finding_errors(self) -> Iterator[None]:
        """Around finding errors, which is a phase of its own and no part of writing."""
        begin = ledger.now()
        with ledger.phase("compression errors"):
            yield
        self.error_seconds += ledger.now() - begin

    def numbers(self) -> dict[str, float]:
        """By name, as `ledger.compressed` takes them."""
        return {name: number for name, number in asdict(self).items() if name != "find_errors"}

    def tell(self) -> None:
        """Add it to the account of the file that is being written."""
        ledger.compressed(self.numbers())
