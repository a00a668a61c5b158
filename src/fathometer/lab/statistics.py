"""Times that can be compared: tasks measured in turns, medians and their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from fathometer.base.ledger import now


def timed(task: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = now()
    task()
    return now() - start


def interleave(
    tasks: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[Callable[[], object]], float] = timed
) -> dict[str, list[float]]:
    """Seconds of each task in `repeats` rounds, in turns, so that other load on the machine affects all of them alike;
    one round before them is not counted. `clock`: calls a task and returns its seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            elapsed = clock(task)
            if turn:
                seconds[name].append(elapsed)
    return seconds


@dataclass(frozen=True)
class Typical:
    """A median, the interval between two order statistics that holds the true one, and with what probability."""

    median: float
    low: float
    high: float
    coverage: float


def typical(values: Sequence[float], wanted: float = 0.95) -> Typical:
    """Median of independent values, and the narrowest symmetric order-statistic interval of at least the `wanted`
    coverage; all of them where so few cannot reach it (below 6 for 95 %). Coverage of the k-th smallest to the k-th
    largest of n: 1 - 2 P(Binomial(n, 1/2) < k) (Conover 1999, Practical Nonparametric Statistics)."""
    ordered, n = sorted(values), len(values)

    def coverage(k: int) -> float:
        return 1.0 - float(sum(math.comb(n, i) for i in range(k))) / 2.0 ** (n - 1)

    k = max((k for k in range(1, n // 2 + 1) if coverage(k) >= wanted), default=1)
    return Typical(median(ordered), ordered[k - 1], ordered[n - k], max(0.0, coverage(k)))
