"""Figures for Plotly: plain dictionaries of data and layout. Widths are the page's; heights are set here.

Every text that comes from a record passes through `plain`: Plotly reads tags in texts.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from fathometer.base import formatting
from fathometer.base.ledger import CATEGORIES
from fathometer.report import tables
from fathometer.report.verdict import kernel_phases, kernel_seconds

Figure = dict[str, Any]

# Okabe & Ito 2008: distinct with any colour vision. The same on the whole page, as in page.css.
COLOURS = {"compute": "#0072b2", "communication": "#e69f00", "io": "#009e73", "idle": "#b0b4b8"}
RUNS = ("#3b4046", "#cc79a7", "#56b4e9", "#d55e00", "#8a6d00", "#7b61a8", "#4d8f63", "#a34f4f")
INK, GRID, POINT = "#22272e", "#e4e7ea", "#d55e00"
SOURCE, RECEIVER = "#d55e00", "#33537d"
SQUARE, DOT, STAR, DIAMOND, LINE = "■", "●", "★", "◇", "—"  # of legends

# Of codes 1 to 255 of amplitudes, as in the pictures.
GREYS: dict[str, Any] = {
    "type": "heatmap",
    "zmin": 1,
    "zmax": 255,
    "colorscale": [[0, "#ffffff"], [1, "#000000"]],
    "showscale": False,
    "hovertemplate": "%{x:.6~g}, %{y:.4~g} s<extra></extra>",
}
FEW_RANKS, MOST_RANKS = 12, 256  # bars lie down up to the first, some ranks are left out beyond the second
MOST_SHADES = 9  # phases shown in a bar; the others are added up
SHORTEST_LANE = 0.004  # of the stretch: what gets a lane of its own in the timeline
MOST_LANES = 14
MOST_GROUPS = 12  # phases in the bars of a comparison
SECTION_GAP = 0.06  # of the width, between sections side by side: room for the last and the first number below them


def plain(text: object) -> str:
    """A text without tags."""
    return html.escape(str(text), quote=False)


def figure(
    name: str,
    title: str,
    caption: str,
    data: list[Any],
    layout: dict[str, Any],
    height: int,
    legend: Sequence[tuple[str, str, str]] = (),
) -> Figure:
    """One figure of the page. legend: name, colour, sign; the page sets it above the plot, where it has room at any
    width."""
    return {
        "name": name,
        "title": title,
        "caption": caption,
        "data": data,
        "layout": {"height": height, "showlegend": False} | layout,
        "legend": list(legend),
    }


def by_category(ledger: dict[str, Any]) -> Figure:
    """Stacked bars: each rank's seconds by category."""
    ranks, note = _some(ledger["ranks"])
    values: list[tuple[str, str, list[float]]] = [
        (name, COLOURS[name], [rank["categories"][name] for rank in ranks]) for name in CATEGORIES
    ]
    rest = [max(0.0, rank["unaccounted_seconds"]) for rank in ranks]
    if max(rest) > 0.01 * ledger["wall_seconds"]["max"]:
        values.append(("in no phase", "#f0f1f2", rest))
    return _stacked("categories", "Seconds of each rank by category", note, ranks, values)


def by_phase(ledger: dict[str, Any]) -> Figure:
    """Stacked bars: each rank's seconds by phase, in shades of the category's colour."""
    ranks, note = _some(ledger["ranks"])
    entries = sorted(ledger["phases"], key=lambda entry: -float(entry["seconds"]["mean"]))
    large = [entry for entry in entries if entry["seconds"]["max"] > 0][:MOST_SHADES]
    values, shown = [], []
    for category in CATEGORIES:
        own = [entry for entry in large if entry["category"] == category]
        for number, entry in enumerate(own):
            seconds = [rank["phases"].get(entry["phase"], {}).get(category, 0.0) for rank in ranks]
            name = entry["phase"] + ("" if category == "compute" else f" ({category})")
            values.append((name, _shade(COLOURS[category], number / max(len(own), 3)), seconds))
            shown.append(seconds)
    rest = [
        max(0.0, sum(rank["categories"].values()) - sum(seconds[n] for seconds in shown))
        for n, rank in enumerate(ranks)
    ]
    if max(rest) > 0:
        values.append(("all others", "#eceef0", rest))
    note = f"Shades of a colour are phases of one category. {note}".strip()
    return _stacked("phases", "Seconds of each rank by phase", note, ranks, values)


