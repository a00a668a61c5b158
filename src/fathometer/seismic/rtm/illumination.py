"""The level of a survey's illumination, by which a source-normalised image is stabilised and judged.

The illumination S next to a source is that of its own cell: the smaller the cell, the larger. So no largest value
counts, but what there is in most of the cells that waves reach:

    half        half of the sum of S lies in cells where S is above it: it depends neither on the few cells around
                sources nor on how much of the model no wave has reached
    median      of S over the lit cells, those where S is at least LIT * half

All of it is taken from a histogram of the leading bits of the numbers, which ranks add up as integers: exact, so the
same for any decomposition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.parallel.collectives import allreduce

STABILISATION = 1e-3  # lambda over the median: what S = WEAK * median loses by it is STABILISATION / WEAK
LIT = 1e-4  # of the half: the least illumination of lit cells
WEAK = 0.05  # of the median: below it the image is not a reflection coefficient
DIGITS = 7  # bits behind the leading one that tell bins apart: they are less than 1 % wide
SLAB = 1 << 20  # cells that are counted at a time


@dataclass(frozen=True)
class Illumination:
    """Of an image.

    Attributes:
        median: of the lit cells, to 1 %, in the unit of S; above 0. cells: of the image. weak: those of them below
            WEAK * median. gain: what else the image was multiplied by (steps_gain.py).
    """

    median: float
    cells: int
    weak: int
    gain: float = 1.0

    @property
    def stabilisation(self) -> float:
        """Lambda, which is added to S."""
        return STABILISATION * self.median

    @property
    def note(self) -> str:
        """What cannot be trusted; "" where all can."""
        if not self.weak:
            return ""
        return (
            f"source-normalised: in {_percent(self.weak / self.cells)} of the image's cells the illumination "
            f"(image-illumination) is below {WEAK:g} of its median; there values are too small, by more than "
            f"{100 * STABILISATION / WEAK:.0f} %, and noisy"
        )

    def as_dict(self) -> dict[str, Any]:
        """For the record."""
        return {
            "median": self.median,
            "stabilisation": self.stabilisation,
            "time_step_gain": self.gain,
            "weak_below": WEAK * self.median,
            "weak_share_of_median": WEAK,
            "weak_fraction_of_cells": self.weak / self.cells,
            "note": self.note,
        }


def _percent(fraction: float) -> str:
    return "less than 1 %" if fraction < 0.01 else f"{100 * fraction:.0f} %"


def illumination_of(values: npt.NDArray[np.floating[Any]], comm: MPI.Intracomm) -> Illumination | None:
    """Collective. The level of the illumination `values`, this rank's cells of it, float32 or float64, none below 0;
    None where it is 0 everywhere."""
    counts = allreduce(comm, histogram(values), "SUM")
    median = median_of_lit(counts, lower_edges(values.dtype))
    if median == 0.0:
        return None
    least = values.dtype.type(WEAK * median)
    weak = sum(int(np.count_nonzero(part < least)) for part in _slabs(values))
    return Illumination(median, int(counts.sum()), allreduce(comm, weak, "SUM"))


def _slabs(values: npt.NDArray[np.floating[Any]]) -> Iterator[npt.NDArray[np.floating[Any]]]:
    """All values, some at a time."""
    flat = values.reshape(-1)
    return (flat[start : start + SLAB] for start in range(0, flat.size, SLAB))


def _bits(dtype: np.dtype[Any]) -> tuple[type[np.unsignedinteger[Any]], int, int]:
    """Of numbers >= 0: the integers of their length, how many of their bits no bin tells apart, and the bins."""
    kind, digits, exponents = (np.uint32, 23, 8) if dtype.itemsize == 4 else (np.uint64, 52, 11)
    return kind, digits - DIGITS, 1 << (exponents + DIGITS)


def histogram(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int64]:
    """Numbers of values in each bin of `lower_edges`; values: >= 0, of any shape."""
    kind, shift, bins = _bits(values.dtype)
    found = np.zeros(bins, np.int64)
    for part in _slabs(values):
        found += np.bincount((part.view(kind) >> kind(shift)).astype(np.int64), minlength=bins)
    return found


def lower_edges(dtype: np.dtype[Any]) -> npt.NDArray[np.float64]:
    """The least number of each bin; infinity and NaN have bins too."""
    kind, shift, bins = _bits(dtype)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.arange(bins, dtype=kind) << kind(shift)).view(dtype), np.float64)


def median_of_lit(counts: npt.NDArray[np.int64], edges: npt.NDArray[np.float64]) -> float:
    """The median over the lit cells, as the lower edge of its bin; 0 where nothing is lit."""
    used = np.flatnonzero((counts > 0) & np.isfinite(edges) & (edges > 0))
    if not len(used):
        return 0.0
    counts, edges = counts[used][::-1], edges[used][::-1]  # from the largest down
    sums = np.cumsum(counts * (edges / edges[0]))
    half = edges[np.searchsorted(sums, 0.5 * sums[-1])]
    below = np.cumsum(counts[edges >= LIT * half])
    return float(edges[np.searchsorted(below, (below[-1] + 1) // 2)])
