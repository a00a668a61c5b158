"""The least and the largest value of results, from what is written anyway: whether there is anything in them.

A result that is 0 or the same everywhere is said to the user: it is what a wrong key or an input of zeros leads to, and
looks like a run that has gone well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.parallel.collectives import allgather


@dataclass
class ValueRange:
    """The least and the largest of the values that have been added; NaN where one of them was."""

    low: float = math.inf
    high: float = -math.inf

    def add(self, values: npt.NDArray[Any]) -> None:
        """Values of any shape; none are allowed too."""
        if values.size:
            self.join(ValueRange(float(values.min()), float(values.max())))

    def join(self, other: ValueRange) -> None:
        """Add the values of another one."""
        self.low = float(np.minimum(self.low, other.low))
        self.high = float(np.maximum(self.high, other.high))

    @property
    def uniform(self) -> bool:
        """Whether all values are the same; not without values."""
        return self.low == self.high

    @property
    def zero(self) -> bool:
        """Whether all values are 0; not without values."""
        return self.low == 0.0 == self.high


def joined(ranges: Mapping[str, ValueRange], comm: MPI.Intracomm) -> dict[str, ValueRange]:
    """Collective. The ranges of all ranks' values by name; all ranks have the same names."""
    found = {name: ValueRange() for name in ranges}
    for of_rank in allgather(comm, dict(ranges)):
        for name, one in of_rank.items():
            found[name].join(one)
    return found


def range_of(values: npt.NDArray[Any]) -> ValueRange:
    """The range of an array."""
    found = ValueRange()
    found.add(values)
    return found


def same_everywhere(ranges: Mapping[str, ValueRange]) -> list[str]:
    """A sentence on each result that is the same everywhere. ranges: by what the results are called."""
    return [f"{name} is {one.low:g} everywhere" for name, one in ranges.items() if one.uniform]


def still_fields(ranges: Mapping[str, ValueRange], expected: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Notes on fields that were the same everywhere each time they were written, and reasons not to trust a run in
    which all of them were so.

    ranges: of all times, by names of fields. expected: names of those that the input has so, which need no note.
    """
    still = {name: one.low for name, one in ranges.items() if one.uniform}
    if still and len(still) == len(ranges):
        values = ", ".join(f"{name} {value:g}" for name, value in still.items())
        reason = f"nothing happens: all fields are the same everywhere at all times that were written: {values}"
        return [reason], [reason]
    told = ", ".join(f"{name} ({value:g})" for name, value in still.items() if name not in expected)
    return ([f"the same everywhere at all times that were written: {told}"] if told else []), []
