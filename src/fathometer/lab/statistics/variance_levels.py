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


def variance_levels(cases: Iterable[Mapping[Place, Sequence[float]]]) -> list[Spread]:
    """The levels from the lowest up: runs, sessions, and days where there are several.

    cases: of each the values above zero by day and session. Values far from the others of their session are left out:
    one run of a hundred seconds would be all that is seen. Empty where no case has two sessions.
    """
    made = [
        {
            place: [math.log(values[n]) for n in range(len(values)) if n not in outliers(values)]
            for place, values in case.items()
        }
        for case in cases
        if all(value > 0 for values in case.values() for value in values)
    ]
    made = [{place: values for place, values in case.items() if values} for case in made]
    made = [case for case in made if len(case) > 1]
    if not made:
        return []
    runs = _pooled([list(case.values()) for case in made])
    levels = [Spread("run", math.sqrt(runs[0]), runs[1])]
    days = {place[0] for case in made for place in case}
    several = len(days) > 1
    # Sessions about their day where there are several days, else about the case.
    of_sessions = []
    for case in made:
        for day in dict.fromkeys(place[0] for place in case) if several else [None]:
            of_sessions.append([values for place, values in case.items() if day is None or place[0] == day])
    sessions = _between(of_sessions, runs[0])
    levels.append(Spread("session", math.sqrt(sessions), len({place for case in made for place in case})))
    if several:
        of_days = []
        for case in made:
            by_day: dict[Hashable, list[list[float]]] = {}
            for place, values in case.items():
                by_day.setdefault(place[0], []).append(list(values))
            of_days.append([([fmean(map(fmean, each))], each) for each in by_day.values()])
        levels.append(Spread("day", math.sqrt(_between_days(of_days, runs[0], sessions)), len(days)))
    return levels


def _pooled(groups: Sequence[Sequence[Sequence[float]]]) -> tuple[float, int]:
    """The variance within groups of all cases, and the number of values."""
    squares, freedom, count = 0.0, 0, 0
    for case in groups:
        for values in case:
            mean = fmean(values)
            squares += sum((value - mean) ** 2 for value in values)
            freedom += len(values) - 1
            count += len(values)
    return (squares / freedom if freedom else 0.0), count


def _between(groups: Sequence[Sequence[Sequence[float]]], within: float) -> float:
    """The variance between groups, beyond what values within them leave in their means."""
    squares = rest = 0.0
    freedom = 0
    for case in groups:
        if len(case) < 2:
            continue
        means = [fmean(values) for values in case]
        middle = fmean(means)
        squares += sum((mean - middle) ** 2 for mean in means)
        rest += (len(case) - 1) * fmean(within / len(values) for values in case)
        freedom += len(case) - 1
    return max(0.0, (squares - rest) / freedom) if freedom else 0.0


def _between_days(
    days: Sequence[Sequence[tuple[Sequence[float], Sequence[Sequence[float]]]]], within: float, sessions: float
) -> float:
    squares = rest = 0.0
    freedom = 0
    for case in days:
        means = [mean for [mean], _ in case]
        middle = fmean(means)
        squares += sum((mean - middle) ** 2 for mean in means)
        left = [sum(sessions + within / len(values) for values in each) / len(each) ** 2 for _, each in case]
        rest += (len(case) - 1) * fmean(left)
        freedom += len(case) - 1
    return max(0.0, (squares - rest) / freedom) if freedom else 0.0
