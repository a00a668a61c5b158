"""The plots of a study's answer, as dictionaries for Plotly: bars, lines, scaling, heat maps; samples over rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from fathometer.base.errors import shortened
from fathometer.base.formatting import unit_of
from fathometer.lab.recipes.expression import Value
from fathometer.lab.statistics.interval import Estimate
from fathometer.lab.studies.asked import LOGARITHMIC, Answer, merits
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.levels import Intervals, intervals_of
from fathometer.lab.studies.report.colours import COLOURS, LONGEST_NAME
from fathometer.lab.studies.report.samples import samples
from fathometer.lab.studies.results import FigureInfo, Results
from fathometer.lab.studies.selection import Block, Key, blocks, label
from fathometer.lab.studies.study_file import AnswerTable, PlotTable
from fathometer.report.figures import DOT, INK, LINE, SQUARE, Figure, figure, plain

PALE, DARK = "#eef4f9", "#5f9ecb"  # of heat maps, on which black can be read
MOST_SERIES = len(COLOURS)
MOST_BARS = 60
MOST_UPRIGHT, LONGEST_UPRIGHT = 20, 12  # bars that stand, and letters of the names below them
IDEAL = "#8a9199"


@dataclass(frozen=True)
class Point:
    """A value of the factor along a plot, and the figure there."""

    x: Value
    estimate: Estimate
    sure: bool  # whether the estimate has an interval


@dataclass(frozen=True)
class Series:
    """Points of one colour."""

    name: str
    points: Sequence[Point]


def plots(results: Results, answer: Answer) -> list[Figure]:
    """All plots that the study asks for, one for each combination of nested factors, and the samples over rounds."""
    drawn: list[Figure] = []
    intervals = intervals_of(results)
    for number, plot in enumerate(answer.plots, 1):
        info = results.figures[plot.figure]
        rows = (plot.x, plot.y) if plot.y else (plot.x,)
        table = AnswerTable(
            rows=rows, columns=(plot.figure,), by=plot.lines, best_over=plot.best_over, design=plot.design
        )
        for place, block in enumerate(blocks(results, answer, table), 1):
            name = f"plot-{number}-{place}"
            title = plot.title or _title(plot, info)
            title += f": {label(block.nested)}" if block.nested else ""
            if plot.kind == "heat map" and plot.y:
                made = _heat_map(name, title, plot, block, info)
            else:
                made = _drawn(name, title, plot, _series(block, info, intervals), info)
            drawn += [made] if made else []
    names = [table.columns[0] for table in answer.tables if table.columns] or merits(results.figures)[:1]
    return drawn + [made for name in dict.fromkeys(names) if (made := samples(results, results.figures[name]))]


def _title(plot: PlotTable, info: FigureInfo) -> str:
    by = f" and {plot.y}" if plot.y else f" and {plot.lines}" if plot.lines else ""
    return f"{info.name}: scaling over {plot.x}" if plot.kind == "scaling" else f"{info.name} by {plot.x}{by}"


def _series(block: Block, info: FigureInfo, made: Intervals) -> list[Series]:
    """A series for each value of `lines` and of the factors that the plot does not name."""
    found: dict[Key, list[Point]] = {}
    for row in block.rows:
        for column in block.columns:
            values = block.cell(row, column).values(info.name)
            if values:
                point = Point(row[0][1], (estimate := made.of(values)), estimate.reaches(made.level))
                found.setdefault((*row[1:], *column), []).append(point)
    return [Series(label(key) if key else "", points) for key, points in found.items()]


def _drawn(name: str, title: str, plot: PlotTable, series: Sequence[Series], info: FigureInfo) -> Figure | None:
    if not series:
        return None
    note = f"The first {MOST_SERIES} of {len(series)} combinations." if len(series) > MOST_SERIES else ""
    series = series[:MOST_SERIES]
    if plot.kind == "bars":
        return _bars(name, title, plot, series, info, note)
    return _lines(name, title, plot, series, info, note)


def _bars(name: str, title: str, plot: PlotTable, series: Sequence[Series], info: FigureInfo, note: str) -> Figure:
    each = max(1, MOST_BARS // len(series))
    if any(len(one.points) > each for one in series):
        note = f"{note} The first {each} of {max(len(one.points) for one in series)} values of {plot.x}.".strip()
    series = [Series(one.name, one.points[:each]) for one in series]
    categories = list(dict.fromkeys(text_of(point.x) for one in series for point in one.points))
    by, unit = _unit([one for one in series], info)
    bars = sum(len(one.points) for one in series)
    upright = bars <= MOST_UPRIGHT and max(map(len, categories)) <= LONGEST_UPRIGHT
    value, along = ("y", "x") if upright else ("x", "y")
    data = [
        {
            "type": "bar",
            "orientation": "v" if upright else "h",
            "name": plain(one.name),
            value: [point.estimate.median / by for point in one.points],
            along: [plain(shortened(text_of(point.x), LONGEST_NAME)) for point in one.points],
            "marker": {"color": COLOURS[place]},
            f"error_{value}": _errors(one.points, by),
            "hovertemplate": f"{plain(one.name)} %{{{along}}}: %{{{value}:.4g}} {plain(unit)}<extra></extra>",
        }
        for place, one in enumerate(series)
    ]
    axis = {"title": {"text": plain(_axis_title(info, unit))}, "rangemode": "tozero"}
    names = {"title": {"text": plain(plot.x)}, "type": "category", "showgrid": False, "ticks": "", "automargin": True}
    if not upright:
        names["autorange"] = "reversed"
    # A plot of few bars would have bars as wide as a hand.
    gap = max(0.3, 1 - 0.07 * bars) if upright else 0.3
    layout = {"barmode": "group", "bargap": gap, f"{value}axis": axis, f"{along}axis": names}
    height = 320 if upright else 90 + 20 * bars + 10 * len(categories)
    legend = [(one.name, COLOURS[place], SQUARE) for place, one in enumerate(series)] if series[0].name else []
    return figure(name, title, f"{_caption(series)} {note}".strip(), data, layout, height, legend)


def _lines(name: str, title: str, plot: PlotTable, series: Sequence[Series], info: FigureInfo, note: str) -> Figure:
    by, unit = _unit(series, info)
    logarithmic = plot.kind in LOGARITHMIC
    numeric = all(_number(point.x) for one in series for point in one.points)
    data: list[Any] = []
    for place, one in enumerate(series):
        points = sorted(one.points, key=lambda point: float(point.x)) if numeric else list(one.points)
        if plot.kind == "scaling" and info.direction != "none" and len(points) > 1:
            data.append(_ideal(points, info, by))
        colour = COLOURS[place]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(one.name),
                "x": [point.x if numeric else plain(text_of(point.x)) for point in points],
                "y": [point.estimate.median / by for point in points],
                "error_y": _errors(points, by),
                "line": {"color": colour, "width": 1.8},
                "marker": {"color": colour, "size": 7, "symbol": place % 8},
                "hovertemplate": f"{plain(one.name)} %{{x}}: %{{y:.4g}} {plain(unit)}<extra></extra>",
            }
        )
    xs = sorted({float(point.x) for one in series for point in one.points}) if numeric else []
    across: dict[str, Any] = {"title": {"text": plain(plot.x)}, "zeroline": False}
    up: dict[str, Any] = {"title": {"text": plain(_axis_title(info, unit))}, "zeroline": False}
    if logarithmic:
        ends = [end for one in series for point in one.points for end in (point.estimate.low, point.estimate.high)]
        ends = [end / by for end in ends if end > 0] + [
            y for trace in data if trace.get("name") == "ideal" for y in trace["y"] if y > 0
        ]
        across |= {"type": "log", "tickvals": xs, "ticktext": [f"{x:g}" for x in xs], "range": _decades(xs, 0.06)}
        if ends:
            ticks = _one_two_five(min(ends), max(ends))
            up |= {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
            up["range"] = _decades(ends, 0.06)
    elif numeric and len(xs) <= 12:
        across |= {"tickvals": xs, "ticktext": [f"{x:g}" for x in xs]}
    elif not numeric:
        across["type"] = "category"
    legend = [(one.name, COLOURS[place], DOT) for place, one in enumerate(series)] if series[0].name else []
    legend += [("ideal", IDEAL, LINE)] if any(trace.get("name") == "ideal" for trace in data) else []
    caption = _caption(series) + (" Both axes are logarithmic." if logarithmic else "")
    return figure(name, title, f"{caption} {note}".strip(), data, {"xaxis": across, "yaxis": up}, 340, legend)


def _ideal(points: Sequence[Point], info: FigureInfo, by: float) -> dict[str, Any]:
    """In proportion from the first point on."""
    first, last = float(points[0].x), float(points[-1].x)
    start = points[0].estimate.median / by
    end = start * (first / last if info.direction == "lower" else last / first)
    line = {"color": IDEAL, "width": 1.2, "dash": "dash"}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "ideal",
        "x": [first, last],
        "y": [start, end],
        "line": line,
        "hoverinfo": "skip",
    }


def _heat_map(name: str, title: str, plot: PlotTable, block: Block, info: FigureInfo) -> Figure | None:
    """Medians of two factors' combinations. Of further factors the plot cannot show more than one combination."""
    first = block.rows[0][2:] if block.rows else ()
    rows = [row for row in block.rows if row[2:] == first]
    xs = list(dict.fromkeys(text_of(row[0][1]) for row in rows))
    ys = list(dict.fromkeys(text_of(row[1][1]) for row in rows))
    cells: list[list[float | None]] = [[None] * len(xs) for _ in ys]
    for row in rows:
        values = block.cell(row, block.columns[0]).values(info.name)
        if values:
            cells[ys.index(text_of(row[1][1]))][xs.index(text_of(row[0][1]))] = median(values.values())
    known = [value for line in cells for value in line if value is not None]
    if not known:
        return None
    by, unit = unit_of(max(known, key=abs), info.unit)
    shown = [[None if value is None else value / by for value in line] for line in cells]
    texts = [["no value" if value is None else f"{value:.3g}" for value in line] for line in shown]
    small = len(xs) * len(ys) <= 120
    data = [
        {
            "type": "heatmap",
            "x": [plain(shortened(x, LONGEST_NAME)) for x in xs],
            "y": [plain(shortened(y, LONGEST_NAME)) for y in ys],
            "z": shown,
            "text": texts,
            "texttemplate": "%{text}" if small else "",
            "xgap": 2,
            "ygap": 2,
            "textfont": {"color": INK},
            "colorscale": [[0, PALE], [1, DARK]],
            "reversescale": info.direction == "higher",
            "colorbar": {"title": {"text": plain(_axis_title(info, unit)), "side": "right"}, "thickness": 12},
            "hovertemplate": f"{plain(plot.x)} %{{x}}, {plain(plot.y)} %{{y}}: %{{text}} {plain(unit)}<extra></extra>",
        }
    ]
    layout = {
        "xaxis": {"title": {"text": plain(plot.x)}, "type": "category", "showgrid": False, "ticks": ""},
        "yaxis": {"title": {"text": plain(plot.y)}, "type": "category", "showgrid": False, "ticks": ""},
    }
    note = f"Medians. {'The lighter, the better.' if info.direction != 'none' else ''}"
    if first or len(rows) < len(block.rows) or len(block.columns) > 1:
        note += f" Only {label((*first, *block.columns[0]))}; the tables have the others."
    return figure(name, title, note.strip(), data, layout, min(620, 130 + 44 * len(ys)))