def _some(ranks: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The ranks that are drawn, and which these are."""
    step = -(-len(ranks) // MOST_RANKS)
    return list(ranks[::step]), f"Shown is one rank of {step}." if step > 1 else ""


def _stacked(
    name: str,
    title: str,
    note: str,
    ranks: Sequence[dict[str, Any]],
    values: Sequence[tuple[str, str, list[float]]],
) -> Figure:
    lying = len(ranks) <= FEW_RANKS
    labels = [f"rank {rank['rank']}" if lying else rank["rank"] for rank in ranks]
    hosts = [plain(rank["host"]) for rank in ranks]
    seconds, along = ("x", "y") if lying else ("y", "x")
    data = [
        {
            "type": "bar",
            "orientation": "h" if lying else "v",
            "name": plain(label),
            seconds: [round(value, 6) for value in numbers],
            along: labels,
            "customdata": hosts,
            "width": 0.75 if len(ranks) <= 64 else 0.95 * (ranks[1]["rank"] - ranks[0]["rank"]),
            "text": [plain(label) if lying and max(numbers) > 0 else "" for _ in numbers],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "constraintext": "inside",
            "marker": {"color": colour, "line": {"color": "#ffffff", "width": 0.6 if lying else 0}},
            "hovertemplate": f"{plain(label)}: %{{{seconds}:.4g}} s<br>%{{{along}}} on %{{customdata}}<extra></extra>",
        }
        for label, colour, numbers in values
        if max(numbers) > 0
    ]
    layout: dict[str, Any] = {
        "barmode": "stack",
        "uniformtext": {"mode": "hide", "minsize": 10},
        f"{seconds}axis": {"title": {"text": "seconds"}, "rangemode": "tozero"},
    }
    if lying:
        layout["yaxis"] = {"autorange": "reversed", "type": "category", "showgrid": False, "ticks": ""}
        layout["xaxis"]["range"] = [0, 1.002 * max(rank["wall_seconds"] for rank in ranks)]
    else:
        layout["xaxis"] = {"title": {"text": "rank"}, "showgrid": False}
    legend = [(label, colour, SQUARE) for label, colour, numbers in values if max(numbers) > 0]
    return figure(name, title, note, data, layout, 90 + 34 * len(ranks) if lying else 320, legend)


def _shade(colour: str, lighter: float) -> str:
    """A colour mixed with white: 0 the colour, 1 nearly white."""
    parts = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * 0.8 * lighter):02x}" for part in parts)


def timeline_of_ranks(ledger: dict[str, Any]) -> Figure | None:
    """Categories over time on the first ranks, one below another; None where no timeline was kept."""
    lines = [line for line in ledger["timelines"] if line["rows"]]
    if not lines:
        return None
    data: list[Any] = []
    layout: dict[str, Any] = {}
    each = 1 / len(lines)
    end = max(line["bin_seconds"] * len(row["seconds"]) for line in lines for row in line["rows"])
    present = {row["category"] for line in lines for row in line["rows"]}
    for number, line in enumerate(lines):
        width, bins = line["bin_seconds"], max(len(row["seconds"]) for row in line["rows"])
        axis = "" if number == 0 else str(number + 1)
        top = 1 - number * each
        layout[f"yaxis{axis}"] = {
            "domain": [max(0.0, top - 0.86 * each), top],
            "range": [0, 1],
            "title": {"text": f"rank {line['rank']}", "standoff": 4},
            "showticklabels": False,
            "ticks": "",
            "showgrid": False,
            "fixedrange": True,
        }
        for category in CATEGORIES:
            sums = [0.0] * bins
            for row in line["rows"]:
                if row["category"] == category:
                    for n, value in enumerate(row["seconds"]):
                        sums[n] += value
            if category not in present:
                continue
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [round(n * width, 6) for n in range(bins + 1)],
                    "y": [round(min(1.0, value / width), 4) for value in [*sums, sums[-1]]],
                    "yaxis": f"y{axis}",
                    "stackgroup": str(line["rank"]),
                    "line": {"width": 0, "shape": "hv"},
                    "fillcolor": COLOURS[category],
                    "name": category,
                    "hoverinfo": "skip",
                }
            )
    layout["xaxis"] = {"title": {"text": "seconds"}, "range": [0, end], "anchor": f"y{axis}", "showgrid": False}
    title = f"Timeline of {lines[0]['name']}, by category"
    caption = (
        "Each bin is filled by the shares of its time. Ranks beyond the eighth are not kept." if len(lines) == 8 else ""
    )
    legend = [(category, COLOURS[category], SQUARE) for category in CATEGORIES if category in present]
    return figure("timeline", title, caption, data, layout, 74 + 54 * len(lines), legend)


def timeline_of_phases(ledger: dict[str, Any]) -> Figure | None:
    """Phases of rank 0 over time, a lane for each longer one; None where no timeline was kept."""
    line = next((line for line in ledger["timelines"] if line["rank"] == 0 and line["rows"]), None)
    if line is None or line["rows"][0]["phase"] is None:
        return None
    width = line["bin_seconds"]
    lanes: dict[str, float] = {}
    for row in line["rows"]:
        lanes[row["phase"]] = lanes.get(row["phase"], 0.0) + sum(row["seconds"])
    whole = sum(lanes.values())
    longest = sorted(lanes, key=lambda name: -lanes[name])[:MOST_LANES]
    names = [name for name in lanes if name in longest and lanes[name] >= SHORTEST_LANE * whole]
    bins = max(len(row["seconds"]) for row in line["rows"])
    data = []
    for category in CATEGORIES:
        cells: list[list[float | None]] = [[None] * bins for _ in names]
        for row in line["rows"]:
            if row["category"] == category and row["phase"] in names:
                lane = cells[names.index(row["phase"])]
                for n, value in enumerate(row["seconds"]):
                    lane[n] = round(min(1.0, value / width), 3) if value > 0 else None
        if any(value is not None for lane in cells for value in lane):
            data.append(
                {
                    "type": "heatmap",
                    "x0": width / 2,
                    "dx": width,
                    "y": [plain(name) for name in names],
                    "z": cells,
                    "zmin": 0,
                    "zmax": 1,
                    "ygap": 3,
                    "showscale": False,
                    "colorscale": [[0, _faint(COLOURS[category], 0.12)], [1, _faint(COLOURS[category], 1.0)]],
                    "hoverongaps": False,
                    "hovertemplate": f"%{{y}}, {category}: %{{z:.0%}} of the time at %{{x:.3g}} s<extra></extra>",
                }
            )
    layout = {
        "xaxis": {"title": {"text": "seconds"}, "range": [0, bins * width], "showgrid": False},
        "yaxis": {"autorange": "reversed", "type": "category", "automargin": True, "showgrid": False, "ticks": ""},
    }
    caption = (
        "The darker, the larger the share of the time; colours as above. Phases of less than "
        f"{formatting.percent(SHORTEST_LANE)} are left out."
    )
    title = f"Timeline of {line['name']} on rank 0, by phase"
    return figure("lanes", title, caption, data, layout, 90 + 24 * len(names))


def _faint(colour: str, opacity: float) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:7], 16)},{opacity})"


def roofline(record: dict[str, Any]) -> Figure | None:
    """The roofline of the machine, and this run (Williams, Waterman & Patterson 2009).

    The bytes are the fewest that a step must move for a cell when it sweeps through the memory once; several steps a
    sweep may go past that limit. A roof without a peak of arithmetic, as that of a graphics card, is the memory's
    alone. None where roof or work is not known.
    """
    results, ledger = record["results"], record["ledger"]
    roof = results.get("yardstick", results)
    keys = ("triad_bytes_per_second", "multiply_add_flops_per_second", "bytes_per_point")
    triad, peak, each = (roof.get(key) for key in keys)
    counted = [entry for entry in ledger["phases"] if entry["total_flops"] > 0]
    points = sum(entry["total_points"] for entry in counted)
    spent = kernel_seconds(ledger) if kernel_phases(ledger) else 0.0
    if not (triad and each and points and spent):
        return None
    flops = sum(entry["total_flops"] for entry in counted) / points
    rate = results.get("points_per_second") or points / spent
    intensity = flops / each
    ridge = peak / triad if peak else intensity
    left, right = min(intensity, ridge) / 8, max(intensity, ridge) * 8
    top = peak or right * triad
    limit = min(intensity * triad, top)
    spots = (
        ("streaming limit", limit, "diamond-open", INK, limit / flops),
        ("this run", rate * flops, "circle", POINT, rate),
    )
    data: list[Any] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [left, ridge, right] if peak else [left, right],
            "y": [left * triad / 1e9, peak / 1e9, peak / 1e9] if peak else [left * triad / 1e9, top / 1e9],
            "line": {"color": INK, "width": 1.6},
            "hoverinfo": "skip",
        }
    ]
    for name, value, symbol, colour, _ in spots:
        data.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": [intensity],
                "y": [value / 1e9],
                "text": [f"  {name}  "],
                "textposition": "top left" if symbol == "diamond-open" else "bottom right",
                "cliponaxis": False,
                "marker": {"symbol": symbol, "size": 11, "color": colour, "line": {"width": 1.6, "color": colour}},
                "hovertemplate": f"{name}<br>%{{x:.3g}} flops a byte, %{{y:.4g}} Gflop/s<extra></extra>",
            }
        )
    lowest = min(left * triad, rate * flops, top) / 1e9
    layout = {
        "xaxis": {
            "type": "log",
            "dtick": 1,
            "title": {"text": "flops a byte"},
            "range": [math.log10(left), math.log10(right)],
        },
        "yaxis": {
            "type": "log",
            "dtick": 1,
            "title": {"text": "Gflop/s"},
            "range": [math.log10(lowest / 1.6), math.log10(2.2 * top / 1e9)],
        },
        "shapes": [
            {
                "type": "line",
                "x0": intensity,
                "x1": intensity,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": "#9aa0a6", "width": 1, "dash": "dot"},
            }
        ],
    }
    caption = (
        f"A step of a cell is {formatting.digits(flops)} flops and moves at least {each} bytes (dotted). The run "
        f"reaches {formatting.percent(rate * flops / limit)} of the streaming limit, that of one sweep through the "
        f"memory a step. {roof.get('source', '')}"
    )
    limits = f"roof: triad, {formatting.scaled(triad, 'B/s')}"
    limits += f"; multiply-adds, {formatting.scaled(peak, 'flop/s')}" if peak else ""
    signs = {"streaming limit": DIAMOND, "this run": DOT}
    legend = [(limits, INK, LINE)]
    legend += [
        (f"{name}: {formatting.quantity(cells, 'points_per_second')}", colour, signs[name])
        for name, _, _, colour, cells in spots
    ]
    machine = roof.get("device", "the machine")
    return figure("roofline", f"The kernel against {machine}", caption.strip(), data, layout, 380, legend)


def compared_phases(records: Sequence[dict[str, Any]], names: Sequence[str]) -> Figure:
    """Grouped bars: seconds of the base's longest phases in each run."""
    spent = [tables.phase_seconds(record["ledger"]) for record in records]
    phases = dict.fromkeys(name for seconds in spent for name in seconds)
    longest = sorted(phases, key=lambda name: -max(seconds.get(name, 0.0) for seconds in spent))[:MOST_GROUPS]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain(name),
            "x": [round(seconds.get(phase, 0.0), 6) for phase in longest],
            "y": [plain(phase) for phase in longest],
            "marker": {"color": RUNS[number % len(RUNS)]},
            "hovertemplate": f"{plain(name)}, %{{y}}: %{{x:.4g}} s<extra></extra>",
        }
        for number, (name, seconds) in enumerate(zip(names, spent, strict=True))
    ]
    layout = {
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": {"title": {"text": "seconds"}, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category", "automargin": True, "showgrid": False, "ticks": ""},
    }
    height = 80 + len(longest) * max(26, 12 * len(records) + 8)
    legend = [(name, RUNS[number % len(RUNS)], SQUARE) for number, name in enumerate(names)]
    note = "" if len(phases) <= MOST_GROUPS else f"The {MOST_GROUPS} longest phases."
    return figure("compared", "Seconds of each phase, slowest rank", note, data, layout, height, legend)


