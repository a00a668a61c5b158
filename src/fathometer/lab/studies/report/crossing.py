"""Where a ratio passes 1 along a factor: between which nodes a program comes to spend more time in MPI than outside."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from fathometer.lab.profile.study_figures import RATIO
from fathometer.lab.statistics.interval import Estimate
from fathometer.lab.studies.levels import intervals_of
from fathometer.lab.studies.results import Results

ALONG = ("nodes", "ranks")  # factors over which it is looked for, the first that varies
Side = Literal["less", "more", "undecided"]


def crossings(results: Results) -> list[str]:
    """A sentence for each combination of the other factors; none where runs were not profiled."""
    along = next((name for name in ALONG if len(results.factors.get(name, ())) > 1), None)
    if RATIO not in results.figures or along is None:
        return []
    made = intervals_of(results)
    curves: dict[tuple[tuple[str, object], ...], dict[float, Estimate]] = {}
    for runs in results.cases.values():
        settings = dict(runs.case.settings)
        values = runs.values(RATIO)
        if values and isinstance(settings.get(along), int | float):
            others: tuple[tuple[str, object], ...] = tuple(
                (name, value) for name, value in settings.items() if name != along
            )
            curves.setdefault(others, {})[float(settings[along])] = made.of(values)
    told = []
    for others, curve in curves.items():
        where = ", ".join(f"{name} {value}" for name, value in others)
        told.append(f"{where + ': ' if where else ''}{sentence(curve, along, made.level)}")
    return told


def sentence(curve: Mapping[float, Estimate], along: str, level: float) -> str:
    """Of the ratio's medians and intervals by the values of the factor. Between measured places nothing is claimed."""
    places = sorted(curve)
    sides = [side(curve[place], level) for place in places]
    span = f"{places[0]:g} to {places[-1]:g}"
    for (here, one), (there, other) in pairwise(zip(places, sides, strict=True)):
        if (one, other) == ("less", "more"):
            return f"time in MPI is less than the time outside of it at {here:g} {along}, and more at {there:g}."
    if sides == ["more"] * len(sides) or sides == ["less"] * len(sides):
        return f"time in MPI is {sides[0]} than the time outside of it at all {along} measured, {span}."
    if all(curve[place].reaches(level) for place in places):
        held = [f"{place:g}" for place, one in zip(places, sides, strict=True) if one == "undecided"]
        if not held:
            return f"time in MPI falls below the time outside of it as {along} grow, {span}."
        return (
            f"whether time in MPI is more than the time outside of it is not decided at {', '.join(held)} {along}: the "
            "interval of their ratio holds 1."
        )
    least = min(curve[place].count for place in places)
    return f"{least} rounds do not tell whether time in MPI is more than the time outside of it at {span} {along}."


def side(ratio: Estimate, level: float) -> Side:
    """On which side of 1 the whole interval is."""
    if not ratio.reaches(level):
        return "undecided"
    return "more" if ratio.low > 1 else "less" if ratio.high < 1 else "undecided"
