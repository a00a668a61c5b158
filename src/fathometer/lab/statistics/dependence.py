"""Values that depend on each other: by how much that widens the interval of their median.

Along a series. The median of n values that follow one law has about the variance of n / f independent ones, with the
inflation

    f = 1 + 2 Σ_k (2/π) asin(r^k),

the sum over the correlations of the signs about the median, for normal scores with a serial correlation of r^k at a
distance of k (the arcsine law of Sheppard 1899; sums of such correlations: Gastwirth & Rubin 1971, Journal of the
American Statistical Association 66). r is estimated from the normal scores of the ranks, so that neither the law nor
its far values matter, and corrected for its bias of -(1 + 3 r) / n (Kendall 1954, Biometrika 41). The estimate is
always used, and never a test before it: with tens of values a test misses a third of what matters.

In sessions. m values of each of k sessions, of which those of a session are alike by the share r of the variance that
is between sessions, have f = 1 + (m - 1) (2/π) asin(r); r from the analysis of variance of the same scores. How far
sessions differ is known from k of them alone: the variance has k - 1 degrees of freedom (Kalibera & Jones 2013,
Rigorous benchmarking in reasonable time, ISMM).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST_DEPENDENT = 40  # values: with fewer the correlation is not known well enough to be allowed for
MOST_CORRELATED = 0.95  # beyond, no number of values that a study makes is enough

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Dependence:
    """How the variance of a median differs from that of independent values.

    Attributes:
        inflation: by what it is larger; 1 where values are taken for independent. freedom: degrees of freedom of its
            estimate.
    """

    inflation: float
    freedom: float

    def quantile(self, level: float) -> float:
        """Of the two-sided Student's law, times the root of the inflation."""
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2)) * math.sqrt(self.inflation)


INDEPENDENT = Dependence(1.0, math.inf)
FEWEST_SESSIONS = 3  # of which is learned how far sessions differ; two, as after an interruption, tell nothing of it


def telling(sessions: Sequence[int]) -> Sequence[int]:
    """The sessions of some values; none where they are too few to tell how far sessions differ."""
    return sessions if len(set(sessions)) >= FEWEST_SESSIONS else ()


def dependence(values: Sequence[float], sessions: Sequence[int] = ()) -> Dependence:
    """That of values in the order in which they were made; of several kinds the one that widens intervals most.

    sessions: of each value, where they are known; one of a single session has no part in it.
    """
    along, between = len(values) >= FEWEST_DEPENDENT, len(set(sessions)) > 1
    if not (along or between):
        return INDEPENDENT
    scores = normal_scores(values)
    found = [_along(scores)] if along else []
    found += [_between(scores, np.asarray(sessions))] if between else []
    return max(found, key=lambda each: each.quantile(0.95))


def _along(scores: Numbers) -> Dependence:
    n, power = len(scores), float(scores @ scores)
    r = float(scores[1:] @ scores[:-1]) / power if power else 0.0  # 0: all the same
    r = min(MOST_CORRELATED, max(0.0, r + (1.0 + 3.0 * r) / n)) if power else 0.0
    inflation = 1.0 + (4.0 / math.pi) * float(np.arcsin(r ** np.arange(1, n)).sum())
    return Dependence(inflation, max(1.0, n / inflation - 1.0) if r else math.inf)


def _between(scores: Numbers, sessions: NDArray[np.int_]) -> Dependence:
    groups = [scores[sessions == session] for session in np.unique(sessions)]
    counts = np.array([len(group) for group in groups], float)
    n, k = counts.sum(), len(groups)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    between = sum(len(group) * (group.mean() - scores.mean()) ** 2 for group in groups) / (k - 1)
    within = within / (n - k) if n > k else 0.0
    if between <= within or n == k:
        return INDEPENDENT
    m = (n - (counts**2).sum() / n) / (k - 1)  # of each session, on average
    share = (between - within) / (between + (m - 1) * within)
    inflation = 1.0 + max(0.0, (counts**2).sum() / n - 1) * (2.0 / math.pi) * math.asin(min(1.0, share))
    return Dependence(inflation, k - 1.0)


def normal_scores(values: Sequence[float]) -> Numbers:
    """Quantiles of the normal law at the ranks over n + 1; equal values share the mean of their ranks."""
    from scipy.special import ndtri

    _, places, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2.0)[places]
    scores: Numbers = ndtri(ranks / (len(values) + 1))
    return scores
