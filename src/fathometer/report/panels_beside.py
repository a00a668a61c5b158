"""Figures of several small plots side by side, in as many columns as the page has room for: sections of fields with a
scale of colours each, lines, and blocks with their owners.

Such a figure has `parts`, each with the data and the layout of a plot and the ratio of its height to its width, and
where there is a choice its labels; page.js places them, and draws of the choice's traces those that are chosen.
"""

from __future__ import annotations

import math
from typing import Any

from fathometer.base.formatting import power
from fathometer.report.figures import LINE, Figure, figure, plain

LEAST_WIDTH = 310  # CSS pixels of a plot
BAR_TICKS = 6  # of a scale of colours, at most
NO_VALUE = "#c9ced3"
LINE_RATIO = 0.62
# Of ranks, in turn: neighbours differ (Okabe & Ito 2008, and lighter ones between).
OWNERS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a6d00", "#f0e442", "#7b61a8", "#b5d5a0")


def fields(panel: dict[str, Any]) -> Figure:
    """Sections of fields, the second axis upward. panel: name, title, caption; labels: of both axes; x and y: first
    place and step; shape: rows, columns; ratio: height to width; choice: name of what is chosen, such as time;
    choices: its labels; fields, each with label, low, high, log, plain (no scale is shown), and for each choice its
    codes: 0 for no value, else 1 to 255 from low to high, of logarithms where they are log.

    May be left out: units of places along both axes, ["m", "m"]; down: whether the second axis goes down, False; least:
    width of a plot, CSS pixels; of a field colours, "Viridis", and first: its own first places."""
    across, along = panel.get("units", ("m", "m"))
    parts = []
    for shown in panel["fields"]:
        low, high = (math.log10(shown[key]) if shown["log"] else shown[key] for key in ("low", "high"))
        data = [
            {
                "type": "heatmap",
                "x0": shown.get("first", (panel["x"][0], 0))[0],
                "dx": panel["x"][1],
                "y0": shown.get("first", (0, panel["y"][0]))[1],
                "dy": panel["y"][1],
                # Decoded by page.js into rows.
                "codes": {"shape": panel["shape"], "bytes": codes, "low": low, "high": high, "log": shown["log"]},
                "zmin": low,
                "zmax": high,
                "colorscale": shown.get("colours", "Viridis"),
                "showscale": not shown["plain"],
                "colorbar": _bar(low, high, shown["log"]),
                "zsmooth": False,
                "hoverongaps": False,
                "hovertemplate": f"%{{x:.5~g}} {plain(across)}, %{{y:.5~g}} {plain(along)}: "
                f"%{{{'customdata' if shown['log'] else 'z'}:.3~g}}<extra></extra>",
                "meta": {"choice": number},
            }
            for number, codes in enumerate(shown["codes"])
        ]
        layout = {
            "plot_bgcolor": NO_VALUE,
            "xaxis": _along(panel["labels"][0], "x", panel),
            "yaxis": _along(panel["labels"][1], "y", panel),
            "annotations": [_name(shown["label"])],
            "margin": {"l": 62, "r": 76, "t": 28, "b": 46},
        }
        parts.append({"data": data, "layout": layout, "ratio": panel["ratio"]})
    made = figure(panel["name"], panel["title"], panel["caption"], [], {}, 0)
    choice = {"name": panel["choice"], "labels": panel["choices"]}
    return made | {"parts": parts, "choice": choice, "least": panel.get("least", LEAST_WIDTH)}


def blocks(panel: dict[str, Any]) -> Figure:
    """A map of blocks in the colours of their owners. panel: name, title, caption; labels: of both axes; edges: of rows
    and columns of blocks along both axes; owners: rows of numbers of ranks, None where nobody has one; texts: of each
    when it is pointed at; ratio: height to width."""
    x, y = panel["edges"]
    numbers = [[None if owner is None else owner % len(OWNERS) for owner in row] for row in panel["owners"]]
    steps = len(OWNERS)
    scale = [[(n + end) / steps, colour] for n, colour in enumerate(OWNERS) for end in (0, 1)]
    data = {
        "type": "heatmap",
        "x": x,
        "y": y,
        "z": numbers,
        "text": [[plain(text) for text in row] for row in panel["texts"]],
        "zmin": -0.5,
        "zmax": steps - 0.5,
        "colorscale": scale,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": "%{text}<extra></extra>",
        "meta": {"choice": 0},
    }
    layout = {
        "plot_bgcolor": NO_VALUE,
        **{
            f"{letter}axis": {
                "title": {"text": plain(label)},
                "range": [edges[0], edges[-1]],
                "showgrid": False,
                "zeroline": False,
                "nticks": 8,
            }
            for letter, label, edges in zip("xy", panel["labels"], (x, y), strict=True)
        },
        "margin": {"l": 62, "r": 16, "t": 12, "b": 46},
    }
    parts = [{"data": [data], "layout": layout, "ratio": panel["ratio"]}]
    return figure(panel["name"], panel["title"], panel["caption"], [], {}, 0) | {"parts": parts, "least": LEAST_WIDTH}


