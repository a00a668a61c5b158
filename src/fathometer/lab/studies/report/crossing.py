"""Where a ratio passes 1 along a factor: from how many nodes on a program spends more time in MPI than outside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from fathometer.lab.profile.study_figures import RATIO
from fathometer.lab.studies.results import Results
from fathometer.report.formatting import digits

ALONG = ("nodes", "ranks")  # factors over which it is looked for, the first that varies


def crossings(results: Results) -> list[str]:
    """A sentence for each combination of the other factors; none where runs were not profiled."""
    along = next((name for name in ALONG if len(results.factors.get(name, ())) > 1), None)
    if RATIO not in results.figures or along is None:
        return []
    curves: dict[tuple[tuple[str, object], ...], dict[float, float]] = {}
    for runs in results.cases.values():
        settings = dict(runs.case.settings)
        values = list(runs.values(RATIO).values())
        if values and isinstance(settings.get(along), int | float):
            others: tuple[tuple[str, object], ...] = tuple(
                (name, value) for name, value in settings.items() if name != along
            )
            curves.setdefault(others, {})[float(settings[along])] = median(values)
    told = []
    for others, curve in curves.items():
        where = ", ".join(f"{name} {value}" for name, value in others)
        told.append(f"{where + ': ' if where else ''}{sentence(curve, along)}")
    return told


def sentence(curve: Mapping[float, float], along: str) -> str:
    """Of medians by the values of the factor."""
    places = sorted(curve)
    at = crossing([(place, curve[place]) for place in places])
    if at is not None:
        return f"time in MPI passes the time outside of it at {digits(at)} {along} (on a line between measured points)."
    above = all(value > 1 for value in curve.values())
    return (
        f"time in MPI is {'more' if above else 'less'} than the time outside of it at all {along} measured, "
        f"{digits(places[0])} to {digits(places[-1])}."
        if above or all(value <= 1 for value in curve.values())
        else f"time in MPI falls below the time outside of it as {along} grow."
    )


def crossing(points: Sequence[tuple[float, float]]) -> float | None:
    """Where a ratio rises through 1 for the first time, between two points by the logarithms of both; None: nowhere."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if 0 < y0 <= 1 < y1:
            share = -math.log(y0) / (math.log(y1) - math.log(y0))
            return math.exp(math.log(x0) + share * (math.log(x1) - math.log(x0)))
    return None
