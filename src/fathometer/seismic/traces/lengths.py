"""Lengths of Fourier transforms."""

from __future__ import annotations


def fast_length(length: int) -> int:
    """The smallest number 2^a 3^b 5^c that is not below a length of at least 1: real transforms of it are fast.

    The same as scipy.fft.next_fast_len(length, real=True), whose import takes as long as all others of a small run.

    >>> fast_length(7), fast_length(1021)
    (8, 1024)
    """
    shortest, fives = 2 * length, 1
    while fives < shortest:
        odd = fives
        while odd < shortest:
            halvings = max(0, (-(-length // odd) - 1).bit_length())
            shortest = min(shortest, odd << halvings)
            odd *= 3
        fives *= 5
    return shortest
