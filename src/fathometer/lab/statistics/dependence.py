"""Values that depend on those before them: by how much that widens the interval of their median.

The median of n values that follow one law has about the variance of n / f independent ones, with the inflation

    f = 1 + 2 Σ_k (2/π) asin(r^k),

the sum over the correlations of the signs about the median, for normal scores with a serial correlation of r^k at a
distance of k (the arcsine law of Sheppard 1899; sums of such correlations: Gastwirth & Rubin 1971, Journal of the
American Statistical Association 66). r is estimated from the normal scores of the ranks, so that neither the law nor
its far values matter, and corrected for its bias of -(1 + 3 r) / n (Kendall 1954, Biometrika 41).

The estimate is always used, and never a test before it: with tens of values a test misses a third of what matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEWEST_DEPENDENT = 40  # values: with fewer the correlation is not known well enough to be allowed for
MOST_CORRELATED = 0.95  # beyond, no number of values that a study makes is enough

Numbers = NDArray[np.float64]


def inflation(values: Sequence[float]) -> float:
    """By what the variance of the median of values, in the order in which they were made, is larger than if they were
    independent; 1 for those that alternate, and for fewer than FEWEST_DEPENDENT."""
    n = len(values)
    if n < FEWEST_DEPENDENT:
        return 1.0
    scores = normal_scores(values)
    power = float(scores @ scores)
    if not power:  # all the same
        return 1.0
    r = float(scores[1:] @ scores[:-1]) / power
    r = min(MOST_CORRELATED, max(0.0, r + (1.0 + 3.0 * r) / n))
    powers = r ** np.arange(1, n)
    return 1.0 + (4.0 / math.pi) * float(np.arcsin(powers).sum())


def normal_scores(values: Sequence[float]) -> Numbers:
    """Quantiles of the normal law at the ranks over n + 1; equal values share the mean of their ranks."""
    from scipy.special import ndtri

    _, places, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2.0)[places]
    scores: Numbers = ndtri(ranks / (len(values) + 1))
    return scores