def _unit(series: Sequence[Series], info: FigureInfo) -> tuple[float, str]:
    return unit_of(max((point.estimate.median for one in series for point in one.points), key=abs), info.unit)


def _caption(series: Sequence[Series]) -> str:
    """What the points are, and whether there are intervals."""
    sure = [point.sure for one in series for point in one.points]
    if all(sure):
        return "Medians with their 95 % intervals."
    return "Medians, with 95 % intervals where there are enough rounds." if any(sure) else "Medians of few rounds."


def _errors(points: Sequence[Point], by: float) -> dict[str, Any]:
    """Bars of the intervals. Where a point has none, those of its series are drawn without ends, of which its own would
    look like an interval without width."""
    sure = [point.sure for point in points]
    estimates = [point.estimate for point in points]
    return {
        "type": "data",
        "symmetric": False,
        "visible": any(sure),
        "array": [(each.high - each.median) / by if held else 0 for each, held in zip(estimates, sure, strict=True)],
        "arrayminus": [
            (each.median - each.low) / by if held else 0 for each, held in zip(estimates, sure, strict=True)
        ],
        "color": INK,
        "thickness": 1.2,
        "width": 4 if all(sure) else 0,
    }


def _axis_title(info: FigureInfo, unit: str) -> str:
    unit = unit.removeprefix("· ")
    return f"{info.name} ({unit})" if unit else info.name


def _number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _decades(values: Sequence[float], beyond: float) -> list[float]:
    """The range of a logarithmic axis, with some room."""
    low, high = math.log10(min(values)), math.log10(max(values))
    room = beyond * max(high - low, 0.3)
    return [low - room, high + room]


def _one_two_five(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, … from below low to above high; all digits where that would be few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if high / low < 12 else (1, 2, 5) if last - first < 6 else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [float(f"{tick:.3g}") for tick in ticks if low / 1.3 <= tick <= high * 1.3]
