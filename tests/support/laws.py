"""Laws of synthetic measurements: their true median is known, and the values come from a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.stopping import StoppingRule

STUDIES = 1000


def two_modes(share, apart):
    """Normal about 0 with a probability `share`, else about `apart`; less the median."""
    middle = brentq(lambda x: share * norm.cdf(x) + (1 - share) * norm.cdf(x - apart) - 0.5, -10, apart + 10)

    def law(source, shape):
        return np.where(source.random(shape) < share, 0.0, apart) + source.normal(size=shape) - middle

    return law


# Each has the median 0 and a scale of about 1.
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda source, shape: source.normal(size=shape),
    "uniform": lambda source, shape: source.uniform(-1, 1, shape),
    "log-normal": lambda source, shape: np.exp(source.normal(size=shape)) - 1,
    "exponential": lambda source, shape: source.exponential(size=shape) - np.log(2),
    "heavy tails": lambda source, shape: source.standard_t(2, shape),
    "two modes, 7 : 3": two_modes(0.7, 10),
    "two modes, 6 : 4": two_modes(0.6, 10),
    "two modes, 1 : 1": two_modes(0.5, 4),
}


def measurements(law, spread, shape, seed):
    """Values above zero with the median 1 that vary by about `spread`."""
    return np.exp(spread * LAWS[law](np.random.default_rng(seed), shape))


def covered(law, count, studies=STUDIES, seed=1):
    """The share of studies of `count` values whose 95 % interval holds the true median."""
    table = measurements(law, 0.1, (studies, count), seed).tolist()
    return float(np.mean([interval(values).holds(1.0) for values in table]))


def stopped(rule: StoppingRule, cases):
    """Rounds after which a study ends. cases: a list of the values of each."""
    looks = (n for n in range(rule.least + rule.least % 2, rule.most, 2))
    return next((n for n in looks if not rule.wide({k: v[:n] for k, v in enumerate(cases)})), rule.most)


def covered_when_stopped(law, spread, rule: StoppingRule, level=None, studies=STUDIES, seed=1):
    """The share of studies of one case with a stopping rule whose reported interval holds the true median, and their
    rounds on average. level: that of the reported interval, in place of the rule's."""
    table = measurements(law, spread, (studies, rule.most), seed).tolist()
    counts = [stopped(rule, [values]) for values in table]
    held = [
        interval(values[:count], level or rule.level).holds(1.0) for values, count in zip(table, counts, strict=True)
    ]
    return float(np.mean(held)), float(np.mean(counts))
