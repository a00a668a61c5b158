"""Reproducible summation of volumes: sums that do not depend on the order of their terms.

A term x is truncated at powers of two that are the same for all terms of all sums:

    x = a 2^(40 t) + b 2^(40 (t - 1)) + rest,   |a|, |b| < 2^40 integers

t, the *top*, is the least one for which the peak of the largest term fits. a and b are added as 64-bit integers, which
is exact; the rest is dropped. The limbs of a term never depend on the other terms: where a larger term raises the top,
the lower limb is dropped as if it had never been stored. So the sum depends on the set of its terms alone. The method
is that of Demmel & Nguyen (2013, Fast reproducible floating-point summation, ARITH 21), with one top for a volume
instead of one for each number.

The truncation error of a term is below 2^-40 of the largest term's peak, mostly far below; 2^23 terms do not overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fathometer import _native

BITS = 40  # of a limb
LOWEST = -20  # smallest top; smaller terms are below 10^-230
LIMBS = 2  # a and b
Limbs = np.ndarray  # int64 (LIMBS, ...): a and b of each number


def top_of(peak: float) -> int:
    """The top of a volume whose largest magnitude is `peak`. Raises ValueError where that is not finite."""
    if not 0.0 <= peak < math.inf:
        raise ValueError(f"a peak of {peak}")
    return LOWEST if peak == 0 else max(LOWEST, (math.frexp(peak)[1] - 1) // BITS)


def add(limbs: Limbs, top: int, values: np.ndarray) -> None:
    """limbs (2, nx, ny, nz) += values (nx, ny, nz), of magnitudes below 2^(40 (top + 1)), rows along z contiguous.

    Raises ValueError, the sum being lost, where a magnitude is not finite or not below that.
    """
    _native.add_exactly(values, limbs[0], limbs[1], 2.0 ** (BITS * top), 2.0 ** (BITS * (top - 1)))


def with_top(limbs: Limbs, top: int, higher: int) -> Limbs:
    """The same sum with a higher top, lower limbs dropped; `limbs` itself where the tops are equal."""
    if higher == top:
        return limbs
    zero = np.zeros_like(limbs[0])
    return np.stack([zero, limbs[0] if higher == top + 1 else zero])


def raise_top(limbs: Limbs, top: int, higher: int) -> None:
    """The same as `with_top`, in the sum's own memory."""
    if higher > top:
        limbs[1] = limbs[0] if higher == top + 1 else 0
        limbs[0] = 0


def value(limbs: Limbs, top: int, dtype: np.dtype[Any]) -> np.ndarray:
    """The sum in floating point, of the shape of one limb."""
    total = limbs[0] * 2.0 ** (BITS * top) + limbs[1] * 2.0 ** (BITS * (top - 1))
    return np.asarray(total, dtype)
