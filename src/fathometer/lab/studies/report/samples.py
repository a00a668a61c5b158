"""Every value of a study over its rounds, in one plot: drift, disturbances and values far away are seen there."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from fathometer.base.errors import shortened
from fathometer.lab.statistics.outliers import outliers
from fathometer.lab.studies.report.colours import COLOURS, LONGEST_NAME
from fathometer.lab.studies.results import FigureInfo, Results, is_exact
from fathometer.lab.studies.selection import label
from fathometer.report.figures import DOT, INK, LINE, Figure, figure, plain

MOST_CASES = 60  # whose samples are drawn
RING, TRIANGLE = "○", "▲"
FAR = "#b3261e"
WIDER = 3.0  # times the range of the usual values: what is farther away is drawn at the edge


def samples(results: Results, info: FigureInfo) -> Figure | None:
    """Every value over the rounds, relative to its case's median; None where there are fewer than two rounds, and for
    counts that came out the same every time."""
    cases = [(case, values) for case in results.cases.values() if (values := case.values(info.name))]
    cases = [(case, values) for case, values in cases if median(values.values())]
    if not cases or max(len(values) for _, values in cases) < 2:
        return None
    if is_exact(info, *(list(values.values()) for _, values in cases)):
        return None
    shown = cases[:MOST_CASES]
    few = len(shown) <= len(COLOURS)
    data: list[Any] = []
    levels: dict[int, list[float]] = {}
    rings: tuple[list[float], list[float]] = ([], [])
    low, high = _usual([list(values.values()) for _, values in shown])
    beyond: dict[str, tuple[list[float], list[float]]] = {"triangle-up": ([], []), "triangle-down": ([], [])}
    for place, (case, values) in enumerate(shown):
        middle = median(values.values())
        rounds, relative = list(values), [value / middle for value in values.values()]
        for number, value in zip(rounds, relative, strict=True):
            levels.setdefault(number, []).append(value)
        # Cases stand side by side within their round.
        beside = [number + 0.5 * ((place + 0.5) / len(shown) - 0.5) for number in rounds]
        for n in outliers(relative):
            inside = low <= relative[n] <= high
            xs, ys = rings if inside else beyond["triangle-up" if relative[n] > high else "triangle-down"]
            xs.append(beside[n])
            ys.append(min(max(relative[n], low), high))
        name = plain(shortened(label(tuple(case.case.settings.items())), LONGEST_NAME))
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": beside,
                "y": [round(value, 5) for value in relative],
                "customdata": rounds,
                "marker": {"size": 5, "color": COLOURS[place] if few else "#7d858d", "opacity": 0.85 if few else 0.5},
                "hovertemplate": f"{name}<br>round %{{customdata}}: %{{y:.4f}}<extra></extra>",
            }
        )
    numbers = sorted(levels)
    line = {"color": INK, "width": 1.4}
    middle_line = [round(median(levels[number]), 5) for number in numbers]
    data.append({"type": "scatter", "mode": "lines", "x": numbers, "y": middle_line, "line": line, "hoverinfo": "skip"})
    ring = {"symbol": "circle-open", "size": 12, "color": INK, "line": {"width": 1.2}}
    data.append(
        {"type": "scatter", "mode": "markers", "x": rings[0], "y": rings[1], "marker": ring, "hoverinfo": "skip"}
    )
    for symbol, (xs, ys) in beyond.items():
        marker = {"symbol": symbol, "size": 11, "color": FAR}
        hover = {"hovertemplate": "beyond the axis, round %{x:.0f}<extra></extra>", "cliponaxis": False}
        data.append({"type": "scatter", "mode": "markers", "x": xs, "y": ys, "marker": marker, **hover})
    layout = {
        "xaxis": {"title": {"text": "round"}, "range": [0.5, max(numbers) + 0.5], "showgrid": False, **_whole(numbers)},
        "yaxis": {
            "title": {"text": plain(f"{shortened(info.name, LONGEST_NAME)} over its case's median")},
            "zeroline": False,
            "range": [low - 0.04 * (high - low), high + 0.04 * (high - low)],
        },
    }
    names = [shortened(label(tuple(case.case.settings.items())), LONGEST_NAME) for case, _ in shown]
    legend = [(name, COLOURS[place], DOT) for place, name in enumerate(names)] if few else [("cases", "#7d858d", DOT)]
    legend.append(("median of the round", INK, LINE))
    legend += [("far from the others of its case", INK, RING)] if rings[0] else []
    if any(xs for xs, _ in beyond.values()):
        legend.append(("far beyond the axis", FAR, TRIANGLE))
    note = "A slope is drift of the machine; a point far away is a disturbance. All values are shown."
    note += f" The first {MOST_CASES} of {len(cases)} cases." if len(cases) > MOST_CASES else ""
    return figure(f"samples-{info.name}", f"Samples of {info.name} over the rounds", note, data, layout, 300, legend)


def _usual(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The range of an axis for values relative to their medians: that of those that are not far from the others of
    their case, widened to hold others that are not much farther."""
    relative = [[value / median(each) for value in each] for each in values]
    usual = [value for each in relative for n, value in enumerate(each) if n not in outliers(each)]
    width = max(usual) - min(usual) or 0.01
    inside = [
        value
        for each in relative
        for value in each
        if min(usual) - WIDER * width <= value <= max(usual) + WIDER * width
    ]
    low, high = min(inside), max(inside)
    return (low, high) if high > low else (low - 0.005, high + 0.005)


def _whole(numbers: Sequence[int]) -> dict[str, Any]:
    """Ticks at whole numbers."""
    return {"dtick": max(1, round((max(numbers) - min(numbers) + 1) / 12))}
