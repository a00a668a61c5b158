"""Figures of measurements for Plotly, beside those of runs (figures.py): columns, cells of a matrix, curves over a
length, a course over time."""

from __future__ import annotations

import math
from typing import Any

from fathometer.base import formatting
from fathometer.report.figures import COLOURS, INK, LINE, POINT, SQUARE, Figure, figure, plain

PALE, DARK = "#eef4f9", "#0b4a77"
MOST_LABELLED = 32  # rows of a matrix that all have their number


def columns(panel: dict[str, Any]) -> Figure:
    """Standing columns on top of each other. panel: name, title, caption; axis and label: of the axes; places: of the
    columns; series, each with name, colour, values; mark: a place before which a line stands, or None."""
    data = [
        {
            "type": "bar",
            "name": plain(series["name"]),
            "x": [plain(place) for place in panel["places"]],
            "y": series["values"],
            "marker": {"color": series["colour"]},
            "hovertemplate": f"{plain(series['name'])}, from %{{x}}: %{{y:,}}<extra></extra>",
        }
        for series in panel["series"]
    ]
    layout: dict[str, Any] = {
        "barmode": "stack",
        "bargap": 0.12,
        "xaxis": {"title": {"text": plain(panel["axis"])}, "type": "category", "showgrid": False},
        "yaxis": {"title": {"text": plain(panel["label"])}, "rangemode": "tozero"},
    }
    legend = [(series["name"], series["colour"], SQUARE) for series in panel["series"]]
    if panel["mark"] is not None:
        at = panel["places"].index(panel["mark"]) - 0.5
        line = {"color": POINT, "width": 1.4, "dash": "dot"}
        layout["shapes"] = [{"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line}]
        legend.append((panel["mark"], POINT, LINE))
    return figure(panel["name"], panel["title"], panel["caption"], data, layout, 340, legend)


def cells(panel: dict[str, Any]) -> Figure:
    """A matrix, the darker the more. panel: name, title, caption; axes: names of columns and rows; places: of both;
    cells: rows of numbers, None for none; texts: of each when it is pointed at; label: their unit."""
    rows, places = panel["cells"], panel["places"]
    values = [value for row in rows for value in row if value is not None]
    most = max(values)
    data = [
        {
            "type": "heatmap",
            "x": places,
            "y": places,
            "z": rows,
            "text": panel["texts"],
            "zmin": 0,
            "zmax": most or 1,
            "xgap": 1 if len(rows) <= MOST_LABELLED else 0,
            "ygap": 1 if len(rows) <= MOST_LABELLED else 0,
            "colorscale": [[0, PALE], [1, DARK]],
            "showscale": False,
            "hoverongaps": False,
            "hovertemplate": f"{plain(panel['axes'][1])} %{{y}}, {plain(panel['axes'][0])} %{{x}}: %{{text}}"
            "<extra></extra>",
        }
    ]
    few = len(rows) <= MOST_LABELLED
    along = {"type": "category", "showgrid": False, "ticks": ""} | ({} if few else {"nticks": MOST_LABELLED})
    layout = {
        "xaxis": along | {"title": {"text": plain(panel["axes"][0])}},
        "yaxis": along | {"title": {"text": plain(panel["axes"][1])}, "autorange": "reversed"},
    }
    legend = [
        (f"least: {formatting.scaled(min(values), panel['label'])}", _between(min(values) / (most or 1)), SQUARE),
        (f"most: {formatting.scaled(most, panel['label'])}", DARK, SQUARE),
    ]
    height = 130 + round(max(120, min(440, 34 * len(rows))))
    return figure(panel["name"], panel["title"], panel["caption"], data, layout, height, legend)


def curves(panel: dict[str, Any]) -> Figure:
    """Lines over logarithmic axes. panel: name, title, caption, labels of x and y; curves, each with name, colour, x, y
    and, where it has intervals, low and high, of which some may be None: of these the marker hides the bar."""
    data: list[Any] = []
    for curve in panel["curves"]:
        trace = {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(curve["name"]),
            "x": curve["x"],
            "y": curve["y"],
            "line": {"color": curve["colour"], "width": 1.6},
            "marker": {"color": curve["colour"], "size": 4},
            "hovertemplate": f"{plain(curve['name'])}: %{{y:.3s}} at %{{x}}<extra></extra>",
        }
        if "low" in curve:
            trace["error_y"] = {
                "type": "data",
                "symmetric": False,
                "array": [
                    high - y if high is not None else 0 for high, y in zip(curve["high"], curve["y"], strict=True)
                ],
                "arrayminus": [
                    y - low if low is not None else 0 for low, y in zip(curve["low"], curve["y"], strict=True)
                ],
                "color": curve["colour"],
                "thickness": 1,
                "width": 2,
            }
        data.append(trace)
    layout = {
        "xaxis": {"title": {"text": plain(panel["labels"][0])}, "type": "log", "exponentformat": "SI"},
        "yaxis": {"title": {"text": plain(panel["labels"][1])}, "type": "log", "exponentformat": "SI"},
    }
    legend = [(curve["name"], curve["colour"], LINE) for curve in panel["curves"]]
    return figure(panel["name"], panel["title"], panel["caption"], data, layout, 420, legend)


def course(panel: dict[str, Any]) -> Figure:
    """A number over time, as steps. panel: name, title, caption; axis and label: of the axes; times: of the middles of
    the steps; values."""
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": panel["times"],
            "y": panel["values"],
            "fill": "tozeroy",
            "fillcolor": "rgba(0,114,178,0.12)",
            "line": {"color": COLOURS["compute"], "width": 1.4, "shape": "hvh"},
            "hovertemplate": f"%{{y:.4~s}} {plain(panel['label'])} at %{{x:.4g}} s<extra></extra>",
        }
    ]
    layout = {
        "xaxis": {"title": {"text": plain(panel["axis"])}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": plain(panel["label"])}, "rangemode": "tozero", "exponentformat": "SI"},
        "font": {"color": INK},
    }
    return figure(panel["name"], panel["title"], panel["caption"], data, layout, 280)


def _between(share: float) -> str:
    """A colour of the scale."""
    share = share if math.isfinite(share) else 0.0
    pairs = [(int(PALE[n : n + 2], 16), int(DARK[n : n + 2], 16)) for n in (1, 3, 5)]
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in pairs)
