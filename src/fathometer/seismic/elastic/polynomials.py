"""Polynomials through points of a field, where sincs would reach beyond what it lives in."""

from __future__ import annotations

import numpy as np

POLYNOMIAL = 6  # points


def lagrange(nodes: np.ndarray, place: float) -> np.ndarray:
    """Weights (n,) of values at nodes (n,) whose sum is the value at `place` of the polynomial through them."""
    weights = np.ones(len(nodes))
    for n, node in enumerate(nodes):
        others = np.delete(nodes, n)
        weights[n] = np.prod((place - others) / (node - others))
    return weights
