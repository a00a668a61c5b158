"""The surface between bounds that bends least."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse

_STEPS = 100  # at most, with each strength
_STRENGTHS = (
    1e-5,
    1e-3,
    1e-1,
)  # of what draws the surface to its bounds, against its bending; in turns: long waves first
_RELAXATION = 1.6
_CLOSE = 5e-3  # what is left of a difference when it is done


def least_bent(low: np.ndarray, high: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Heights (nx, ny) float64 between `low` and `high` whose second differences along x and y have the least sum of
    squares, nearly; start: a first guess.

    By the alternating direction method of multipliers (Boyd et al. 2011, Found. Trends Mach. Learn. 3(1)): a surface
    without bounds, and one that keeps them, which draw each other together.
    """
    kept = np.asarray(start, float)
    if not (high > low).any() or max(low.shape) < 3:
        return kept
    for strength in _STRENGTHS:
        pull, unbound = np.zeros(low.shape), _unbound(low.shape, strength)
        for _ in range(_STEPS):
            free = unbound(kept - pull)
            there = _RELAXATION * free + (1 - _RELAXATION) * kept
            last, kept = kept, np.clip(there + pull, low, high)
            pull = pull + there - kept
            if max(np.abs(free - kept).max(), np.abs(kept - last).max()) < _CLOSE:
                break
    return kept


def _unbound(shape: tuple[int, ...], strength: float) -> Callable[[np.ndarray], np.ndarray]:
    """What makes of heights those with the least bending plus `strength` times the squares of what they differ by."""
    if 1 in shape:
        second = _second_differences(max(shape))
        band = np.zeros((3, max(shape)))
        for m in range(3):
            band[m, : max(shape) - m] = (second.T @ second).diagonal(-m)
        band[0] += strength
        factor = scipy.linalg.cholesky_banded(band, lower=True)

        def along_a_line(heights: np.ndarray) -> np.ndarray:
            found = scipy.linalg.cho_solve_banded((factor, True), strength * heights.reshape(-1))
            return np.asarray(found.reshape(shape))

        return along_a_line
    (across, x), (along, y) = (
        np.linalg.eigh((second.T @ second).toarray()) for second in map(_second_differences, shape)
    )
    gain = strength / (np.maximum(across[:, None] + along, 0.0) + strength)
    return lambda heights: np.asarray(x @ ((x.T @ heights @ y) * gain) @ y.T)


def _second_differences(n: int) -> scipy.sparse.csr_array:
    """(n - 2, n)."""
    return scipy.sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(max(n - 2, 0), n)).tocsr()
