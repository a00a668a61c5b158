"""How much of the spread of a figure is between runs, between sessions and between days.

Nested analysis of variance of the logarithms of all cases, each about its own mean, by the method of moments: the
variance of the means of a level holds its own and what the levels below leave in a mean (Kalibera & Jones 2013,
Rigorous benchmarking in reasonable time, ISMM). A negative estimate is zero.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from fathometer.lab.statistics.outliers import outliers

Place = tuple[Hashable, ...]  # of a value: day, session


@dataclass(frozen=True)
class Spread:
    """The standard deviation that a level adds, relative: 0.02 for 2 %; of so many groups in all.

    between: "run", "session" or "day".
    """

    between: str
    deviation: float
    groups: int


@dataclass(frozen=True)
class Mean:
    """A mean, and the variance that the levels below leave in it."""

    value: float
    left: float


def variance_levels(cases: Iterable[Mapping[Place, Sequence[float]]]) -> list[Spread]:
    """The levels from the lowest up: runs, sessions, and days where there are several.

    cases: of each the values above zero by day and session. Values far from the others of their session are left out:
    one run of a hundred seconds would be all that is seen. Empty where no case has two sessions.
    """
    made = [
        {place: _logarithms(values) for place, values in case.items()}
        for case in cases
        if all(value > 0 for values in case.values() for value in values)
    ]
    made = [{place: values for place, values in case.items() if values} for case in made]
    made = [case for case in made if len(case) > 1]
    if not made:
        return []
    within, count = _pooled([values for case in made for values in case.values()])
    levels = [Spread("run", math.sqrt(within), count)]
    days = {place[0] for case in made for place in case}
    several = len(days) > 1
    # Sessions about their day where there are several, else about the case; days about the case.
    of_sessions: list[list[Mean]] = []
    of_days: list[list[list[Sequence[float]]]] = []
    for case in made:
        by_day: dict[Hashable, list[Sequence[float]]] = {}
        for place, values in case.items():
            by_day.setdefault(place[0] if several else None, []).append(values)
        of_sessions += [[Mean(fmean(each), within / len(each)) for each in day] for day in by_day.values()]
        of_days.append(list(by_day.values()))
    sessions = _between(of_sessions)
    levels.append(Spread("session", math.sqrt(sessions), len({place for case in made for place in case})))
    if several:
        means = [
            [
                Mean(fmean(map(fmean, day)), sum(sessions + within / len(each) for each in day) / len(day) ** 2)
                for day in case
            ]
            for case in of_days
        ]
        levels.append(Spread("day", math.sqrt(_between(means)), len(days)))
    return levels


def _logarithms(values: Sequence[float]) -> list[float]:
    """Of those that are not far from the others."""
    far = set(outliers(values))
    return [math.log(value) for place, value in enumerate(values) if place not in far]


def _pooled(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The variance within groups, and the number of values."""
    count = sum(map(len, groups))
    squares = sum(sum((value - mean) ** 2 for value in values) for values in groups for mean in [fmean(values)])
    return (squares / (count - len(groups)) if count > len(groups) else 0.0), count


def _between(groups: Sequence[Sequence[Mean]]) -> float:
    """The variance between the means of each group, beyond what the levels below leave in them."""
    squares = rest = 0.0
    freedom = 0
    for means in groups:
        middle = fmean(mean.value for mean in means)
        squares += sum((mean.value - middle) ** 2 for mean in means)
        rest += (len(means) - 1) * fmean(mean.left for mean in means)
        freedom += len(means) - 1
    return max(0.0, (squares - rest) / freedom) if freedom else 0.0
