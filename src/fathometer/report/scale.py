"""The range of a field's values for colours, values as codes of a page, and few of many times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.report.decimation import encoded

Values = npt.NDArray[np.floating]

RATIO, MOST_RATIO = 1e2, 1e12  # logarithmic where values differ by more than the first; below the second: one colour
CONSTANT = 1e-6  # of the magnitude: less than this is rounding of float32


@dataclass(frozen=True)
class Scale:
    """Range of a field's values.

    Attributes:
        low, high: of the colours; around the value where the field is constant. log: whether they are logarithmic.
        constant: the only value of the field; None where it varies. holes: some values are not finite.
        empty: all of them are not.
    """

    low: float
    high: float
    log: bool = False
    constant: float | None = None
    holes: bool = False
    empty: bool = False

    @property
    def plain(self) -> bool:
        """Whether the field has one value or none."""
        return self.empty or self.constant is not None

    def told(self, name: str) -> str:
        """A field's name, and what there is to say of its values."""
        if self.empty:
            return f"{name}: no values"
        if self.constant is None:
            return name
        return f"{name}: {self.constant:.4g} {'where it has values' if self.holes else 'everywhere'}"


def range_of(parts: Sequence[Values], may_be_log: bool = False) -> Scale:
    """The range of the finite values of all parts; logarithmic where that is allowed and they differ much."""
    finite = [part[np.isfinite(part)] for part in parts]
    holes = any(some.size < part.size for some, part in zip(finite, parts, strict=True))
    if not any(some.size for some in finite):
        return Scale(0.0, 1.0, holes=holes, empty=True)
    low = min(float(some.min()) for some in finite if some.size)
    high = max(float(some.max()) for some in finite if some.size)
    largest = max(abs(low), abs(high))
    if high - low <= CONSTANT * largest:
        middle = (low + high) / 2
        half = 0.5 * largest or 0.5
        return Scale(middle - half, middle + half, constant=middle, holes=holes)
    log = may_be_log and low > 0.0 and high > RATIO * low
    return Scale(max(low, high / MOST_RATIO) if log else low, high, log, holes=holes)


def codes_of(values: Values, scale: Scale) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Values as codes: 0 for what is no number, else 1 to 255 over the scale."""
    finite = np.isfinite(values)
    filled = np.where(finite, values, scale.low).astype(np.float64)
    low, high = scale.low, scale.high
    if scale.log:
        filled, low, high = np.log10(np.maximum(filled, low)), math.log10(low), math.log10(high)
    share = np.clip((filled - low) / (high - low), 0.0, 1.0)
    return np.where(finite, 1 + np.rint(254 * share), 0).astype(np.uint8)


def field_entry(label: str, parts: Sequence[Values], scale: Scale) -> dict[str, Any]:
    """An entry of `fields` of panels_beside.py; parts: [across, along], one for each choice."""
    return {
        "label": label,
        "low": scale.low,
        "high": scale.high,
        "log": scale.log,
        "plain": scale.plain,
        "codes": [encoded(codes_of(part.T, scale)) for part in parts],
    }


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers 0 to count - 1, the first and the last among them.

    >>> spread(11, 3)
    [0, 5, 10]
    """
    if count <= most:
        return list(range(count))
    return sorted({round(n * (count - 1) / (most - 1)) for n in range(most)})