def places(panel: dict[str, Any]) -> Figure:
    """Groups of places on a plane: receivers as dots, sources as stars. numbered: y are numbers from 1."""
    data = []
    for group in panel["groups"]:
        source = group["name"] == "sources"
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain(group["name"]),
                "x": group["x"],
                "y": group["y"],
                "marker": {
                    "symbol": "star" if source else "circle",
                    "size": 11 if source else 4,
                    "color": SOURCE if source else RECEIVER,
                    "opacity": 1 if source else 0.65,
                    "line": {"width": 0.8 if source else 0, "color": "#ffffff"},
                },
                "hovertemplate": "%{x:.6~g}, %{y:.6~g}<extra></extra>",
            }
        )
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": plain(panel["labels"][0])}, "zeroline": False},
        "yaxis": {"title": {"text": plain(panel["labels"][1])}, "zeroline": False},
    }
    if panel.get("numbered"):
        most = max(max(group["y"]) for group in panel["groups"])
        layout["yaxis"] |= {"tick0": 1, "dtick": max(1, round(most / 8))}
    if panel["equal"]:
        layout["yaxis"] |= {"scaleanchor": "x", "scaleratio": 1, "constrain": "domain"}
        layout["xaxis"] |= {"constrain": "domain"}
    if panel.get("outline"):
        (x0, x1), (y0, y1) = panel["outline"]
        line = {"color": INK, "width": 1}
        layout["shapes"] = [{"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line, "layer": "below"}]
        # A shape alone does not widen an axis.
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [x0, x1],
                "y": [y0, y1],
                "marker": {"opacity": 0},
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    legend = [
        (group["name"], *((SOURCE, STAR) if group["name"] == "sources" else (RECEIVER, DOT)))
        for group in panel["groups"]
    ]
    shown = figure("map", panel["title"], panel["caption"], data, layout, 420, legend)
    if panel["equal"]:
        extents = [max(max(part[axis]) for part in data) - min(min(part[axis]) for part in data) for axis in ("x", "y")]
        shown["aspect"] = extents[1] / extents[0] if all(extents) else 1.0
    return shown


def bars(panel: dict[str, Any]) -> Figure:
    """Lying bars with intervals, the first on top, and a line that they are compared with. panel: name, title, caption,
    label of the axis, in 10⁹ of the values' unit; bars, each with name, value, low, high, pale; mark: name, value.
    low, high: None of a bar without an interval."""
    keys = ("value", "low", "high")
    shown = [bar | {key: bar[key] / 1e9 for key in keys if bar[key] is not None} for bar in panel["bars"]]
    with_ends = [bar for bar in shown if bar["low"] is not None]
    mark = panel["mark"] | {"value": panel["mark"]["value"] / 1e9}
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [bar["value"] for bar in shown],
            "y": [plain(bar["name"]) for bar in shown],
            "width": 0.7,
            "marker": {"color": [COLOURS["idle" if bar["pale"] else "io"] for bar in shown]},
            "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": [bar["value"] for bar in with_ends],
            "y": [plain(bar["name"]) for bar in with_ends],
            "marker": {"opacity": 0},
            "hoverinfo": "skip",
            "showlegend": False,
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [bar["high"] - bar["value"] for bar in with_ends],
                "arrayminus": [bar["value"] - bar["low"] for bar in with_ends],
                "color": INK,
                "thickness": 1.2,
                "width": 4,
            },
        },
    ]
    line = {"color": POINT, "width": 1.6, "dash": "dot"}
    most = max(mark["value"], *(bar["value"] for bar in shown), *(bar["high"] for bar in with_ends))
    layout = {
        "xaxis": {"title": {"text": plain(panel["label"])}, "range": [0, 1.05 * most]},
        "yaxis": {"autorange": "reversed", "type": "category", "automargin": True, "showgrid": False, "ticks": ""},
        "shapes": [
            {"type": "line", "x0": mark["value"], "x1": mark["value"], "y0": 0, "y1": 1, "yref": "paper", "line": line}
        ],
    }
    legend = [(str(mark["name"]), POINT, LINE)]
    return figure(panel["name"], panel["title"], panel["caption"], data, layout, 90 + 26 * len(shown), legend)