def lines(panel: dict[str, Any]) -> Figure:
    """Plots of lines. panel: name, title, caption; legend: pairs of name and colour; plots, each with label, labels of
    x and y, and lines, each with name, colour, x, y, None for no value.

    May be left out of a plot: log (of y), False; from ("normal" or "tozero": where y begins), "normal"; range (of y),
    all values; steps (whether a value holds for its whole place), False."""
    parts = []
    for plot in panel["plots"]:
        few = max(len(line["x"]) for line in plot["lines"]) <= 40
        data = [
            {
                "type": "scatter",
                "mode": "lines+markers" if few else "lines",
                "name": plain(line["name"]),
                "x": line["x"],
                "y": line["y"],
                "line": {"color": line["colour"], "width": 1.5, "shape": "hvh" if plot.get("steps") else "linear"},
                "marker": {"color": line["colour"], "size": 4},
                "hovertemplate": f"{plain(line['name'])} %{{x:.5~g}}: %{{y:.4~g}}<extra></extra>",
            }
            for line in plot["lines"]
        ]
        upward: dict[str, Any] = {"rangemode": plot.get("from", "normal")}
        if plot.get("log"):
            upward = {"type": "log", "dtick": _decades(plot)}
        elif plot.get("range"):
            upward = {"range": plot["range"]}
        layout = {
            "xaxis": {"title": {"text": plain(plot["labels"][0])}, "zeroline": False},
            "yaxis": {"title": {"text": plain(plot["labels"][1])}, "exponentformat": "power", "nticks": 6} | upward,
            "annotations": [_name(plot["label"])],
            "margin": {"l": 62, "r": 16, "t": 28, "b": 46},
        }
        parts.append({"data": data, "layout": layout, "ratio": LINE_RATIO})
    legend = [(name, colour, LINE) for name, colour in panel["legend"]]
    made = figure(panel["name"], panel["title"], panel["caption"], [], {}, 0, legend)
    return made | {"parts": parts, "least": LEAST_WIDTH}


def _decades(plot: dict[str, Any]) -> int:
    """Decades between ticks of logarithmic lines."""
    values = [value for line in plot["lines"] for value in line["y"] if value]
    return max(1, round(math.log10(max(values) / min(values)) / 5))


def _along(label: str, letter: str, panel: dict[str, Any]) -> dict[str, Any]:
    first, step = panel[letter]
    count = panel["shape"][1 if letter == "x" else 0]
    ends = [first - step / 2, first + (count - 0.5) * step]
    return {
        "title": {"text": plain(label)},
        "range": ends[::-1] if letter == "y" and panel.get("down") else ends,
        "showgrid": False,
        "zeroline": False,
        "nticks": 6,
    }


def _name(label: str) -> dict[str, Any]:
    place = {"x": 0, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": plain(label), "showarrow": False, "yshift": 3, **place}


def _bar(low: float, high: float, log: bool) -> dict[str, Any]:
    """A scale of colours; of logarithms with powers of ten."""
    bar: dict[str, Any] = {"thickness": 11, "xpad": 6, "ypad": 0, "outlinewidth": 0, "ticks": "outside", "ticklen": 3}
    if not log:
        return bar | {"exponentformat": "power", "nticks": BAR_TICKS}
    first, last = math.ceil(low), math.floor(high)
    exponents = range(first, last + 1, max(1, -(-(last - first + 1) // BAR_TICKS)))
    return bar | {"tickvals": list(exponents), "ticktext": [power(n) for n in exponents]}
