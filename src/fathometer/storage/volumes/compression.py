"""What compression of a volume costs and loses, of one rank; ranks' numbers are put together in the account."""

from __future__ import annotations

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
        """Errors of a block that was read back."""
        difference = found.astype(np.float64)
        difference -= written
        np.abs(difference, out=difference)
        squares = float(np.vdot(difference, difference))
        self.add_errors(float(difference.max(initial=0.0)), squares, written.size)

    def numbers(self) -> dict[str, float]:
        """By name, as `ledger.compressed` takes them."""
        return {name: number for name, number in asdict(self).items() if name != "find_errors"}

    def tell(self) -> None:
        """Add it to the account of the file that is being written."""
        ledger.compressed(self.numbers())