def gather(panel: dict[str, Any]) -> Figure:
    """Traces, time down, as variable density, or as wiggles where the panel says so.

    x of the panel: of the traces, or one more: their edges. May be left out: scale, texts low, high and label of the
    greys; wiggles, False; vertical, label of the times; smooth, True."""
    rows, columns = panel["shape"]
    start, step = panel["time"]
    lines = panel.get("wiggles", False)
    # Decoded by page.js: into rows, or into lines.
    traces = {"x": panel["x"], "y0": start, "dy": step, "codes": {"shape": [rows, columns], "bytes": panel["codes"]}}
    if lines:
        data = [{"type": "wiggles"} | traces]
    else:
        smooth = "fast" if panel.get("smooth", True) and columns > 1 and rows > 1 else False
        data = [traces | GREYS | {"zsmooth": smooth}]
    layout = {
        "xaxis": {"title": {"text": plain(panel["label"])}, "showgrid": False, "zeroline": False},
        "yaxis": {
            "title": {"text": plain(panel.get("vertical", "time (s)"))},
            "range": [start + (rows - 0.5) * step, start - step / 2],
            "showgrid": lines,
            "zeroline": False,
        },
    }
    name = panel.get("name", "gather")
    shown = figure(name, panel["title"], panel["caption"], data, layout, 420)
    return shown | {"scale": None if lines else panel.get("scale")}


def sections(panel: dict[str, Any]) -> Figure:
    """Sections side by side over the same times, time down, each under its name."""
    rows, columns = panel["shape"]
    (start, step), (x, dx) = panel["time"], panel["x"]
    data, annotations = [], []
    count = len(panel["sections"])
    each = (1 - SECTION_GAP * (count - 1)) / count
    layout: dict[str, Any] = {
        "yaxis": {
            "title": {"text": plain(panel["labels"][1])},
            "range": [start + (rows - 0.5) * step, start - step / 2],
            "showgrid": False,
            "zeroline": False,
        }
    }
    for number, section in enumerate(panel["sections"]):
        axis = "" if number == 0 else str(number + 1)
        left = number * (each + SECTION_GAP)
        data.append(
            {
                "xaxis": f"x{axis}",
                "x0": x,
                "dx": dx,
                "y0": start,
                "dy": step,
                "codes": {"shape": [rows, columns], "bytes": section["codes"]},
                "zsmooth": "fast" if columns > 1 and rows > 1 else False,
            }
            | GREYS
        )
        layout[f"xaxis{axis}"] = {
            "domain": [left, min(1.0, left + each)],
            "anchor": "y",
            "title": {"text": plain(panel["labels"][0])},
            "nticks": 4,
            "showgrid": False,
            "zeroline": False,
        }
        place = {"x": left, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        annotations.append({"text": plain(section["name"]), "showarrow": False, "yshift": 2, **place})
    layout |= {"annotations": annotations, "margin": {"l": 64, "r": 18, "t": 26, "b": 48}}
    shown = figure(panel["name"], panel["title"], panel["caption"], data, layout, 440)
    return shown | {"scale": panel.get("scale")}
